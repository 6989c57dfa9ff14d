import { NODE_VERSIONS, runSuite } from './node-versions.js';

const PACKAGES = ['dsp-wasm', 'fanout', 'sdk', 'gateway', 'test'];
const USAGE = `Usage: npm run test:nodes [-- PACKAGE…]

Runs the suites of these packages (${PACKAGES.join(', ')}; default: all) on Node ${NODE_VERSIONS.join(', ')}.`;

const asked = process.argv.slice(2);
if (asked.some((it) => !PACKAGES.includes(it))) {
  console.error(USAGE);
  process.exit(asked.includes('--help') ? 0 : 2);
}
for (const version of NODE_VERSIONS)
  for (const folder of asked.length > 0 ? asked : PACKAGES) {
    console.log(`\n${folder} on Node ${version}`);
    const { code, output } = await runSuite(version, folder, 'dist/node-versions.test.js');
    console.log(output);
    if (code !== 0) process.exitCode = 1;
  }
