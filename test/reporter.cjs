const { reporters } = require('mocha');

/**
 * Mocha's own report, with the error of each test that is tried again. The tests of all packages except dsp-wasm start
 * real processes on a machine of unknown load, so each has a second try. The first failure is reported here, and at the
 * end of `.ci/run`.
 */
module.exports = class extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.on('retry', (test, error) => console.warn(`tried again: ${test.fullTitle()}\n${error.stack}`));
  }
};
