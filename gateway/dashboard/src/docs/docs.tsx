import { useState } from 'preact/hooks';
import { Button, TextField } from '../ui.js';
import { Rest } from './rest.js';
import { Sockets } from './sockets.js';

const PARTS = [
  ['rest', 'REST'],
  ['sockets', 'WebSockets'],
] as const;
type Part = (typeof PARTS)[number][0];

/** The reference of both interfaces, which can be tried against this service. The key stays in this page's memory. */
export function Docs() {
  const [part, setPart] = useState<Part>(location.hash === '#sockets' ? 'sockets' : 'rest');
  const [key, setKey] = useState('');
  const choose = (name: Part) => {
    history.replaceState(null, '', `#${name}`);
    setPart(name);
  };
  return (
    <main class="docs">
      <header class="page-head">
        <div>
          <h1>API reference</h1>
          <p class="lead">
            Requests go to this service, with the key below. The page forgets the key when you close it. Keys are issued
            in the <a href="/dashboard">dashboard</a>. Schemas: <a href="/docs/openapi.json">OpenAPI</a>,{' '}
            <a href="/asyncapi.json">AsyncAPI</a>.
          </p>
        </div>
      </header>
      <div class="docs-bar">
        <TextField
          label="API key"
          value={key}
          set={(text) => setKey(text.trim())}
          placeholder="svc_…"
          autocomplete="off"
          spellcheck={false}
        />
        <fieldset class="parts">
          <legend class="unseen">Interface</legend>
          {PARTS.map(([name, title]) => (
            <Button key={name} aria-pressed={part === name} onClick={() => choose(name)}>
              {title}
            </Button>
          ))}
        </fieldset>
      </div>
      <div hidden={part !== 'rest'}>
        <Rest apiKey={key} />
      </div>
      {part === 'sockets' && <Sockets apiKey={key} />}
    </main>
  );
}
