import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { Running, temporaryFolder } from './running.js';
import { RawSocket } from './socket.js';
import { connect, makeModel, sendFrames } from './wearable.js';

/** A file system that can be frozen, as snapshots of virtual machines do; null if this user cannot mount one. */
function freezable(
  folder: string,
): { readonly path: string; run(command: 'freeze' | 'thaw' | 'unmount'): void } | null {
  const [image, path] = [join(folder, 'image'), join(folder, 'mounted')];
  const commands = { freeze: ['fsfreeze', '-f'], thaw: ['fsfreeze', '-u'], unmount: ['umount'] };
  mkdirSync(path);
  const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: 'pipe' });
  try {
    run('truncate', '--size=64M', image);
    run('mkfs.ext4', '-q', image);
    run('mount', '-o', 'loop', image, path);
  } catch {
    return null;
  }
  return { path, run: (command) => run(...(commands[command] as [string]), path) };
}

describe('a gateway whose file system is frozen', () => {
  const folder = temporaryFolder();
  after(() => folder.remove());

  it('answers checks and refuses devices meanwhile, and has lost nothing when it is thawed', async function () {
    const disk = freezable(folder.path);
    if (!disk) return this.skip();
    let isFrozen = false;
    const thaw = () => {
      if (isFrozen) disk.run('thaw'); // Nothing can end a process that waits for a frozen disk.
      isFrozen = false;
    };
    process.once('exit', thaw);
    const gateway = await Running.start({ DATA_DIR: join(disk.path, 'data'), METRICS_PORT: '0' });
    try {
      const source = simulate({ seconds: 40 });
      const model = await makeModel(gateway, source);
      const { socket, ready } = await connect(gateway, 'patient', model);
      const path = `/v1/sessions/${ready.session_id}/insights`;
      const ends = async () => {
        const { body } = await gateway.call<{ type: string; actual_end: number }[]>('GET', path);
        return body
          .filter(({ type }) => type === 'hr')
          .map(({ actual_end }) => Math.round((actual_end - epoch) / 1000));
      };
      const epoch = Date.now() - 60_000;
      await sendFrames(socket, source, epoch, 0, 10);
      await eventually('the first readings are stored', async () => (await ends()).at(-1) === 10);

      await makeModel(gateway, source); // The next read is the first after a write: it writes to the index of the log.
      disk.run('freeze');
      isFrozen = true;
      await sendFrames(socket, source, epoch, 10, 40);
      const asked = Promise.all([ends(), gateway.call('GET', '/v1/sessions')]);
      await eventually('it is not ready', async () => (await gateway.check('readyz')) === 503);
      const refused = new RawSocket(`${gateway.wsUrl}/stream/ingest?device_id=second`);
      expect((await refused.closed()).code).to.equal(4001);
      expect(await gateway.check('livez')).to.equal(200);
      expect(await gateway.metric('device_insights_ingest_connections')).to.equal(1);
      thaw();

      await asked;
      socket.send({ type: 'end' });
      await socket.until(({ type }) => type === 'ended');
      expect(await ends()).to.deep.equal(Array.from({ length: 37 }, (_, i) => i + 4));
      await eventually('it is ready', async () => (await gateway.check('readyz')) === 200);
    } finally {
      thaw();
      process.off('exit', thaw);
      await gateway.end('SIGTERM');
      disk.run('unmount');
    }
  });
});
