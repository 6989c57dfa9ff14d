import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import swaggerJsdoc from 'swagger-jsdoc';
import { components } from './components.js';

const GATEWAY = new URL('../../../', import.meta.url);

/** The files of the handlers, in the order in which a reader wants their operations. */
const RESOURCES = ['device-models', 'modalities', 'sessions', 'insights', 'algorithms', 'health', 'openapi/openapi'];

const DEFINITION = {
  openapi: '3.1.0',
  info: {
    title: 'Device Insights Service',
    version: version(),
    description:
      'Manages device models and their modality channels, lists sessions, and gives the stored insights and the ' +
      'algorithms of an account. Sensor data and live insights go over WebSocket.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  security: [{ apiKey: [] }],
  tags: [
    { name: 'deviceModels', description: 'Kinds of devices.' },
    { name: 'modalities', description: 'Modality channels of a device model.' },
    { name: 'sessions', description: 'Stretches of streaming, and their insights.' },
    { name: 'insights', description: 'Insights across sessions.' },
    { name: 'algos', description: 'What the account is entitled to run.' },
    { name: 'health', description: 'Whether the streams work.' },
    { name: 'schema', description: 'This document.' },
  ],
};

/** Builds the OpenAPI document: operations out of the `@openapi` blocks above the handlers, components out of zod. */
export function openapiDocument(): Record<string, unknown> {
  return swaggerJsdoc({
    definition: { ...DEFINITION, components: components() },
    apis: RESOURCES.map((name) => fileURLToPath(new URL(`src/rest/${name}.ts`, GATEWAY))),
    failOnErrors: true,
  }) as Record<string, unknown>;
}

/** The text of the committed file. */
export function openapiText(): string {
  return `${JSON.stringify(openapiDocument(), null, 2)}\n`;
}

function version(): string {
  return (JSON.parse(readFileSync(new URL('package.json', GATEWAY), 'utf8')) as { version: string }).version;
}
