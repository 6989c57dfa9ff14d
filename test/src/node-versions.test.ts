import { expect } from 'chai';
import { NODE_VERSIONS, runSuite } from './node-versions.js';

/** Tests of the package and its documents, which need compilers and do not depend on the version of Node that runs them. */
const OF_THE_PACKAGE = 'dist/{package,runtimes,documentation,generated,release}.test.js';

describe('the SDK', function () {
  this.timeout(400_000); // The first run installs this version of Node.

  it('passes its tests on the newest Node that is supported', async () => {
    const { code, output } = await runSuite(NODE_VERSIONS.at(-1) ?? '', 'sdk', OF_THE_PACKAGE);
    expect(output).to.match(/[1-9]\d+ passing/);
    expect(code, output).to.equal(0);
  });
});
