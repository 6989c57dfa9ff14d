/** The walls of ARCHITECTURE.md, as rules. Each has an offence in test/src/rules/rules.test.ts that must fail. */

/** A rule: what lies under `from` (and not under `except`) may not reach any of `to`; imports of types alone count with `types`. */
function wall(name, comment, from, to, { except, types = false } = {}) {
  return {
    name,
    comment,
    severity: 'error',
    from: { path: `^${from}`, ...(except && { pathNot: `^${except}` }) },
    to: { path: to, ...(!types && { dependencyTypesNot: ['type-only'] }) },
  };
}

/** A rule of the signal core: a room (a pattern) imports nothing of its package but itself, by $1, and those rooms. */
function room(name, comment, pattern, ...rooms) {
  return {
    name,
    comment,
    severity: 'error',
    from: { path: `^dsp-wasm/assembly/(${pattern})/` },
    to: { path: '^dsp-wasm/', pathNot: `^dsp-wasm/assembly/(${['$1', ...rooms].join('|')})/` },
  };
}

/** Packages of the repo, by folder or by name. */
const repo = (...names) => names.flatMap((name) => [`^${name}/`, `^(node_modules/)?@device-insights/${name}`]);
const library = (...names) => names.flatMap((name) => [`^(node_modules/)?${name}(/|$)`]);

/** Files that may need each other's types, and why. */
const TYPE_CYCLES = [
  // The door of a package: it declares an interface, and makes the implementation, which is another file.
  '^fanout/src/(fanout|node)\\.ts$',
  '^dsp-wasm/src/(core|instance|session)\\.ts$',
  // A subscriber knows its places among those with its key and those of its account, so that leaving takes no search.
  '^fanout/src/(channel|roster|scope|subscriber)\\.ts$',
  // Made by a generator.
  '^sdk/src/generated/',
];

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'two files that need each other are one',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-type-cycles',
      comment: 'two files that need each other’s types are one, or share a third, but for those of TYPE_CYCLES',
      severity: 'error',
      from: {},
      to: { circular: true, via: { pathNot: TYPE_CYCLES.join('|') } },
    },
    wall(
      'dsp-wasm-alone',
      'dsp-wasm imports nothing of the repo',
      'dsp-wasm/',
      repo('gateway', 'fanout', 'sdk', 'test'),
      { types: true },
    ),
    room('core-math-alone', 'the mathematics of the signal core knows no signals', 'math'),
    room('core-memory-alone', 'the memory of the signal core knows nobody who uses it', 'memory'),
    room('core-grid-below', 'the grid imports memory and mathematics alone', 'grid', 'memory', 'math'),
    room(
      'core-estimates-apart',
      'a family of estimates imports grid, memory and mathematics, and never another family',
      'pulse|ecg|breath|spo2',
      'grid',
      'memory',
      'math',
    ),
    {
      name: 'twins-apart',
      comment: 'the twins, the host and their tests share no code with the core, save for tables of fitted weights',
      severity: 'error',
      from: { path: '^dsp-wasm/(src|reference|bench)/' },
      to: { path: '^dsp-wasm/assembly/', pathNot: '_weights\\.ts$' },
    },
    wall('fanout-alone', 'fanout imports nothing of the repo', 'fanout/', repo('gateway', 'dsp-wasm', 'sdk', 'test'), {
      types: true,
    }),
    {
      name: 'fanout-process-alone',
      comment: 'what every process needs knows nothing of fan-out',
      severity: 'error',
      from: { path: '^fanout/src/process/' },
      to: { path: '^fanout/src/', pathNot: '^fanout/src/process/' },
    },
    wall('sdk-alone', 'sdk imports nothing of the repo', 'sdk/', repo('gateway', 'dsp-wasm', 'fanout', 'test'), {
      types: true,
    }),
    wall('nobody-imports-test', 'test is nobody’s dependency', '(gateway|fanout|sdk|dsp-wasm)/', repo('test'), {
      types: true,
    }),
    wall('sdk-in-the-command-line', 'in the gateway only the command line uses the sdk', 'gateway/src/', repo('sdk'), {
      except: 'gateway/src/cli/',
      types: true,
    }),
    wall('ingest-not-rest', 'ingest and rest never import each other', 'gateway/src/ingest/', '^gateway/src/rest/', {
      types: true,
    }),
    wall('rest-not-ingest', 'ingest and rest never import each other', 'gateway/src/rest/', '^gateway/src/ingest/', {
      types: true,
    }),
    wall(
      'store-knows-no-transport',
      'store knows neither HTTP nor sockets',
      'gateway/src/store/',
      ['^gateway/src/rest/', '^gateway/src/ingest/', '^(node:)?https?$', ...library('koa', '@koa', 'ws')],
      { types: true },
    ),
    wall(
      'mongoose-in-store-mongo',
      'mongoose is imported by store/mongo alone',
      'gateway/src/',
      library('mongoose', 'mongodb'),
      {
        except: 'gateway/src/store/mongo/',
        types: true,
      },
    ),
    wall(
      'koa-in-rest',
      'koa is imported by rest and dashboard alone, and by the bare server of the benchmarks',
      'gateway/src/',
      library('koa', '@koa', 'koa-body', 'koa-helmet'),
      {
        except: 'gateway/src/(rest|dashboard|bench)/',
        types: true,
      },
    ),
    wall(
      'dashboard-not-ingest',
      'the dashboard reads the store, and asks gateways what they know; it never imports ingest',
      'gateway/src/dashboard/',
      '^gateway/src/ingest/',
      { types: true },
    ),
    wall(
      'nobody-imports-dashboard',
      'only where the service is put together is there a dashboard',
      'gateway/src/(admin|analysis|erasure|ingest|keys|operators|peers|publisher|rest|store)/',
      '^gateway/src/dashboard/',
      { types: true },
    ),
    wall(
      'pages-know-types-alone',
      'the pages of the dashboard run in a browser: of the gateway they import types alone',
      'gateway/dashboard/',
      ['^gateway/src/', ...repo('fanout', 'dsp-wasm')],
    ),
    wall(
      'preact-in-the-pages',
      'what runs in a browser is imported by the pages of the dashboard alone',
      'gateway/src/',
      library('preact', 'uplot', 'vite'),
      { types: true },
    ),
    wall(
      'dsp-wasm-in-analysis',
      'the signal core is run by analysis alone; the composition roots open it, that of the tests of ingest too',
      'gateway/src/',
      repo('dsp-wasm'),
      {
        except: 'gateway/src/(analysis/|cli/|service/|ingest/bench.fixture.ts)',
      },
    ),
  ],
  options: {
    doNotFollow: { path: ['node_modules', '(^|/)dist/'] },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
