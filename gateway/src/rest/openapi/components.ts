import { z } from 'zod';
import { algorithm } from '../algorithms.js';
import { deviceModel, deviceModelChange, newDeviceModel, spo2Calibration } from '../device-model.js';
import { object } from '../fields.js';
import { health } from '../health.js';
import { idempotencyKey } from '../idempotency.js';
import { insight, insightQuery } from '../insight.js';
import { channel, channelChange, channelEntry, newChannel } from '../modality.js';
import { session, sessionQuery } from '../session.js';

type Json = Record<string, unknown>;

const error = object({ detail: z.string().meta({ description: 'What is wrong, and what to do.' }) }).meta({
  description: 'A refusal or failure.',
  examples: [{ detail: 'name: must be a string of 1 to 200 characters' }],
});

const SCHEMAS = {
  DeviceModel: deviceModel,
  NewDeviceModel: newDeviceModel,
  DeviceModelChange: deviceModelChange,
  ModalityChannel: channel,
  NewModalityChannel: newChannel,
  ModalityChannelChange: channelChange,
  ModalityChannelEntry: channelEntry,
  Spo2Calibration: spo2Calibration,
  Session: session,
  Insight: insight,
  Algorithm: algorithm,
  Health: health,
  Error: error,
};

/** Refusals, by the name that the operations use. */
const REFUSALS = {
  ValidationFailed: 'Validation failed: detail names each field and what it must be.',
  Unauthenticated: 'The API key is missing, unknown or revoked.',
  Forbidden: 'The API key is good, but not for this resource.',
  NotFound: 'There is no such resource.',
  Conflict:
    'In conflict with what is there: a device model that devices reference, or an Idempotency-Key of another body.',
  ServerError: 'The service failed: try again with backoff.',
};

/**
 * Schemas describe what is sent, before conversions; zod leaves examples and defaults out there, though ours are as sent.
 * Where a format says it, zod's long pattern is left out.
 */
const AS_SENT: z.core.ToJSONSchemaParams = {
  io: 'input',
  override: ({ zodSchema, jsonSchema }) => {
    const meta = z.globalRegistry.get(zodSchema);
    if (Array.isArray(meta?.examples)) jsonSchema.examples = meta.examples;
    if (typeof meta?.default === 'number') jsonSchema.default = meta.default;
    if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  },
};

/** The components of the OpenAPI document, out of the schemas that also do the validation. */
export function components(): Json {
  return {
    schemas: schemas(),
    parameters: parameters(),
    headers: { Link: header('A further page (RFC 8288), where there is one: a relative reference with a cursor.') },
    responses: Object.fromEntries(Object.entries(REFUSALS).map(([name, text]) => [name, refusal(text)])),
    securitySchemes: {
      apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, which begins with `svc_`.' },
    },
  };
}

function schemas(): Json {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(SCHEMAS)) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, { ...AS_SENT, uri: (id) => `#/components/schemas/${id}` }).schemas;
  return Object.fromEntries(Object.entries(made).map(([id, { $schema, $id, ...schema }]) => [id, schema]));
}

function parameters(): Json {
  return {
    Id: pathParameter('id', 'The id of the resource.'),
    DeviceModelId: pathParameter('dm_id', 'The id of a device model.'),
    ChannelId: pathParameter('ch_id', 'The ch_id of a modality channel.'),
    ...queryParameters('Sessions', sessionQuery),
    ...queryParameters('Insights', insightQuery),
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      description: 'Makes the call safe to repeat: for 24 h the same body gets the first response again.',
      schema: jsonSchema(idempotencyKey),
    },
  };
}

function pathParameter(name: string, description: string): Json {
  return { name, in: 'path', required: true, description, schema: { type: 'string', format: 'uuid' } };
}

function queryParameters(prefix: string, query: z.ZodObject): Json {
  const made = Object.entries(query.shape).map(([name, field]) => {
    const { description, ...schema } = jsonSchema(field as z.ZodType);
    return [`${prefix}${name[0]?.toUpperCase()}${name.slice(1)}`, { name, in: 'query', description, schema }];
  });
  return Object.fromEntries(made);
}

function jsonSchema(schema: z.ZodType): Json {
  const { $schema, ...rest } = z.toJSONSchema(schema, AS_SENT);
  return rest;
}

function refusal(description: string): Json {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  return { description, headers: { 'X-Request-Id': header('Names the request, also in the log.') }, content };
}

function header(description: string): Json {
  return { description, schema: { type: 'string' } };
}
