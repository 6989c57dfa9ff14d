import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { npmProgram } from './npm-program.js';
import { fileOf, registered } from './server-process.js';

/** The versions of Node on which the suites are run, in addition to the one that runs the tests: one of each line that is maintained. */
export const NODE_VERSIONS = ['22.23.3', '24.21.0', '26.10.0'];

/** Result of a suite. */
interface SuiteResult {
  readonly code: number | null;
  /** The runner's report and errors. */
  readonly output: string;
}

/**
 * Runs the test suite of a package, which must be built, with another version of Node, which is installed if it is
 * missing.
 *
 * @param version exact version of Node
 * @param folder folder of the package, such as `sdk`
 * @param ignored test files to leave out, as a glob from that folder
 */
export async function runSuite(version: string, folder: string, ignored: string): Promise<SuiteResult> {
  const name = `node-linux-${process.arch}`;
  const node = await npmProgram(`${name}@${version}`, `${name}/bin/node`);
  const mocha = fileOf('node_modules/mocha/bin/mocha.js');
  const child = registered(
    spawn(node, [mocha, 'dist/**/*.test.js', '--ignore', ignored], {
      cwd: fileOf(folder),
      env: { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, output: stdout + stderr };
}
