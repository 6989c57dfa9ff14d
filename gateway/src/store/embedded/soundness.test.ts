import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ManualClock } from '@device-insights/fanout/process/manual-clock';
import { expect } from 'chai';
import { StoreUnavailable } from '../store.js';
import { rejection } from '../suite/samples.js';
import { Soundness } from './soundness.js';

describe('what is known of a file that a call has reported as damaged', () => {
  let directory: string;
  let file: string;
  let clock: ManualClock;
  let soundness: Soundness;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'device-insights-'));
    file = join(directory, 'disk', 'file');
    clock = new ManualClock();
    soundness = new Soundness(file, clock);
    soundness.suspect('malformed');
  });

  afterEach(() => {
    soundness.close();
    rmSync(directory, { recursive: true });
  });

  const make = (content: string) => {
    mkdirSync(dirname(file));
    writeFileSync(file, content);
  };

  const expectRefusal = (what: RegExp) => {
    const refuse = () => soundness.refuseUnsound();
    expect(refuse).to.throw(StoreUnavailable, what);
  };

  it('is a suspicion until it was examined', async () => {
    expectRefusal(/malformed.*is being examined: do not restore/);
    make(''); // Empty: a sound database.
    await soundness.examineSuspicion();
    expect(soundness.isSound).to.equal(true);
    soundness.refuseUnsound();
  });

  it('is certain when an examination has confirmed it, and is then examined no more', async () => {
    make('this is not a database, and never was '.repeat(100));
    await soundness.examineSuspicion();
    expectRefusal(/is damaged \(.*restore the data directory/);
    writeFileSync(file, '');
    clock.advance(3_600_000);
    await soundness.examineSuspicion();
    expectRefusal(/is damaged/);
  });

  it('stays a suspicion while the file cannot be examined, which is tried less and less often', async () => {
    await soundness.examineSuspicion();
    expectRefusal(/could not be examined \(.*, and will be again: do not restore/);
    clock.advance(5000);
    await soundness.examineSuspicion();
    make('');
    clock.advance(5000);
    await soundness.examineSuspicion();
    expectRefusal(/could not be examined/);
    clock.advance(5000);
    await soundness.examineSuspicion();
    expect(soundness.isSound).to.equal(true);
  });

  it('stays a suspicion if damage is reported again during the examination', async () => {
    make('');
    const examined = soundness.examineSuspicion();
    soundness.suspect('malformed');
    await examined;
    expectRefusal(/malformed/);
  });

  it('without a suspicion, is examined no longer when the log, which grows meanwhile, fills the disk', async () => {
    make('');
    writeFileSync(`${file}-wal`, '');
    truncateSync(`${file}-wal`, 2 ** 43); // Sparse: it takes no space.
    const examined = new Soundness(file, clock).examine();
    clock.advance(1000);
    expect(String(await rejection(examined))).to.include('its log, which grows meanwhile, took more disk space');
  });

  it('is no worse after an examination that was stopped together with the service', async () => {
    make('');
    const unsuspected = new Soundness(file, clock);
    const examined = unsuspected.examine();
    for (const child of childrenOfThis()) process.kill(child, 'SIGTERM');
    await examined;
    unsuspected.refuseUnsound();
  });
});

function childrenOfThis(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
  return children.split(' ').filter(Boolean).map(Number);
}
