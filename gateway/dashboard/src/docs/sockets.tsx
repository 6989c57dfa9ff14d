import { useEffect, useState } from 'preact/hooks';
import { Failure, Panel, Skeleton, Table } from '../ui.js';
import { type AsyncApi, type Channel, type Message, resolved, type Schema, typeOf } from './asyncapi.js';
import { Console } from './console.js';

/** Both WebSockets, from the service's own AsyncAPI document. */
export function Sockets({ apiKey }: { readonly apiKey: string }) {
  const [document, setDocument] = useState<AsyncApi>();
  const [error, setError] = useState<Error>();
  useEffect(() => {
    fetch('/asyncapi.json')
      .then((response) => response.json())
      .then(setDocument, () => setError(new Error('the schema cannot be loaded: check that the service is running')));
  }, []);
  if (error) return <Failure error={error} />;
  if (!document) return <Skeleton rows={6} />;
  return (
    <div class="sockets">
      {Object.entries(document.channels).map(([name, channel]) => (
        <Socket key={name} {...{ name, channel, document, apiKey }} />
      ))}
    </div>
  );
}

interface SocketProps {
  readonly name: string;
  readonly channel: Channel;
  readonly document: AsyncApi;
  readonly apiKey: string;
}

function Socket({ name, channel, document, apiKey }: SocketProps) {
  const { query } = channel.bindings.ws;
  const operations = Object.values(document.operations).filter(
    ({ channel: { $ref } }) => $ref === `#/channels/${name}`,
  );
  return (
    <Panel title={<code>{channel.address}</code>} note={channel.title}>
      <div class="stack">
        {channel.description && <p>{channel.description}</p>}
        <h3>Query parameters</h3>
        <Fields label={`Query parameters of ${channel.address}`} schema={query} document={document} />
        {operations.map(({ action, summary, messages }) => (
          <div class="stack" key={summary}>
            <h3>{action === 'receive' ? 'You send' : 'You receive'}</h3>
            <p class="mute">{summary}</p>
            {messages.map((reference) => (
              <MessageView key={reference.$ref} message={resolved<Message>(document, reference)} document={document} />
            ))}
          </div>
        ))}
        <h3>Try it</h3>
        <Console
          address={channel.address}
          query={query}
          sends={operations.some(({ action }) => action === 'receive')}
          apiKey={apiKey}
        />
      </div>
    </Panel>
  );
}

function MessageView({ message, document }: { readonly message: Message; readonly document: AsyncApi }) {
  const { title, description, payload } = message;
  const [example] = payload.examples ?? [];
  return (
    <details>
      <summary>{title}</summary>
      <div class="stack">
        {description && <p>{description}</p>}
        {payload.properties && <Fields label={title} schema={payload} document={document} />}
        {example !== undefined && (
          <pre>
            <code>{JSON.stringify(example)}</code>
          </pre>
        )}
      </div>
    </details>
  );
}

interface FieldsProps {
  readonly label: string;
  readonly schema: Schema;
  readonly document: AsyncApi;
}

function Fields({ label, schema, document }: FieldsProps) {
  const rows = Object.entries(schema.properties ?? {}).map(([name, part]) => ({
    name,
    field: resolved<Schema>(document, part),
    isOptional: !schema.required?.includes(name),
  }));
  return (
    <Table
      label={label}
      rows={rows}
      id={({ name }) => name}
      columns={[
        { name: 'Field', cell: ({ name }) => <code>{name}</code> },
        { name: 'Type', kind: 'why', cell: ({ field }) => typeOf(document, field) },
        {
          name: 'Meaning',
          kind: 'why',
          cell: ({ field, isOptional }) => (
            <>
              {field.description} {isOptional && <span class="mute">Optional.</span>}
            </>
          ),
        },
      ]}
    />
  );
}
