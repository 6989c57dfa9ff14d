import { useEffect, useRef, useState } from 'preact/hooks';
import { clock } from '../format.js';
import { Button, Field, TextField } from '../ui.js';
import type { Schema } from './asyncapi.js';

/** Number of messages shown; older ones are removed. */
const SHOWN = 50;

interface Props {
  readonly address: string;
  readonly query: Schema;
  /** Whether the service reads messages on this socket. */
  readonly sends: boolean;
  readonly apiKey: string;
}

interface Entry {
  readonly n: number;
  readonly at: number;
  readonly from: 'you' | 'service' | 'socket';
  readonly text: string;
}

/** Lets a person connect to one of the service's sockets. */
export function Console({ address, query, sends, apiKey }: Props) {
  const names = Object.keys(query.properties ?? {}).filter((name) => name !== 'api_key');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [text, setText] = useState('{"type":"ping","t":1}');
  const [entries, setEntries] = useState<readonly Entry[]>([]);
  const [isOpen, setOpen] = useState(false);
  const socket = useRef<WebSocket | null>(null);
  const count = useRef(0);
  useEffect(() => () => socket.current?.close(), []);

  const say = (from: Entry['from'], said: string) => {
    const entry = { n: count.current++, at: Date.now(), from, text: said };
    setEntries((before) => [...before.slice(1 - SHOWN), entry]);
  };
  const connect = () => {
    const set = Object.entries({ ...values, api_key: apiKey }).filter(([, value]) => value !== '');
    const made = new WebSocket(`${location.origin.replace(/^http/, 'ws')}${address}?${new URLSearchParams(set)}`);
    made.onopen = () => setOpen(true);
    made.onmessage = ({ data }) => say('service', typeof data === 'string' ? data : 'a binary message');
    made.onclose = ({ code, reason }) => {
      setOpen(false);
      say('socket', `closed with ${code}${reason && `: ${reason}`}`);
    };
    socket.current = made;
  };
  const send = () => {
    socket.current?.send(text);
    say('you', text);
  };
  return (
    <div class="stack">
      {names.length > 0 && (
        <div class="filters">
          {names.map((name) => (
            <TextField
              key={name}
              label={name}
              value={values[name] ?? ''}
              set={(value) => setValues({ ...values, [name]: value.trim() })}
            />
          ))}
        </div>
      )}
      <div class="actions">
        {isOpen ? (
          <Button onClick={() => socket.current?.close()}>Disconnect</Button>
        ) : (
          <Button class="primary" onClick={connect} disabled={apiKey === ''}>
            Connect
          </Button>
        )}
        {apiKey === '' && <span class="hint">Enter an API key above first.</span>}
      </div>
      {sends && (
        <div class="send">
          <Field label="Message">
            {(as) => <textarea {...as} rows={2} value={text} onInput={(event) => setText(event.currentTarget.value)} />}
          </Field>
          <Button onClick={send} disabled={!isOpen}>
            Send
          </Button>
        </div>
      )}
      {entries.length > 0 && (
        <ol class="log" aria-label={`Messages of ${address}`}>
          {entries.map(({ n, at, from, text: said }) => (
            <li key={n} class={from}>
              <span class="mute">
                {clock(at)} {from}
              </span>{' '}
              <code>{said}</code>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
