import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fromFile, Parser } from '@asyncapi/parser';
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
