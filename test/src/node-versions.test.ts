import { expect } from 'chai';
import { NODE_VERSIONS, runSuite } from './node-versions.js';

/** Tests of the package and its documents, which need compilers and do not depend on the version of Node that runs them. */
const OF_THE_PACKAGE = 'dist/{package,runtimes,documentation,generated,release}.test.js';

describe('the SDK', function () {
  this.timeout(400_000); // The first run installs these versions of Node.

  for (const version of NODE_VERSIONS)
    it(`passes its tests on Node ${version}`, async () => {
      const { code, output } = await runSuite(version, 'sdk', OF_THE_PACKAGE);
      expect(output).to.match(/[1-9]\d+ passing/);
      expect(code, output).to.equal(0);
    });
});
