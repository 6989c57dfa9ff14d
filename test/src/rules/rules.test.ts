import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { cruise, type ICruiseOptions, type IFlattenedRuleSet } from 'dependency-cruiser';

interface Rules {
  readonly forbidden: readonly { readonly name: string }[];
  readonly options: ICruiseOptions;
}

const rules = createRequire(import.meta.url)('../../../.dependency-cruiser.cjs') as Rules;

/** For each rule, a tree of two files, of which the first imports the second. */
const VIOLATIONS: Readonly<Record<string, readonly [importer: string, imported: string]>> = {
  'no-cycles': ['gateway/src/a.ts', 'gateway/src/b.ts'],
  'no-type-cycles': ['gateway/src/a.ts', 'gateway/src/b.ts'],
  'dsp-wasm-alone': ['dsp-wasm/src/core.ts', 'gateway/src/insight.ts'],
  'nobody-imports-lab': ['dsp-wasm/src/a.ts', 'dsp-wasm/lab/src/score.ts'],
  'core-math-below': ['dsp-wasm/assembly/math/a.ts', 'dsp-wasm/assembly/grid/b.ts'],
  'core-memory-alone': ['dsp-wasm/assembly/memory/a.ts', 'dsp-wasm/assembly/pulse/b.ts'],
  'core-grid-below': ['dsp-wasm/assembly/grid/a.ts', 'dsp-wasm/assembly/pulse/b.ts'],
  'core-estimates-apart': ['dsp-wasm/assembly/breath/a.ts', 'dsp-wasm/assembly/ecg/b.ts'],
  'twins-apart': ['dsp-wasm/reference/pulse/a.ts', 'dsp-wasm/assembly/pulse/b.ts'],
  'contract-alone': ['fanout/contract/src/a.ts', 'fanout/src/frame.ts'],
  'fanout-alone': ['fanout/src/channel.ts', 'gateway/src/insight.ts'],
  'platform-alone': ['fanout/src/platform/a.ts', 'fanout/src/channel.ts'],
  'sdk-alone': ['sdk/src/live/live.ts', 'fanout/src/frame.ts'],
  'nobody-imports-test': ['gateway/src/a.ts', 'test/src/server.ts'],
  'sdk-in-the-command-line': ['gateway/src/rest/a.ts', 'sdk/src/sdk.ts'],
  'ingest-not-rest': ['gateway/src/ingest/a.ts', 'gateway/src/rest/b.ts'],
  'rest-not-ingest': ['gateway/src/rest/b.ts', 'gateway/src/ingest/a.ts'],
  'store-knows-no-transport': ['gateway/src/store/a.ts', 'node_modules/ws/index.js'],
  'mongoose-in-store-mongo': ['gateway/src/store/embedded/a.ts', 'node_modules/mongoose/index.js'],
  'koa-in-rest': ['gateway/src/ingest/a.ts', 'node_modules/koa/index.js'],
  'dashboard-not-ingest': ['gateway/src/dashboard/a.ts', 'gateway/src/ingest/b.ts'],
  'nobody-imports-dashboard': ['gateway/src/rest/a.ts', 'gateway/src/dashboard/b.ts'],
  'pages-know-types-alone': ['gateway/dashboard/src/a.ts', 'gateway/src/insight.ts'],
  'preact-in-the-pages': ['gateway/src/dashboard/a.ts', 'node_modules/preact/index.js'],
  'dsp-wasm-in-analysis': ['gateway/src/ingest/a.ts', 'dsp-wasm/src/core.ts'],
};

/** For each rule about import circles, the import of the second file from the first. */
const BACKWARDS: Readonly<Record<string, string>> = {
  'no-cycles': "import { y } from 'IMPORTER';\nexport const z = () => y;\n",
  'no-type-cycles': "import type { y } from 'IMPORTER';\nexport type Y = typeof y;\n",
};

function put(root: string, path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Names of the rules that a tree violates. */
async function broken(root: string): Promise<string[]> {
  const ruleSet = { forbidden: rules.forbidden } as IFlattenedRuleSet;
  const { output } = await cruise(['.'], { ...rules.options, baseDir: root, validate: true, ruleSet });
  if (typeof output === 'string') throw new Error('dependency-cruiser gave a text where an object was asked for');
  return output.summary.violations.map(({ rule }) => rule.name);
}

describe('the import rules', () => {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'rules-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('each have a violation here', () => {
    expect(Object.keys(VIOLATIONS)).to.have.members(rules.forbidden.map(({ name }) => name));
  });

  for (const [name, [importer, imported]] of Object.entries(VIOLATIONS)) {
    it(`report a violation of ${name}`, async () => {
      const up = '../'.repeat(importer.split('/').length - 1);
      const from = imported.startsWith('node_modules/') ? (imported.split('/')[1] ?? '') : `${up}${imported}`;
      put(root, importer, `import { x } from '${from}';\nexport const y = x;\n`);
      const back = '../'.repeat(imported.split('/').length - 1);
      put(root, imported, `${BACKWARDS[name]?.replace('IMPORTER', back + importer) ?? ''}export const x = 1;\n`);
      if (imported.startsWith('node_modules/'))
        put(root, join(dirname(imported), 'package.json'), '{"main":"index.js"}');
      expect(await broken(root)).to.include(name);
    });
  }
});
