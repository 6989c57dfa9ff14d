/** The import rules of ARCHITECTURE.md. Each has a violation in test/src/rules/rules.test.ts that must be reported. */

/** A rule: files in `from` (except those in `except`) must not import `to`; with `types`, not even types of it. */
function rule(name, comment, from, to, { except, types = false } = {}) {
  return {
    name,
    comment,
    severity: 'error',
    from: { path: `^${from}`, ...(except && { pathNot: `^${except}` }) },
    to: { path: to, ...(!types && { dependencyTypesNot: ['type-only'] }) },
  };
}

/** A rule of the signal core: the folders that match `pattern` import only themselves ($1) and the folders `others`. */
function coreRule(name, comment, pattern, ...others) {
  return {
    name,
    comment,
    severity: 'error',
    from: { path: `^dsp-wasm/assembly/(${pattern})/` },
    to: { path: '^dsp-wasm/', pathNot: `^dsp-wasm/assembly/(${['$1', ...others].join('|')})/` },
  };
}

/** Packages of the repository, by folder or by name. */
const repo = (...names) => names.flatMap((name) => [`^${name}/`, `^(node_modules/)?@device-insights/${name}`]);
const library = (...names) => names.flatMap((name) => [`^(node_modules/)?${name}(/|$)`]);

/** Files that may import each other's types, and why. */
const TYPE_CYCLES = [
  // The entry of a package declares an interface, and creates its implementation, which is in another file.
  '^dsp-wasm/src/(arguments|core|instance|session)\\.ts$',
  // A subscriber knows its places in the lists of its key and of its account, so that it leaves them without a search;
  // subscribers and channels tell the fan-out, which creates them, when they end.
  '^fanout/src/(channel|fanout|subscriber|subscriber-registry)\\.ts$',
];

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'files that import each other should be one file',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-type-cycles',
      comment:
        'files that import each other’s types should be one file, or share a third; exceptions are in TYPE_CYCLES',
      severity: 'error',
      from: {},
      to: { circular: true, via: { pathNot: TYPE_CYCLES.join('|') } },
    },
    rule(
      'dsp-wasm-alone',
      'dsp-wasm imports no other package of the repository',
      'dsp-wasm/',
      repo('gateway', 'fanout', 'sdk', 'test'),
      { except: 'dsp-wasm/lab/', types: true },
    ),
    rule(
      'nobody-imports-lab',
      'the lab measures and fits the signal core; nothing else imports it',
      '(gateway|fanout|sdk|test|dsp-wasm)/',
      ['^dsp-wasm/lab/', '^(node_modules/)?@device-insights/lab'],
      { except: 'dsp-wasm/lab/', types: true },
    ),
    coreRule('core-math-below', 'the mathematics of the signal core imports only its memory', 'math', 'memory'),
    coreRule('core-memory-alone', 'the memory of the signal core imports no other folder of it', 'memory'),
    coreRule('core-grid-below', 'the grid imports only memory and mathematics', 'grid', 'memory', 'math'),
    coreRule(
      'core-estimates-apart',
      'a family of estimates imports only grid, memory and mathematics, and no other family',
      'pulse|ecg|breath|spo2|beats',
      'grid',
      'memory',
      'math',
    ),
    {
      name: 'twins-apart',
      comment: 'the twins, the host and their tests import no code of the core, only tables of fitted weights',
      severity: 'error',
      from: { path: '^dsp-wasm/(src|reference|bench)/' },
      to: { path: '^dsp-wasm/assembly/', pathNot: '_weights\\.ts$' },
    },
    rule(
      'contract-alone',
      'the contract imports no other package of the repository',
      'fanout/contract/',
      ['^fanout/(src|dist)/'],
      { types: true },
    ),
    rule(
      'fanout-alone',
      'fanout imports no other package of the repository than the contract',
      'fanout/',
      repo('gateway', 'dsp-wasm', 'sdk', 'test'),
      {
        types: true,
      },
    ),
    {
      name: 'platform-alone',
      comment: 'the platform of gateway and fan-out node imports nothing else of fanout',
      severity: 'error',
      from: { path: '^fanout/src/platform/' },
      to: { path: '^fanout/src/', pathNot: '^fanout/src/platform/' },
    },
    rule(
      'sdk-alone',
      'sdk imports no other package of the repository',
      'sdk/',
      repo('gateway', 'dsp-wasm', 'fanout', 'test'),
      {
        types: true,
      },
    ),
    rule('nobody-imports-test', 'no package imports test', '(gateway|fanout|sdk|dsp-wasm)/', repo('test'), {
      types: true,
    }),
    rule(
      'sdk-in-the-command-line',
      'in the gateway only the command line imports the sdk',
      'gateway/src/',
      repo('sdk'),
      {
        except: 'gateway/src/cli/',
        types: true,
      },
    ),
    rule('ingest-not-rest', 'ingest and rest never import each other', 'gateway/src/ingest/', '^gateway/src/rest/', {
      types: true,
    }),
    rule('rest-not-ingest', 'ingest and rest never import each other', 'gateway/src/rest/', '^gateway/src/ingest/', {
      types: true,
    }),
    rule(
      'store-knows-no-transport',
      'store imports neither HTTP nor sockets',
      'gateway/src/store/',
      ['^gateway/src/rest/', '^gateway/src/ingest/', '^(node:)?https?$', ...library('koa', '@koa', 'ws')],
      { types: true },
    ),
    rule(
      'mongoose-in-store-mongo',
      'only store/mongo imports mongoose',
      'gateway/src/',
      library('mongoose', 'mongodb'),
      {
        except: 'gateway/src/store/mongo/',
        types: true,
      },
    ),
    rule(
      'koa-in-rest',
      'only rest, dashboard and the bare server of the benchmarks import koa',
      'gateway/src/',
      library('koa', '@koa', 'koa-body', 'koa-helmet'),
      {
        except: 'gateway/src/(rest|dashboard|bench)/',
        types: true,
      },
    ),
    rule(
      'dashboard-not-ingest',
      'the dashboard never imports ingest: it reads the store, and asks gateways for the state of a session',
      'gateway/src/dashboard/',
      '^gateway/src/ingest/',
      { types: true },
    ),
    rule(
      'nobody-imports-dashboard',
      'only the composition of the service imports the dashboard',
      'gateway/src/(admin|analysis|erasure|ingest|keys|operators|peers|publisher|rest|store)/',
      '^gateway/src/dashboard/',
      { types: true },
    ),
    rule(
      'pages-know-types-alone',
      'the pages of the dashboard run in a browser: they import only types of the gateway',
      'gateway/dashboard/',
      ['^gateway/src/', ...repo('fanout', 'dsp-wasm')],
    ),
    rule(
      'preact-in-the-pages',
      'only the pages of the dashboard import what runs in a browser',
      'gateway/src/',
      library('preact', 'uplot', 'vite'),
      { types: true },
    ),
    rule(
      'dsp-wasm-in-analysis',
      'only analysis uses the signal core; compositions (service, command line, tests of ingest) create it',
      'gateway/src/',
      repo('dsp-wasm'),
      {
        except: 'gateway/src/(analysis/|cli/|service\\.ts|ingest/bench.fixture.ts)',
      },
    ),
  ],
  options: {
    doNotFollow: { path: ['node_modules', '(^|/)dist/'] },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
