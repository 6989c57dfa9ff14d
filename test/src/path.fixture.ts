import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { Running, type Running as Service, temporaryFolder } from './running.js';
import { connect, makeModel, sendFrames, subscribe } from './wearable.js';

interface Stored {
  readonly type: string;
  readonly ts: number;
  readonly actual_start: number;
  readonly actual_end: number;
  readonly e2e_latency_ms: number;
  readonly value: number;
}

/** Collects live insights of a session until `count` have arrived. */
async function live(socket: Awaited<ReturnType<typeof subscribe>>, count: number): Promise<Record<string, unknown>[]> {
  const insights: Record<string, unknown>[] = [];
  while (insights.length < count) insights.push(await socket.next());
  return insights;
}

/** The path from a device's bytes to a subscriber's message, on a service with this environment. */
export function wholePath(name: string, environment: () => Record<string, string>): void {
  describe(`the whole path, ${name}`, () => {
    const folder = temporaryFolder();
    const source = simulate({ seconds: 20, hr: 66, spo2: 96, rr: 14 });
    let service: Service;
    let modelId = '';

    before(async () => {
      service = await Running.start({ DATA_DIR: folder.path, ...environment() });
      modelId = await makeModel(service, source);
    });
    after(async () => {
      await service?.end('SIGKILL');
      folder.remove();
    });

    it('brings the insights of a device to a subscriber, to the store and to REST', async () => {
      const app = await subscribe(service);
      const { socket, ready } = await connect(service, 'path-1', modelId);
      await sendFrames(socket, source, Date.now() - 20_000, 0, 20);
      socket.send({ type: 'end' });
      await socket.until((m) => m.type === 'ended');
      expect(await socket.closed()).to.include({ code: 1000 });
      const { body: stored } = await service.call<Stored[]>('GET', `/v1/sessions/${ready.session_id}/insights`);
      const seen = await live(app, stored.length);
      app.close();
      const identity = (i: { type?: unknown; ts?: unknown }) => `${i.type} ${i.ts}`;
      expect(seen.map(identity)).to.have.members(stored.map(identity));
      expect(Object.keys(seen[0] ?? {})).to.have.members([
        'type',
        'value',
        'unit',
        'ts',
        'session_id',
        'device_id',
        'confidence',
        'sqi_class',
      ]);
      expect(stored.filter((i) => i.type === 'hr')).to.have.length(17);
      for (const i of stored) expect(i.e2e_latency_ms).to.equal(i.ts - i.actual_end);
      expect(stored.filter((i) => i.type === 'hr').at(-1)?.value).to.be.closeTo(66, 3);
      expect(stored.filter((i) => i.type === 'spo2').at(-1)?.value).to.be.closeTo(96, 2);
    });

    it('resumes the session of a device that reconnects', async () => {
      const epoch = Date.now() - 20_000;
      const first = await connect(service, 'path-2', modelId);
      await sendFrames(first.socket, source, epoch, 0, 6);
      await first.socket.until((m) => m.type === 'ack');
      first.socket.close();
      await first.socket.closed();
      const second = await connect(service, 'path-2', modelId);
      expect(second.ready).to.include({ resumed: true, session_id: first.ready.session_id, replay_ms: 0 });
      await sendFrames(second.socket, source, epoch, 6, 12);
      second.socket.send({ type: 'end' });
      await second.socket.until((m) => m.type === 'ended');
      const { body } = await service.call<Stored[]>('GET', `/v1/sessions/${first.ready.session_id}/insights`);
      const ends = body.filter((i) => i.type === 'hr').map((i) => i.actual_end - (body[0]?.actual_end ?? 0));
      expect(ends).to.deep.equal([0, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000]);
    });

    it('closes the older connection of a device with 4009', async () => {
      const first = await connect(service, 'path-3', modelId);
      const second = await connect(service, 'path-3', modelId);
      expect(await first.socket.closed()).to.include({ code: 4009 });
      expect(second.ready).to.include({ resumed: true });
      second.socket.close();
    });

    it('is healthy', async () => {
      const response = await fetch(`${service.url}/v1/stream/health`);
      expect(await response.json()).to.deep.equal({ ok: true, ingest: true, subscribe: true });
    });
  });
}
