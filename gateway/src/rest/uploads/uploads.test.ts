import { createHash } from 'node:crypto';
import { CLOSE, type CloseReason } from '@device-insights/contract/close-codes';
import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import { CloseError } from '../../errors.js';
import { MAX_UPLOAD_BYTES, type TakeUpload, type UploadResult } from '../../upload.js';
import { detailOf, TestServer } from '../rest-server.fixture.js';

const hashOf = (body: string | Uint8Array) => createHash('sha256').update(body).digest('hex');

const RESULT: UploadResult = {
  sessionId: '7b0f6a5e-3c52-4f0e-9d55-6d1f2f0f4a11',
  bodyHash: hashOf('frames'),
  accepted: 1,
  refused: new Map([['bad_length', 1]]),
  errors: [{ frame: 0, code: 'bad_length', detail: 'too short' }],
  notices: [],
  nextSeq: { 0: 3 },
  insights: {},
  continues: [],
};
const BUSY = new CloseError('takenOver', 'the device has an open session');

describe('POST /v1/uploads', () => {
  const clock = new ManualClock(Date.now());
  let server: TestServer;
  let key: string;
  let take: TakeUpload;

  before(async () => {
    server = await TestServer.start(() => ({ clock, upload: (...request) => take(...request) }));
    ({ key } = await server.tenant());
  });
  after(() => server.stop());

  const post = (headers: Record<string, string> = {}, body: Uint8Array = Buffer.from('frames')) =>
    server.request('POST', '/v1/uploads?device_id=band', key, body, {
      'content-type': 'application/octet-stream',
      ...headers,
    });

  it('answers with what became of the frames', async () => {
    take = async () => RESULT;
    const { status, json } = await post();
    const { sessionId: session_id, nextSeq: next_seq, bodyHash: _, ...same } = RESULT;
    expect(status).to.equal(201);
    expect(json).to.deep.equal({ ...same, session_id, next_seq, refused: { bad_length: 1 } });
  });

  it('has a status for each reason for which a socket is closed', async () => {
    const statuses: Record<string, [number, string | null]> = {};
    for (const reason of Object.keys(CLOSE) as CloseReason[]) {
      take = () => Promise.reject(new CloseError(reason, `because of ${reason}`));
      const answer = await post();
      expect(detailOf(answer)).to.equal(`because of ${reason}`);
      statuses[reason] = [answer.status, answer.headers.get('retry-after')];
    }
    const { normal, ...failures } = statuses;
    expect(failures).to.deep.equal({
      tooLarge: [413, null],
      restarting: [503, '30'],
      overloaded: [503, '30'],
      badRequest: [400, null],
      authenticationFailed: [401, null],
      forbidden: [403, null],
      unknownModel: [404, null],
      takenOver: [409, '60'],
      tooManyDevices: [409, null],
    });
  });

  it('with the key of an earlier one gets its answer again for the same body, and 409 for any other', async () => {
    const headers = { 'idempotency-key': 'compared' };
    const long = Buffer.alloc(MAX_UPLOAD_BYTES, 7);
    take = async (request) => {
      request.resume();
      return { ...RESULT, bodyHash: hashOf(long) };
    };
    const { text } = await post(headers, long);
    take = () => expect.fail('it is taken again');
    expect((await post(headers, long)).text).to.equal(text);
    for (const other of [Buffer.from('frames'), long.subarray(1), Buffer.concat([long, Buffer.alloc(1)])]) {
      const answer = await post(headers, other);
      expect(answer.status).to.equal(409);
      expect(detailOf(answer)).to.contain('a different body');
    }
    expect((await post(headers, long)).status).to.equal(201);
  });

  it('remembers the answer of one that ran for minutes, though a repeat came meanwhile', async () => {
    const headers = { 'idempotency-key': 'long' };
    let finish: (result: UploadResult) => void = () => expect.fail('it has not begun');
    const begun = new Promise<void>((resolve) => {
      take = () => {
        resolve();
        return new Promise((answer) => {
          finish = answer;
        });
      };
    });
    const first = post(headers);
    await begun;
    clock.advance(60_000);
    take = () => Promise.reject(BUSY);
    expect((await post(headers)).status).to.equal(409);
    clock.advance(60_000);
    finish(RESULT);
    const { status, text } = await first;
    expect(status).to.equal(201);
    expect((await post(headers)).text).to.equal(text);
  });
});
