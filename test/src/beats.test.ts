import { runAdmin } from '@device-insights/gateway/test-admin';
import { encodeFrame } from '@device-insights/sdk';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { Operator } from './operator.js';
import { KEY, Running, temporaryFolder } from './running.js';
import { acknowledged, connect, makeModel, sendFrames } from './wearable.js';

/** Start of the data. */
const EPOCH = Date.now() - 3_600_000;
const SECONDS = 130;

interface Beat {
  readonly t: number;
  readonly source: 'ecg' | 'ppg';
  readonly quality: number;
}

interface StoredInsight {
  readonly type: string;
  readonly value: number;
  readonly sdnn?: number;
  readonly pnn50?: number;
  readonly actual_start: number;
  readonly actual_end: number;
}

describe('The beats of a session', () => {
  const folder = temporaryFolder();
  const source = simulate({ seconds: SECONDS });
  const operator = new Operator({ DATA_DIR: folder.path });
  let service: Running;
  let model: string;

  const start = () => Running.start({ DATA_DIR: folder.path });

  before(async () => {
    service = await start();
    model = await makeModel(service, source);
  });
  after(async () => {
    await service?.end('SIGKILL');
    folder.remove();
  });

  const get = async <Body>(path: string, key = KEY) => (await service.call<Body>('GET', path, undefined, key)).body;

  /** Checks that the beats of both sources are those of the simulated heart, each once; at the end some are not found. */
  function checkBeats(beats: readonly Beat[]): void {
    expect(beats.map(({ t }) => t)).to.deep.equal(beats.map(({ t }) => t).sort((a, b) => a - b));
    const truth = source.beats(3, SECONDS - 6);
    for (const kind of ['ecg', 'ppg'] as const) {
      const own = beats.filter((beat) => beat.source === kind).map(({ t }) => (t - EPOCH) / 1000);
      // A pulse comes later than the R wave, by nearly the same time.
      const delays = truth.map((at) => own.filter((t) => t > at - 0.1 && t < at + 0.5)).map((near) => near.length);
      expect(delays, kind).to.deep.equal(truth.map(() => 1));
    }
  }

  it('are given in order of time, and continue without a gap or a double after its gateway was killed', async () => {
    const first = await connect(service, 'killed', model);
    await sendFrames(first.socket, source, EPOCH, 0, 75);
    for (let next = 0; next < 7400; ) next = Math.max(next, acknowledged(await first.socket.next()));
    await service.end('SIGKILL');
    service = await start();
    const { socket, ready } = await connect(service, 'killed', model);
    expect(ready).to.include({ session_id: first.ready.session_id, resumed: true, replay_ms: 60_000 });
    await sendFrames(socket, source, EPOCH, 15, SECONDS);
    socket.send({ type: 'end' });
    await socket.until(({ type }) => type === 'ended');
    const beats = await get<Beat[]>(`/v1/sessions/${ready.session_id}/beats`);
    checkBeats(beats);
    const csv = await fetch(`${service.url}/v1/sessions/${ready.session_id}/beats`, {
      headers: { authorization: `Bearer ${KEY}`, accept: 'text/csv' },
    });
    const lines = (await csv.text()).trimEnd().split('\r\n');
    expect(lines).to.deep.equal(['t,source,quality', ...beats.map((each) => Object.values(each).join(','))]);
  });

  it('come with hrv and rhythm every 10 s, of which only the stored hrv has SDNN and pNN50', async () => {
    const [session] = await get<{ id: string }[]>('/v1/sessions?device_id=killed');
    const insights = await get<StoredInsight[]>(`/v1/sessions/${session?.id}/insights`);
    for (const type of ['hrv', 'rhythm']) {
      const own = insights.filter((each) => each.type === type);
      const ends = own.map(({ actual_end }) => (actual_end - EPOCH) / 1000);
      expect(ends).to.deep.equal(Array.from({ length: ends.length }, (_, i) => (ends[0] ?? 0) + 10 * i));
      expect(ends[0]).to.be.within(30, 40);
      expect(ends.at(-1)).to.equal(SECONDS - 3);
      for (const { actual_start, actual_end, sdnn, pnn50 } of own) {
        expect(actual_end - actual_start).to.equal(60_000);
        expect([typeof sdnn, typeof pnn50]).to.deep.equal(Array(2).fill(type === 'hrv' ? 'number' : 'undefined'));
      }
    }
    for (const { type, sdnn } of insights) if (type !== 'hrv') expect(sdnn).to.equal(undefined);
  });

  it('are kept of an upload too', async () => {
    const frames: Buffer[] = [];
    for await (const frame of source.frames()) {
      const bytes = encodeFrame({ ...frame, ts: EPOCH + frame.ts });
      const length = Buffer.alloc(4);
      length.writeUInt32LE(bytes.length);
      frames.push(length, Buffer.from(bytes));
    }
    const query = new URLSearchParams({ device_id: 'uploaded', device_model_id: model });
    const answer = await fetch(`${service.url}/v1/uploads?${query}`, {
      ...{ method: 'POST', body: Buffer.concat(frames) },
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/octet-stream' },
    });
    const { session_id } = (await answer.json()) as { session_id: string };
    checkBeats(await get<Beat[]>(`/v1/sessions/${session_id}/beats`));
  });

  it('are not kept, and have no hrv and rhythm, for an account that is not entitled to them', async () => {
    await operator.entitle('vital', 'hr-ecg', 'hr-ppg', 'spo2-ratio');
    const { key } = await operator.issue('vital');
    const { body: own } = await service.call<{ id: string }>('POST', '/v1/device-models', source.deviceModel, key);
    const { socket, ready } = await connect(service, 'vital', own.id, key);
    await sendFrames(socket, source, EPOCH, 0, SECONDS);
    socket.send({ type: 'end' });
    await socket.until(({ type }) => type === 'ended');
    expect(await get(`/v1/sessions/${ready.session_id}/beats`, key)).to.deep.equal([]);
    const insights = await get<StoredInsight[]>(`/v1/sessions/${ready.session_id}/insights`, key);
    expect(new Set(insights.map(({ type }) => type))).to.deep.equal(new Set(['hr', 'spo2']));
  });

  it('are erased with their session', async () => {
    const [session] = await get<{ id: string }[]>('/v1/sessions?device_id=uploaded');
    await runAdmin({ DATA_DIR: folder.path }, ['session', 'delete', session?.id ?? '']);
    expect((await service.call('GET', `/v1/sessions/${session?.id}/beats`)).status).to.equal(404);
  });
});
