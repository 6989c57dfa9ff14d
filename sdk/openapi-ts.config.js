import { readFileSync } from 'node:fs';
import { described } from '@device-insights/contract/asyncapi';
import { TO_DEVICE } from '@device-insights/contract/ingest';
import { liveInsight } from '@device-insights/contract/insight';

const openapi = JSON.parse(readFileSync(new URL('../gateway/openapi.json', import.meta.url), 'utf8'));
const messages = Object.entries(described({ ...TO_DEVICE, insight: liveInsight })).map(([name, { title, payload }]) => [
  `${name[0].toUpperCase()}${name.slice(1)}Message`,
  { description: title, ...payload },
]);
/** Answers that the clients do not ask for. */
const UNASKED = ['Upload', 'FhirBundle', 'Error'];
const asked = Object.entries(openapi.components.schemas).filter(([name]) => !UNASKED.includes(name));
const schemas = Object.fromEntries([...asked, ...messages]);
const lists = ['/v1/sessions', '/v1/insights'].map((path) => {
  const { operationId, parameters } = openapi.paths[path].get;
  return [path, { get: { operationId, parameters, responses: {} } }];
});

/** Puts comments of one line on one line, which is half of the file. */
const shorten = String.raw`
  const file = process.argv[1] + '/types.gen.ts';
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(/\/\*\*\n *\* (.*)\n *\*\//g, '/** $1 */'));
`;

/**
 * Makes the types of REST and of the messages of both sockets (`npm run generate`), from the service's documents. Of the
 * operations it makes only the types of queries of lists: `rest.ts` declares the rest.
 */
export default {
  input: { ...openapi, components: { schemas }, paths: Object.fromEntries(lists) },
  output: {
    path: 'src/generated',
    clean: true,
    entryFile: false,
    module: { extension: '.js' },
    postProcess: [{ name: 'shorten', command: process.execPath, args: ['--eval', shorten, '{{path}}'] }],
  },
  plugins: [{ name: '@hey-api/typescript', comments: true }],
};
