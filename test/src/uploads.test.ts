import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { encodeFrame } from '@device-insights/sdk';
import { simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { Operator } from './operator.js';
import { KEY, Running, temporaryFolder } from './running.js';
import type { RawSocket } from './socket.js';

import { connect, makeModel, sendFrames } from './wearable.js';

/** Start of the data. */
const EPOCH = Date.now() - 3_600_000;
const SECONDS = 60;
const MOST_BYTES = 64 * 1024 * 1024;

interface Upload {
  readonly session_id: string;
  readonly accepted: number;
  readonly refused: Record<string, number>;
  readonly errors: readonly { readonly frame: number; readonly code: string; readonly detail: string }[];
  readonly notices: readonly { readonly code: string; readonly insight?: string; readonly session_id?: string }[];
  readonly next_seq: Record<string, number>;
  readonly insights: Record<string, number>;
  readonly continues: readonly string[];
}

interface StoredInsight {
  readonly type: string;
  readonly value: number;
  readonly confidence: number;
  readonly actual_end: number;
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: Upload & { readonly detail: string };
}

/** A frame in a body, after its length. */
function framed(frame: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(frame.length);
  return Buffer.concat([length, frame]);
}

type SimulatedFrame = Pick<Parameters<typeof encodeFrame>[0], 'channel' | 'seq'> & { readonly ts: number };

/** The body of an upload with the data of these seconds. */
async function bodyOf(
  to = SECONDS,
  from = 0,
  stamp: (frame: SimulatedFrame) => number = ({ ts }) => EPOCH + ts,
): Promise<Buffer> {
  const frames: Buffer[] = [];
  for await (const frame of simulate().frames()) {
    if (frame.ts >= to * 1000) break;
    if (frame.ts >= from * 1000) frames.push(framed(encodeFrame({ ...frame, ts: stamp(frame) })));
  }
  return Buffer.concat(frames);
}

describe('An upload over HTTP', () => {
  const folder = temporaryFolder();
  const operator = new Operator({ DATA_DIR: folder.path });
  let service: Running;
  let model: string;
  let body: Buffer;
  let devices = 0;

  const start = () =>
    Running.start({ DATA_DIR: folder.path, METRICS_PORT: '0', SESSION_GRACE_MS: '5000', LOG_LEVEL: 'info' });

  before(async function () {
    this.timeout(120_000);
    [service, body] = await Promise.all([start(), bodyOf()]);
    model = await makeModel(service, simulate());
  });
  after(async () => {
    await service?.end('SIGKILL');
    folder.remove();
  });

  const newDevice = () => `upload-${++devices}`;

  function open(query: Record<string, string> = {}, headers: Record<string, string> = {}, key = KEY): ClientRequest {
    const given = new URLSearchParams({ device_id: newDevice(), device_model_id: model, ...query });
    const type = { 'content-type': 'application/octet-stream', authorization: `Bearer ${key}` };
    const sent = request(`${service.url}/v1/uploads?${given}`, { method: 'POST', headers: { ...type, ...headers } });
    sent.on('error', () => {});
    return sent;
  }

  async function answerTo(sent: ClientRequest): Promise<Answer> {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const { statusCode: status = 0, headers } = response;
    return { status, retryAfter: headers['retry-after'], body: JSON.parse(await text(response)) };
  }

  async function upload(bytes: Buffer, ...how: Parameters<typeof open>): Promise<Answer> {
    const sent = open(...how);
    sent.end(bytes);
    return answerTo(sent);
  }

  const stored = async (session: string) =>
    (await service.call<StoredInsight[]>('GET', `/v1/sessions/${session}/insights`)).body;
  /** Without what differs from session to session, in one order. */
  const readings = async (session: string) =>
    (await stored(session))
      .map(({ type, value, confidence, actual_end }) => ({ type, value, confidence, actual_end }))
      .sort((a, b) => a.actual_end - b.actual_end || a.type.localeCompare(b.type));
  const sessionOf = async (id: string) =>
    (await service.call<{ status: string; device_id: string }>('GET', `/v1/sessions/${id}`)).body;
  const lastSessionOf = async (device: string) =>
    (await service.call<{ id: string; status: string }[]>('GET', `/v1/sessions?device_id=${device}`)).body;

  async function bySocket(device: string): Promise<{ id: string; socket: RawSocket }> {
    const { socket, ready } = await connect(service, device, model);
    return { id: ready.session_id, socket };
  }

  it('has the insights of the same frames on a socket, and is answered when they are stored and published', async () => {
    const { id, socket } = await bySocket(newDevice());
    await sendFrames(socket, simulate(), EPOCH, 0, SECONDS);
    socket.send({ type: 'end' });
    await socket.until(({ type }) => type === 'ended');
    const answer = await upload(body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    const made = await readings(answer.body.session_id);
    expect(made).to.have.length.above(100);
    expect(made).to.deep.equal(await readings(id));
    const counts = Object.fromEntries(
      ['hr', 'hrv', 'rhythm', 'rr', 'spo2'].map((t) => [t, made.filter(({ type }) => type === t).length]),
    );
    expect(answer.body.insights).to.deep.equal(counts);
    expect(answer.body.refused).to.deep.equal({});
    expect(answer.body.continues).to.deep.equal([]);
    expect((await sessionOf(answer.body.session_id)).status).to.equal('closed');
  });

  it('names the frames that are refused, and goes on with the others', async () => {
    const bad = framed(Buffer.alloc(20));
    const answer = await upload(Buffer.concat([framed(Buffer.alloc(0)), bad, body, bad]));
    const { accepted, refused, errors } = answer.body;
    expect(answer.status).to.equal(201);
    expect(refused).to.deep.equal({ bad_length: 1, bad_version: 2 });
    expect(errors.map(({ frame, code }) => [frame, code])).to.deep.equal([
      [0, 'bad_length'],
      [1, 'bad_version'],
      [2 + accepted, 'bad_version'],
    ]);
    expect(answer.body.insights.hr).to.be.above(20);
  });

  it('refuses the frames whose ts go back after a first one without, and says what to do', async () => {
    const answer = await upload(await bodyOf(300, 0, ({ seq, ts }) => (seq === 0 ? Number.NaN : EPOCH + ts)));
    const { accepted, refused, errors, insights } = answer.body;
    expect(answer.status).to.equal(201);
    expect(Object.keys(refused)).to.deep.equal(['too_fast']);
    expect(refused.too_fast).to.be.above(50 * accepted);
    expect(errors[0]?.detail).to.include('with ts from the first frame');
    expect(insights).to.deep.equal({});
  });

  it('gives the notices that a socket would have got', async () => {
    const flat = Array.from({ length: 30 }, (_, second) =>
      framed(
        encodeFrame({
          channel: 0,
          seq: second * 50,
          ts: EPOCH + second * 1000,
          samples: new Float64Array(50).fill(7),
        }),
      ),
    );
    const { status, body: made } = await upload(Buffer.concat(flat));
    expect(status, JSON.stringify(made)).to.equal(201);
    expect(made.notices.map(({ code }) => code)).to.include('no_reading');
    expect(made.notices.filter(({ code, insight }) => code === 'no_reading' && insight === 'hr')).to.have.length.above(
      0,
    );
  });

  it('of a body that is not framed is refused with 400, and keeps the frames before the fault', async () => {
    const huge = Buffer.from('{"type":"samples","channel":0,"seq":0,"samples":[1,2,3]}');
    const cases: [string, Buffer, RegExp, boolean][] = [
      ['text', huge, /frame 0 .*at most 65536.*u32/, false],
      ['too long', Buffer.concat([body, huge]), /at most 65536.* accepted before are in session/, true],
      ['cut', body.subarray(0, -3), /ends within it.* accepted before are in session/, true],
      ['empty', Buffer.alloc(0), /frame 0 .*ends within it/, false],
      ['cut length', Buffer.concat([body, Buffer.alloc(2)]), /ends within it/, true],
    ];
    for (const [name, bytes, says, hasData] of cases) {
      const answer = await upload(bytes);
      expect(answer.status, name).to.equal(400);
      expect(answer.body.detail, name).to.match(says);
      const session = /in session (\S+)$/.exec(answer.body.detail)?.[1];
      expect(session !== undefined, name).to.equal(hasData);
      if (!session) continue;
      expect((await sessionOf(session)).status, name).to.equal('closed');
      expect((await readings(session)).length, name).to.be.above(100);
    }
  });

  it('needs the type of binary data, one key, and the parameters of the socket', async () => {
    const cases: [number, Record<string, string>, Record<string, string>][] = [
      [400, {}, { 'content-type': 'application/json' }],
      [400, {}, { 'content-encoding': 'gzip' }],
      [400, { api_key: KEY }, {}],
      [400, { device_id: '' }, {}],
      [400, { device_model_id: 'x' }, {}],
      [400, { clock: 'x' }, {}],
      [404, { device_model_id: '00000000-0000-4000-8000-000000000000' }, {}],
      [401, {}, { authorization: '' }],
    ];
    for (const [status, query, headers] of cases) {
      const answer = await upload(body, query, headers);
      expect(answer.status, JSON.stringify([query, headers])).to.equal(status);
      expect(answer.body.detail).to.be.a('string');
    }
  });

  it('needs the permission stream, and a device model of the account', async () => {
    const { key: reader } = await operator.issue('default', '--permissions', 'read,manage');
    const { key: streamer } = await operator.issue('default', '--permissions', 'stream');
    const { key: foreign } = await operator.issue('another');
    const refused = await upload(body, {}, {}, reader);
    expect([refused.status, refused.body.detail.includes('"stream"')]).to.deep.equal([403, true]);
    expect((await upload(body, {}, {}, foreign)).status).to.equal(403);
    expect((await upload(body, {}, {}, streamer)).status).to.equal(201);
  });

  it('of more than 64 MiB is refused with 413: at once if it says so, otherwise while it streams', async () => {
    const announced = open({}, { 'content-length': String(MOST_BYTES + 1) });
    announced.flushHeaders();
    expect((await answerTo(announced)).status).to.equal(413);
    announced.destroy();

    const device = newDevice();
    const streamed = open({ device_id: device });
    const answer = answerTo(streamed);
    let answered = false;
    void answer.then(() => {
      answered = true;
    });
    const chunk = Buffer.concat(Array.from({ length: 16 }, () => framed(Buffer.alloc(65_532))));
    const valid = framed(encodeFrame({ channel: 0, seq: 0, ts: EPOCH, samples: Float64Array.of(1, 2, 3) }));
    let sent = 0;
    while (!answered && sent < MOST_BYTES + 4 * chunk.length) {
      sent += chunk.length + valid.length;
      streamed.write(valid);
      if (!streamed.write(chunk)) await Promise.race([once(streamed, 'drain'), answer]);
    }
    const { status } = await answer;
    expect(status).to.equal(413);
    expect(sent).to.be.above(MOST_BYTES);
    streamed.destroy();
  });

  it('with the key of an earlier one gets its answer again, and another device or body gets 409', async () => {
    const headers = { 'idempotency-key': 'once' };
    const device = newDevice();
    const [first, again] = [
      await upload(body, { device_id: device }, headers),
      await upload(body, { device_id: device }, headers),
    ];
    expect(first.status).to.equal(201);
    expect(again).to.deep.equal(first);
    expect(await lastSessionOf(device)).to.have.length(1);
    expect((await upload(body, {}, headers)).status).to.equal(409);
    const other = await upload(await bodyOf(SECONDS / 2), { device_id: device }, headers);
    expect(other.status).to.equal(409);
    expect(other.body.detail).to.include('use a new key');
    expect(await lastSessionOf(device)).to.have.length(1);
  });

  it('that broke off can be repeated with its key: its session is closed, and no reading is stored twice', async () => {
    const headers = { 'idempotency-key': 'broken' };
    const device_id = newDevice();
    for (const part of [0.5, 0.7]) {
      const broken = open({ device_id }, { ...headers, 'content-length': String(body.length) });
      broken.write(body.subarray(0, body.length * part));
      await eventually('readings are stored', async () => {
        const [session] = await lastSessionOf(device_id);
        return session?.status === 'open' && (await stored(session.id)).length > 0;
      });
      broken.destroy();
      await eventually('the session is closed', async () => (await lastSessionOf(device_id))[0]?.status === 'closed');
    }
    const answer = await upload(body, { device_id }, headers);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    const { session_id, continues, notices } = answer.body;
    expect(continues).to.have.length(2);
    expect(notices.map(({ code }) => code)).to.include('already_stored');
    const parts = await Promise.all([...continues, session_id].map(readings));
    for (const made of parts) expect(made.length).to.be.above(0);
    const whole = await readings((await upload(body)).body.session_id);
    const ends = (all: typeof whole) => all.map(({ type, actual_end }) => `${type} ${actual_end}`).sort();
    expect(ends(parts.flat())).to.deep.equal(ends(whole));
  });

  it('does not end the session of a device that streams: 409', async () => {
    const device_id = newDevice();
    const { socket, id } = await bySocket(device_id);
    const answer = await upload(body, { device_id });
    expect([answer.status, answer.retryAfter]).to.deep.equal([409, '60']);
    expect(answer.body.detail).to.include('open session');
    socket.send({ type: 'ping', t: 1 });
    expect(await socket.next()).to.include({ type: 'pong' });
    socket.send({ type: 'end' });
    expect(await socket.until(({ type }) => type === 'ended')).to.include({ session_id: id });
    expect((await upload(body, { device_id })).status).to.equal(201);
  });

  it('is ended by a socket of the same device, which gets a session of its own', async () => {
    const device_id = newDevice();
    const sent = open({ device_id });
    sent.write(body);
    await eventually('it has a session', async () => (await lastSessionOf(device_id)).length === 1);
    const [{ socket, id }, answer] = await Promise.all([bySocket(device_id), answerTo(sent)]);
    expect(answer.status).to.equal(409);
    const sessions = await lastSessionOf(device_id);
    expect(sessions.map(({ status }) => status)).to.have.members(['open', 'closed']);
    expect(sessions.find(({ status }) => status === 'open')?.id).to.equal(id);
    socket.close();
  });

  it('ends with 401 when its key is revoked', async () => {
    const { key, id } = await operator.issue('default');
    const device_id = newDevice();
    const sent = open({ device_id }, {}, key);
    sent.write(body);
    await eventually('it has a session', async () => (await lastSessionOf(device_id)).length === 1);
    const answer = answerTo(sent);
    await operator.revoke(id);
    expect((await answer).status).to.equal(401);
    await eventually('the session is closed', async () => (await lastSessionOf(device_id))[0]?.status === 'closed');
  });

  /** Sends the first half of the body, until readings of it are stored. */
  async function sendHalf(query: { device_id: string }, headers: Record<string, string>) {
    const sent = open(query, headers);
    sent.write(body.subarray(0, body.length / 2));
    await eventually('readings are stored', async () => {
      const [session] = await lastSessionOf(query.device_id);
      return session !== undefined && (await stored(session.id)).length > 0;
    });
    return sent;
  }

  /** The answer names two sessions without doubled readings; returns the readings. */
  async function expectTwoParts({ status, body }: Awaited<ReturnType<typeof upload>>): Promise<string[]> {
    expect(status).to.equal(201);
    const parts = await Promise.all([...body.continues, body.session_id].map(readings));
    expect(parts).to.have.length(2);
    const ends = parts.flat().map(({ type, actual_end }) => `${type} ${actual_end}`);
    expect(new Set(ends).size).to.equal(ends.length);
    return ends;
  }

  it('is refused with 503 by a service that shuts down, and repeated afterwards without doubled readings', async () => {
    const headers = { 'idempotency-key': 'drained' };
    const device_id = newDevice();
    const sent = await sendHalf({ device_id }, headers);
    const [answer] = await Promise.all([answerTo(sent), service.end('SIGTERM')]);
    expect([answer.status, answer.retryAfter]).to.deep.equal([503, '30']);
    service = await start();
    expect((await lastSessionOf(device_id))[0]?.status).to.equal('closed');
    const again = await upload(body, { device_id }, headers);
    await expectTwoParts(again);
  });

  it('that a crash broke off is refused with 409 for a while, then repeated without doubled readings', async function () {
    this.timeout(120_000);
    const headers = { 'idempotency-key': 'crashed' };
    const device_id = newDevice();
    await sendHalf({ device_id }, headers);
    await service.end('SIGKILL');
    service = await start();
    let answer = await upload(body, { device_id }, headers);
    expect(answer.status).to.equal(409);
    expect(answer.retryAfter).to.be.a('string');
    const isAnswered = async () => {
      answer = await upload(body, { device_id }, headers);
      return answer.status !== 409;
    };
    await eventually('the broken request counts as dead', isAnswered, 90_000);
    const ends = await expectTwoParts(answer);
    const whole = await readings((await upload(body)).body.session_id);
    expect(ends.length).to.equal(whole.length);
  });
});
