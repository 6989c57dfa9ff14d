import { z } from 'zod';
import { FROM_DEVICE, TO_DEVICE } from './ingest.js';
import { liveInsight } from './insight.js';
import { API_KEY, DEVICE_ID } from './parameters.js';

type Json = Record<string, unknown>;

const SUBSCRIBED = z
  .object({ status: z.literal('subscribed') })
  .meta({ title: 'The subscription is active; every insight published from now on will be sent' });

const FRAME = {
  title: 'Binary data frame',
  contentType: 'application/octet-stream',
  description:
    'Little endian: u8 version (1), u8 channel index, u8 encoding (1 int16, 2 int24, 3 int32, 4 float32), u8 reserved (0), u32 seq, f64 ts (NaN where the device has no clock), then interleaved samples to the end of the frame; a float32 NaN is a missing value. At most max_frame_bytes of the ready message.',
  payload: { type: 'string', format: 'binary' },
};

const INGEST = {
  address: '/stream/ingest',
  title: 'Samples of one device',
  description:
    'After 25 s without a frame from the device the service sends it a WebSocket ping; 30 s without an answer end the connection.',
  bindings: {
    ws: {
      method: 'GET',
      query: {
        type: 'object',
        required: ['device_id', 'device_model_id'],
        properties: {
          device_id: {
            type: 'string',
            pattern: DEVICE_ID.source,
            description: "The device's own identifier.",
          },
          device_model_id: { type: 'string', format: 'uuid', description: "A device model of the key's account." },
          api_key: {
            type: 'string',
            pattern: API_KEY.source,
            description: 'Required unless the Authorization header carries the key.',
          },
          clock: {
            type: 'number',
            description: "The device's own time at the moment of connecting, ms since the epoch.",
          },
        },
      },
      headers: {
        type: 'object',
        properties: { Authorization: { type: 'string', pattern: API_KEY.source.replace('^', '^[Bb]earer +') } },
      },
    },
  },
};

const SUBSCRIBE = {
  address: '/stream/subscribe',
  title: 'Live insights of an account',
  description:
    'The first message says that the subscription is active; all others are insights. There is no replay: after a reconnect, read what was missed with `GET /v1/sessions/{id}/insights`, session by session, because what a gateway stored while it could not publish lies before the newest insights of others. The service sends no ping and closes no idle socket: send a WebSocket ping every 25 s, and reconnect if no pong comes. Messages from the client are read and ignored, within limits: 4 KiB each (otherwise close code 1009), 16 fragments each (1008), 10 s from the first to the last fragment (1013), and 100 frames of any kind within a second (4000). A client that reads too slowly is closed with 1013 (the more subscribers an account has, the earlier), and one that may have missed insights with 1012. INGEST.md, section 6, says after which close codes to reconnect.',
  bindings: {
    ws: {
      method: 'GET',
      query: {
        type: 'object',
        required: ['api_key'],
        properties: {
          api_key: {
            type: 'string',
            pattern: API_KEY.source,
            description:
              'Determines the account whose insights are received; a per-user key also restricts them to its user. The key needs the permission `read`.',
          },
        },
      },
    },
  },
};

/** The operations of each channel, from the service's side, with their messages. */
const OPERATIONS = {
  receiveSamples: {
    action: 'receive',
    channel: 'ingest',
    summary: 'A device sends samples in binary or text frames, ends its session, or sends a ping.',
    messages: { frame: FRAME, ...described(FROM_DEVICE) },
  },
  answerDevice: {
    action: 'send',
    channel: 'ingest',
    summary:
      'The service announces the session, acknowledges data, refuses single messages, gives notice of doubtful data, and confirms the end.',
    messages: described(TO_DEVICE),
  },
  sendInsights: {
    action: 'send',
    channel: 'subscribe',
    summary: 'The service sends every insight of the account to every subscriber.',
    messages: described({ subscribed: SUBSCRIBED, insight: liveInsight }),
  },
};

/** The JSON schemas of text messages by name, with their titles. */
export function described(messages: Readonly<Record<string, z.ZodType>>): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(messages).map(([name, schema]) => {
      const { $schema, title, ...payload } = z.toJSONSchema(schema, {
        io: 'input',
        override: ({ jsonSchema }) => {
          if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
          if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
          if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
          delete jsonSchema.propertyNames;
          delete jsonSchema.readOnly;
        },
      });
      return [name, { title, payload }];
    }),
  );
}

/** The AsyncAPI document of both sockets. */
export function asyncapi(): Json {
  const operations = Object.entries(OPERATIONS);
  const messagesOf = (channel: string) =>
    operations.flatMap(([, operation]) => (operation.channel === channel ? Object.keys(operation.messages) : []));
  const referenced = (channel: string) =>
    Object.fromEntries(messagesOf(channel).map((name) => [name, { $ref: `#/components/messages/${name}` }]));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Device Insights Service, WebSockets',
      version: '1.0.0',
      description:
        "Devices send samples to `/stream/ingest`; apps receive the insights of their account from `/stream/subscribe`. INGEST.md explains the messages, the binary frame, the close codes and the rules of time, order and sessions. Operations are described from the service's side.",
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: {
      local: {
        host: 'localhost:8080',
        protocol: 'ws',
        description: 'The service as started with `npm start`.',
      },
    },
    channels: {
      ingest: { ...INGEST, messages: referenced('ingest') },
      subscribe: { ...SUBSCRIBE, messages: referenced('subscribe') },
    },
    operations: Object.fromEntries(
      operations.map(([name, { channel, messages, ...operation }]) => [
        name,
        {
          ...operation,
          channel: { $ref: `#/channels/${channel}` },
          messages: Object.keys(messages).map((each) => ({ $ref: `#/channels/${channel}/messages/${each}` })),
        },
      ]),
    ),
    components: { messages: Object.assign({}, ...operations.map(([, { messages }]) => messages)) },
  };
}
