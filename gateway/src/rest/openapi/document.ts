import { VERSION } from '@device-insights/fanout/platform/version';
import swaggerJsdoc from 'swagger-jsdoc';
import { OPERATIONS } from '../routes.js';
import { components, paths } from './components.js';

const DEFINITION = {
  openapi: '3.1.0',
  info: {
    title: 'Device Insights Service',
    version: VERSION,
    description:
      'Manages device models and their modality channels, lists sessions, and returns the stored insights and the ' +
      'algorithms of an account. Sensor data and live insights go over WebSocket.\n\n' +
      'Query parameters that an operation does not list are ignored. The body of every error is a JSON object with `detail`. Beside the errors listed with each operation, any path ' +
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

/** The text of the committed file: the OpenAPI document, built out of the operations of the routes and their zod schemas. */
export function openapiText(): string {
  const definition = { ...DEFINITION, components: components(), paths: paths(OPERATIONS) };
  return `${JSON.stringify(swaggerJsdoc({ definition, apis: [], failOnErrors: true }), null, 2)}\n`;
}
