/** The walls of ARCHITECTURE.md, as rules. Each has a fixture under test/src/rules/fixtures that must fail. */

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

/** Packages of the repo, by folder or by name. */
const repo = (...names) => names.flatMap((name) => [`^${name}/`, `^(node_modules/)?@device-insights/${name}`]);
const library = (...names) => names.flatMap((name) => [`^(node_modules/)?${name}(/|$)`]);

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'two files that need each other are one',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    wall(
      'dsp-wasm-alone',
      'dsp-wasm imports nothing of the repo',
      'dsp-wasm/',
      repo('gateway', 'fanout', 'sdk', 'test'),
      { types: true },
    ),
    wall('fanout-alone', 'fanout imports nothing of the repo', 'fanout/', repo('gateway', 'dsp-wasm', 'sdk', 'test'), {
      types: true,
    }),
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
      'koa is imported by rest and dashboard alone',
      'gateway/src/',
      library('koa', '@koa', 'koa-body', 'koa-helmet'),
      {
        except: 'gateway/src/(rest|dashboard)/',
        types: true,
      },
    ),
    wall(
      'dsp-wasm-in-analysis',
      'the signal core is run by analysis alone; the composition roots open it, that of the tests of ingest too',
      'gateway/src/',
      repo('dsp-wasm'),
      {
        except: 'gateway/src/(analysis/|cli/|service.ts|ingest/bench.fixture.ts)',
      },
    ),
  ],
  options: {
    doNotFollow: { path: ['node_modules', '(^|/)dist/'] },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
