import { parseArgs } from 'node:util';
import { heapGrowth } from '../src/allocation.js';
import { kernelCosts } from './kernels.js';
import { sessionCost } from './sessions.js';

/**
 * `npm run bench -w @device-insights/dsp-wasm [-- --json]`: cost of the signal core alone, as processor time of this process. Times depend
 * on the machine and its load; the ratios compare measurements of the same run.
 */
const { json } = parsedOptions();

const kernels = await kernelCosts();
const bytes_per_push = (await heapGrowth(1_000_000)) / 1_000_000;
await sessionCost(200, 'normal', 60); // until the engine has optimised everything, because its threads count, too
const normal = await sessionCost(200, 'normal', 16);
const faults = {
  zeros: await sessionCost(200, 'zeros', 16),
  nan: await sessionCost(200, 'nan', 16),
  rails: await sessionCost(200, 'rails', 16),
};
const thousand = await sessionCost(1000, 'normal', 40);
const twentyThousand = await sessionCost(20_000, 'normal', 10);

const result = {
  ...kernels,
  session_us_1000: thousand.us,
  session_us_20000: twentyThousand.us,
  growth_ratio: twentyThousand.us / thousand.us,
  zeros_ratio: faults.zeros.us / normal.us,
  nan_ratio: faults.nan.us / normal.us,
  rails_ratio: faults.rails.us / normal.us,
  bytes_per_session: normal.bytesPerSession,
};
/** Printed with the result. */
const table = { ...result, session_us_200: normal.us, bytes_per_push };

const LINES: [keyof typeof table, string, string, string][] = [
  ['biquad_ns', 'ns', 'a biquad, per sample and signal: eight signals at once', '<= 0.45'],
  ['fft1024_us', 'us', 'a real FFT of 1024 samples, per signal: four at once (wasm SIMD elsewhere: 1.7)', '<= 2.5'],
  ['biquad_ratio', 'x', 'its plain TypeScript twin against it', '>= 10'],
  ['fft1024_ratio', 'x', 'its plain TypeScript twin against it', '>= 10'],
  ['session_us_1000', 'us', 'a second of a whole session (850 samples, all estimates) among 1,000', '<= 30'],
  ['session_us_20000', 'us', 'the same among 20,000', '<= 30'],
  ['growth_ratio', 'x', '20,000 sessions against 1,000', '<= 1.1'],
  ['session_us_200', 'us', 'the same second among 200, the base of the next three', ''],
  ['zeros_ratio', 'x', 'all sensors at zero', '<= 1.2'],
  ['nan_ratio', 'x', 'every third value missing', '<= 1.2'],
  ['rails_ratio', 'x', 'all sensors between their rails', '<= 1.2'],
  ['bytes_per_push', 'B', 'left on the JavaScript heap by a push, over a million of them', '0'],
  ['bytes_per_session', 'B', 'memory of a session', '<= 67584'],
];

if (json) {
  console.log(JSON.stringify(result));
} else {
  console.log('Processor time of this process, warmed up; the last column is the aim.\n');
  for (const [key, unit, what, aim] of LINES) {
    console.log(
      `${key.padEnd(18)} ${table[key].toPrecision(4).padStart(9)} ${unit.padEnd(3)} ${what}${aim && `  [${aim}]`}`,
    );
  }
}

function parsedOptions(): { readonly json: boolean } {
  try {
    return parseArgs({ options: { json: { type: 'boolean', default: false } } }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\nusage: [--json]`);
    process.exit(1);
  }
}
