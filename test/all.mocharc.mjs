import { readdirSync, readFileSync } from 'node:fs';

/** Files that take longest. They begin first, so that the last worker does not end long after the others. */
const LONGEST = [
  'reliability/matrix',
  'lost-host',
  'key-matrix',
  'vanished',
  'dashboard/sign-in',
  'abuse/clock-steps',
  'uploads',
  'redis',
  'python-client',
  'openapi',
  'gap-free',
  'drain',
  'dashboard/people',
  'dashboard/looks',
  'process',
  'node-versions',
  'export',
  'schemathesis',
].map((name) => `dist/${name}.test.js`);

const all = readdirSync('dist', { recursive: true })
  .filter((file) => file.endsWith('.test.js'))
  .map((file) => `dist/${file}`);

export default {
  ...JSON.parse(readFileSync('.mocharc.json', 'utf8')),
  parallel: true,
  jobs: 3,
  // Not a pattern after the first files: mocha runs a file as often as it is named.
  spec: [...LONGEST, ...all.sort().filter((file) => !LONGEST.includes(file))],
};
