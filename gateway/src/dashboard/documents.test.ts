import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fromFile, Parser } from '@asyncapi/parser';
import { asyncapi } from '@device-insights/contract/asyncapi';
import { CLOSE } from '@device-insights/contract/close-codes';
import { FRAME_ERRORS, NOTICES, REASONS } from '@device-insights/contract/ingest';
import { expect } from 'chai';
import { parse } from 'yaml';
import { TestDashboard } from './dashboard-server.fixture.js';

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

describe('the documents of both interfaces', () => {
  let dashboard: TestDashboard;
  before(async () => {
    dashboard = await TestDashboard.start();
  });
  after(() => dashboard.stop());

  it('are served without a key, exactly as in the package', async () => {
    const { text } = await dashboard.call('GET', '/docs/openapi.json');
    expect(text).to.equal(read('openapi.json'));
    const { json, headers } = await dashboard.call<object>('GET', '/asyncapi.json');
    expect(json).to.deep.equal(parse(read('asyncapi.yaml')));
    expect(headers.get('content-type')).to.contain('application/json');
    expect((await dashboard.call('GET', '/docs')).text).to.contain('<title>API reference');
  });

  it('equal the contract: asyncapi.yaml is the output of `npm run openapi -w gateway`', () => {
    expect(parse(read('asyncapi.yaml'))).to.deep.equal(JSON.parse(JSON.stringify(asyncapi())));
  });

  it('list all codes in the tables of INGEST.md, in their order, and after which close codes to reconnect', () => {
    const page = read('INGEST.md');
    const tables = page.slice(page.indexOf('| code | cause |'), page.indexOf('## 7.'));
    const rows = [...tables.matchAll(/^\| (?:`([a-z_]+)` \||(\d{4}) .* \| (yes|no)[^|]*\|$)/gm)];
    const closes = Object.values(CLOSE).map(({ code, reconnect }) => `${code} ${reconnect ? 'yes' : 'no'}`);
    expect(rows.map(([, name, code, reconnect]) => name ?? `${code} ${reconnect}`)).to.deep.equal([
      ...FRAME_ERRORS,
      ...NOTICES,
      ...REASONS,
      ...closes,
    ]);
  });

  it('are valid for the AsyncAPI parser', async () => {
    const found = await fromFile(
      new Parser(),
      fileURLToPath(new URL('../pages/asyncapi.json', import.meta.url)),
    ).parse();
    const errors = found.diagnostics.filter(({ severity }) => severity === 0);
    expect(errors.map(({ message, path }) => `${path.join('.')}: ${message}`)).to.deep.equal([]);
    expect(found.document?.channels().length).to.equal(2);
  });
});
