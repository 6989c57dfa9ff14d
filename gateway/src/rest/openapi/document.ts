import { fileURLToPath } from 'node:url';
import { VERSION } from '@device-insights/fanout/process/version';
import swaggerJsdoc from 'swagger-jsdoc';
import { components, headersNamed } from './components.js';

const GATEWAY = new URL('../../../', import.meta.url);

/** The folders of the handlers, in the order in which their operations are documented. */
const RESOURCES = ['device-models', 'modalities', 'sessions', 'insights', 'algorithms', 'health', 'openapi'];

const DEFINITION = {
  openapi: '3.1.0',
  info: {
    title: 'Device Insights Service',
    version: VERSION,
    description:
      'Manages device models and their modality channels, lists sessions, and returns the stored insights and the ' +
      'algorithms of an account. Sensor data and live insights go over WebSocket.\n\n' +
      'The body of every error is a JSON object with `detail`. Beside the errors listed with each operation, any path ' +
      'may answer 405 (it does not accept the method; `Allow` lists those that it accepts), and any request may be ' +
      'answered, and its connection closed, with 400 (it is not valid HTTP/1.1), 408 (it takes longer than 30 s to ' +
      'arrive, or its headers longer than 10 s), 417 (its `Expect` is not `100-continue`) or 431 (its headers are ' +
      'longer than 16 KiB).',
    contact: {
      name: 'Device Insights Service',
      url: 'https://device-insights.example/issues',
    },
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  security: [{ apiKey: [] }],
  tags: [
    { name: 'deviceModels', description: 'Kinds of devices.' },
    { name: 'modalities', description: 'Modality channels of a device model.' },
    { name: 'sessions', description: 'Sessions of streaming devices, and their insights.' },
    { name: 'insights', description: 'Insights across sessions.' },
    { name: 'algos', description: 'Algorithms that the account is entitled to run.' },
    { name: 'health', description: 'Health of the ingest and subscribe sockets.' },
    { name: 'schema', description: 'This document.' },
  ],
};

/** Builds the OpenAPI document: operations out of the `@openapi` blocks above the handlers, components out of zod. */
function openapiDocument(): Record<string, unknown> {
  const parts = components();
  const document = swaggerJsdoc({
    definition: { ...DEFINITION, components: parts },
    apis: RESOURCES.map((name) => fileURLToPath(new URL(`src/rest/${name}/routes.ts`, GATEWAY))),
    failOnErrors: true,
  }) as Record<string, unknown>;
  addExamples(document.paths, parts.schemas as Record<string, Schema>);
  addRequestId(document.paths as Paths);
  return document;
}

type Response = { readonly $ref?: string; headers?: Record<string, unknown> };
type Paths = Record<string, Record<string, { readonly responses: Record<string, Response> }>>;

/** Gives every answer of an operation the header that all answers have. */
function addRequestId(paths: Paths): void {
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  for (const response of operations.flatMap(({ responses }) => Object.values(responses)))
    if (!response.$ref) response.headers = { ...headersNamed('X-Request-Id'), ...response.headers };
}

type Schema = { readonly examples?: readonly unknown[] };

/** Gives every body whose schema is a component, or a list of one, the component's first example. */
function addExamples(part: unknown, schemas: Readonly<Record<string, Schema>>): void {
  if (typeof part !== 'object' || part === null) return;
  for (const [key, value] of Object.entries(part) as [string, { schema?: Reference; example?: unknown }][]) {
    if (key !== 'application/json') addExamples(value, schemas);
    else {
      const { $ref, items } = value.schema ?? {};
      const [example] = schemas[($ref ?? items?.$ref ?? '').split('/').pop() ?? '']?.examples ?? [];
      if (example !== undefined) value.example = items ? [example] : example;
    }
  }
}

interface Reference {
  readonly $ref?: string;
  readonly items?: Reference;
}

/** The text of the committed file. */
export function openapiText(): string {
  return `${JSON.stringify(openapiDocument(), null, 2)}\n`;
}
