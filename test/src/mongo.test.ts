import { startTestMongo, type TestMongo } from '@device-insights/gateway/test-mongo';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { wholePath } from './path.fixture.js';
import { Running, run } from './running.js';
import { connect, makeModel, sendFrames } from './wearable.js';

describe('with MongoDB', () => {
  let mongo: TestMongo;

  before(async function () {
    this.timeout(600_000);
    mongo = await startTestMongo();
  });
  after(() => mongo?.stop());

  wholePath('on MongoDB', () => ({ MONGODB_URI: mongo.uri('path') }));

  it('says what to check where no server belongs to the replica set', async () => {
    const uri = new URL(mongo.uri('set'));
    uri.searchParams.set('replicaSet', 'another');
    uri.searchParams.set('socketTimeoutMS', '10000'); // How long it looks for one.
    const { code, stdout } = await run('gateway/dist/package/check.js', [], { PORT: '0', MONGODB_URI: uri.href });
    expect(code).to.equal(1);
    expect(stdout).to.match(
      /^store: FAILED: .+ no server belongs to the replica set another: check replicaSet in MONGODB_URI$/m,
    );
  });

  describe('two gateways', () => {
    let gateways: Running[] = [];
    afterEach(async () => {
      for (const gateway of gateways) await gateway.end('SIGKILL');
    });

    it('hand over a session: the older connection closes with 4009, and the newer one continues it', async () => {
      const env = { MONGODB_URI: mongo.uri('pair') };
      gateways = [await Running.start(env), await Running.start(env)];
      const [one, two] = gateways as [Running, Running];
      const source = simulate({ seconds: 20 });
      const modelId = await makeModel(one, source);
      const epoch = Date.now() - 20_000;
      const first = await connect(one, 'wanderer', modelId);
      await sendFrames(first.socket, source, epoch, 0, 8);
      await first.socket.until((m) => m.type === 'ack');
      const second = await connect(two, 'wanderer', modelId);
      expect(second.ready).to.include({ resumed: true, session_id: first.ready.session_id, replay_ms: 60_000 });
      expect(await first.socket.closed()).to.include({ code: 4009 });
      await sendFrames(second.socket, source, epoch, 0, 14);
      second.socket.send({ type: 'end' });
      await second.socket.until((m) => m.type === 'ended');
      const { body } = await two.call<{ type: string; actual_end: number }[]>(
        'GET',
        `/v1/sessions/${first.ready.session_id}/insights`,
      );
      const ends = body.filter((i) => i.type === 'hr').map((i) => i.actual_end);
      expect(ends).to.deep.equal(Array.from({ length: 11 }, (_, i) => (ends[0] ?? 0) + 1000 * i));
    });
  });
});
