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

/** For each rule a tree of two files, of which the first imports the second. */
const OFFENCES: Readonly<Record<string, readonly [importer: string, imported: string]>> = {
  'no-cycles': ['gateway/src/a.ts', 'gateway/src/b.ts'],
  'dsp-wasm-alone': ['dsp-wasm/src/core.ts', 'gateway/src/insight.ts'],
  'fanout-alone': ['fanout/src/hub.ts', 'gateway/src/insight.ts'],
  'sdk-alone': ['sdk/src/live.ts', 'fanout/src/frame.ts'],
  'nobody-imports-test': ['gateway/src/a.ts', 'test/src/server.ts'],
  'sdk-in-the-command-line': ['gateway/src/rest/a.ts', 'sdk/src/sdk.ts'],
  'ingest-not-rest': ['gateway/src/ingest/a.ts', 'gateway/src/rest/b.ts'],
  'rest-not-ingest': ['gateway/src/rest/b.ts', 'gateway/src/ingest/a.ts'],
  'store-knows-no-transport': ['gateway/src/store/a.ts', 'node_modules/ws/index.js'],
  'mongoose-in-store-mongo': ['gateway/src/store/embedded/a.ts', 'node_modules/mongoose/index.js'],
  'koa-in-rest': ['gateway/src/ingest/a.ts', 'node_modules/koa/index.js'],
  'dsp-wasm-in-analysis': ['gateway/src/ingest/a.ts', 'dsp-wasm/src/core.ts'],
};

function put(root: string, path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Names of the rules that a tree breaks. */
async function broken(root: string): Promise<string[]> {
  const ruleSet = { forbidden: rules.forbidden } as IFlattenedRuleSet;
  const { output } = await cruise(['.'], { ...rules.options, baseDir: root, validate: true, ruleSet });
  if (typeof output === 'string') throw new Error('dependency-cruiser gave a text where an object was asked for');
  return output.summary.violations.map(({ rule }) => rule.name);
}

describe('the rules of who may import whom', () => {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'rules-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('each have an offence here', () => {
    expect(Object.keys(OFFENCES)).to.have.members(rules.forbidden.map(({ name }) => name));
  });

  for (const [name, [importer, imported]] of Object.entries(OFFENCES)) {
    it(`refuse a breach of ${name}`, async () => {
      const up = '../'.repeat(importer.split('/').length - 1);
      const from = imported.startsWith('node_modules/') ? (imported.split('/')[1] ?? '') : `${up}${imported}`;
      put(root, importer, `import { x } from '${from}';\nexport const y = x;\n`);
      const back = '../'.repeat(imported.split('/').length - 1);
      put(
        root,
        imported,
        name === 'no-cycles'
          ? `import { y } from '${back}${importer}';\nexport const x = () => y;\n`
          : 'export const x = 1;\n',
      );
      if (imported.startsWith('node_modules/'))
        put(root, join(dirname(imported), 'package.json'), '{"main":"index.js"}');
      expect(await broken(root)).to.include(name);
    });
  }
});
