import { insight } from '@device-insights/contract/insight';
import { z } from 'zod';
import { algorithm } from '../algorithms/schema.js';
import { deviceModel, deviceModelChange, newDeviceModel, spo2Calibration } from '../device-models/schema.js';
import { fhirBundle } from '../fhir.js';
import { object } from '../fields.js';
import { health } from '../health/schema.js';
import { idempotencyKey } from '../idempotency.js';
import { channel, channelChange, channelEntry, newChannel } from '../modalities/schema.js';
import { beat, session, summary } from '../sessions/schema.js';
import { upload } from '../uploads/schema.js';
import { type Operation, type Operations, successOf } from './operation.js';

type Json = Record<string, unknown>;

const error = object({ detail: z.string().meta({ description: 'The fault, and how to correct it.' }) }).meta({
  description: 'An error.',
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
  Summary: summary,
  Upload: upload,
  Insight: insight,
  Beat: beat,
  FhirBundle: fhirBundle,
  Algorithm: algorithm,
  Health: health,
  Error: error,
};

/** Response headers, by name. */
const HEADERS = {
  Link: 'Another page (RFC 8288), if there is one: a relative reference with a cursor.',
  'X-Request-Id':
    'Identifies the request, also in the log. It is the X-Request-Id that the client sent, if that is 1 to 128 of the characters A-Z a-z 0-9 . _ : - and holds no API key.',
  'WWW-Authenticate': 'The scheme of the missing credentials: Bearer.',
  'Retry-After': 'Time after which to try again, in seconds; absent if trying again does not help.',
};

/** Error responses, by the name that the operations use. */
const REFUSALS = {
  Malformed: 'The request is not valid HTTP.',
  ValidationFailed: 'Validation failed: detail names each field and what it must be.',
  Unauthenticated: 'The API key is missing, unknown, revoked or expired.',
  Forbidden: 'The API key is valid, but does not give access to this resource.',
  NotFound: 'There is no such resource.',
  Conflict:
    'Conflict with existing data: devices reference the device model, the account has the maximum number of device models or devices, the device has an open session, or the Idempotency-Key was used with a different body, or its first request is still running (then with Retry-After).',
  TooLarge: 'The body is too long.',
  ServerError: 'The request failed inside the service: try again with backoff.',
  Unavailable: 'The service cannot take devices now, or a session limit is reached: try again.',
};

const REFUSAL_HEADERS: Readonly<Record<string, readonly (keyof typeof HEADERS)[]>> = {
  Unauthenticated: ['WWW-Authenticate'],
  Conflict: ['Retry-After'],
  Unavailable: ['Retry-After'],
};

/**
 * Schemas describe the data as sent, before conversions. For these, zod leaves out examples and defaults, although ours
 * are in the form that is sent. If a format is given, zod's long pattern is left out.
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

/** The components of the OpenAPI document, built from the schemas that also validate. */
export function components(): Json {
  return {
    schemas: schemas(),
    headers: Object.fromEntries(Object.entries(HEADERS).map(([name, text]) => [name, header(text)])),
    responses: Object.fromEntries(Object.entries(REFUSALS).map(([name, text]) => [name, refusal(name, text)])),
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description:
          'An API key, which begins with `svc_`. GET needs its permission `read`, an upload `stream`, every other call `manage`; without it the answer is 403.',
      },
    },
  };
}

function schemas(): Json {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(SCHEMAS)) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, { ...AS_SENT, uri: (id) => `#/components/schemas/${id}` }).schemas;
  return Object.fromEntries(Object.entries(made).map(([id, { $schema, $id, ...schema }]) => [id, schema]));
}

/** The parameters in paths, by name. */
const IN_PATH: Readonly<Record<string, string>> = {
  id: 'The id of the resource.',
  dm_id: 'The id of a device model.',
  ch_id: 'The ch_id of a modality channel.',
};

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes the request safe to repeat: for 24 h, the same body gets the first response again. Of an account, the newest 10,000 keys are remembered.',
  schema: jsonSchema(idempotencyKey),
};

function pathParameter(name: string): Json {
  return { name, in: 'path', required: true, description: IN_PATH[name], schema: { type: 'string', format: 'uuid' } };
}

function queryParameter([name, field]: [string, z.core.$ZodType]): Json {
  const { description, ...schema } = jsonSchema(field as z.ZodType);
  const required = !(field as z.ZodType).safeParse(undefined).success;
  return { name, in: 'query', ...(required && { required }), description, schema };
}

function jsonSchema(schema: z.ZodType): Json {
  const { $schema, ...rest } = z.toJSONSchema(schema, AS_SENT);
  return rest;
}

function refusal(name: string, description: string): Json {
  const headers = headersNamed('X-Request-Id', ...(REFUSAL_HEADERS[name] ?? []));
  return { description, headers, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } };
}

/** References to response headers. */
function headersNamed(...names: readonly (keyof typeof HEADERS)[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function header(description: string): Json {
  return { description, schema: { type: 'string' } };
}

/** The paths of the OpenAPI document. */
export function paths(operations: Operations): Json {
  const made: Record<string, Json> = {};
  for (const [route, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = route.split(' ');
    made[path] = { ...made[path], [method.toLowerCase()]: described(method, path, operation) };
  }
  return made;
}

function described(method: string, path: string, operation: Operation): Json {
  const { operationId, tag, summary, description, isOpen, isIdempotent, isUpload, query, body, answer } = operation;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const parameters = [
    ...inPath.map(pathParameter),
    ...(isIdempotent ? [IDEMPOTENCY_KEY] : []),
    ...Object.entries(query?.shape ?? {}).map(queryParameter),
  ];
  const refusals: [status: number, name: keyof typeof REFUSALS, isPossible: unknown][] = [
    [400, isOpen ? 'Malformed' : 'ValidationFailed', isOpen || query || body],
    [401, 'Unauthenticated', !isOpen],
    [403, 'Forbidden', inPath.length > 0 || isUpload],
    [404, 'NotFound', inPath.length > 0 || isUpload],
    [409, 'Conflict', isIdempotent || operation.mayConflict],
    [413, 'TooLarge', isUpload],
    [500, 'ServerError', !isOpen],
    [503, 'Unavailable', isUpload],
  ];
  const content = answer.schema ?? answer.list;
  const success = {
    description: answer.description,
    headers: headersNamed('X-Request-Id', ...(query && !isUpload ? (['Link'] as const) : [])),
    ...(content && {
      content: {
        ...json(content, content === answer.list),
        ...(answer.csv && { 'text/csv': { schema: { type: 'string' } } }),
        ...(answer.fhir && { 'application/fhir+json': { schema: { $ref: '#/components/schemas/FhirBundle' } } }),
      },
    }),
  };
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    ...(isOpen && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: json(body, false) } }),
    ...(isUpload && { requestBody: { required: true, content: BINARY } }),
    responses: {
      [successOf(method)]: success,
      ...Object.fromEntries(
        refusals.flatMap(([status, name, isPossible]) =>
          isPossible ? [[status, { $ref: `#/components/responses/${name}` }]] : [],
        ),
      ),
    },
  };
}

const BINARY = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };

/** A body, with the first example of its schema. */
function json(content: z.ZodType, isList: boolean): Json {
  const [id] = Object.entries(SCHEMAS).find(([, each]) => each === content) ?? [];
  const schema = id ? { $ref: `#/components/schemas/${id}` } : jsonSchema(content);
  const [example] = (z.globalRegistry.get(content)?.examples ?? []) as readonly unknown[];
  const body = isList
    ? { schema: { type: 'array', items: schema }, ...(example !== undefined && { example: [example] }) }
    : { schema, ...(example !== undefined && { example }) };
  return { 'application/json': body };
}
