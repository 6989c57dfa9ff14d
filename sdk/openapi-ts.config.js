import { readFileSync } from 'node:fs';
import { described } from '@device-insights/contract/asyncapi';
import { TO_DEVICE } from '@device-insights/contract/ingest';
import { liveInsight } from '@device-insights/contract/insight';

const openapi = JSON.parse(readFileSync(new URL('../gateway/openapi.json', import.meta.url), 'utf8'));
const messages = Object.entries(described({ ...TO_DEVICE, insight: liveInsight })).map(([name, { title, payload }]) => [
  `${name[0].toUpperCase()}${name.slice(1)}Message`,
  { description: title, ...payload },
]);
Object.assign(openapi.components.schemas, Object.fromEntries(messages));

/** Makes the types of REST and of the messages of both sockets (`npm run generate`), from the service's documents. */
export default {
  input: openapi,
  output: { path: 'src/generated', clean: true, module: { extension: '.js' } },
  plugins: [{ name: '@hey-api/typescript', comments: true }],
};
