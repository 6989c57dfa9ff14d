import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { IncomingMessage, type RequestListener, type Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import {
  allowLongBody,
  close,
  connectionLimit,
  createHttpServer,
  type HttpServerOptions,
  listen,
  pathOf,
  portOf,
} from './http-server.js';
import { silentLog } from './log.fixture.js';
import { registerDrops } from './operations.js';
import { PendingSockets } from './pending-sockets.js';
import { Raw, upgradeOf } from './raw.fixture.js';
import { until } from './until.fixture.js';

const hello: RequestListener = (_request, response) => response.end('hello');
const NO_HTTP = '\x16\x03\x01\r\n\r\n';

/** The IPv4 connections of Linux. */
const TCP_TABLE = '/proc/net/tcp';

/** Of the connections that were accepted at a port and wait for their next keep-alive probe, the time to it, ms. */
function probeTimers(port: number): number[] {
  const place = new RegExp(`^ *\\d+: \\w+:${port.toString(16).toUpperCase().padStart(4, '0')} \\S+ 01 \\S+ 02:(\\w+) `);
  const lines = readFileSync(TCP_TABLE, 'utf8').split('\n');
  return lines.flatMap((line) => place.exec(line)?.[1] ?? []).map((hundredths) => Number.parseInt(hundredths, 16) * 10);
}

describe('the HTTP server', () => {
  let server: Server;
  let warned: string[];
  let clients: Raw[];

  async function start(handle = hello, options: Partial<HttpServerOptions> = {}): Promise<void> {
    warned = [];
    clients = [];
    const warn = (_fields: object, text: string) => void warned.push(text);
    server = createHttpServer(handle, { ...silentLog, warn, error: warn }, options);
    await listen(server, '127.0.0.1', 0, 'PORT');
  }

  afterEach(async () => {
    for (const { socket } of clients) socket.destroy();
    await close(server);
  });

  async function open(sent = ''): Promise<Raw> {
    const client = await Raw.open(portOf(server), sent);
    clients.push(client);
    return client;
  }

  const connections = () =>
    new Promise<number>((resolve, reject) => {
      server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });

  /** Resolves once the server has no connection, though no client has closed its side. */
  const freed = () => until(async () => (await connections()) === 0);

  for (const [what, sent, status] of [
    ['what is no HTTP', NO_HTTP, 400],
    ['headers that are too long', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['the upgrade of another path', upgradeOf('/x'), 404],
    ['the offer of another protocol', upgradeOf('/stream').replace('websocket', 'h2c'), 400],
    ['the upgrade of a path that is like one of ours', upgradeOf('/stream/'), 404],
  ] as const) {
    it(`answers ${what} with ${status}, and frees the descriptor although the peer never closes`, async () => {
      await start(hello, { upgrades: new Map([['/stream', () => expect.fail('no socket of ours')]]) });
      const answer = await (await open(sent)).ended;
      expect(answer)
        .to.match(new RegExp(`^HTTP/1.1 ${status} `))
        .and.to.match(/\r\nX-Request-Id: [0-9a-f-]{36}\r\n/);
      expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).to.have.all.keys('detail');
      await freed();
    });
  }

  for (const [what, sent] of [
    ['nothing', ''],
    ['half a header', 'GET / HTTP/1.1\r\nHost'],
    ['half a body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{'],
  ] as const) {
    it(`answers ${what} with 408 in time, and frees the descriptor although the peer never closes`, async () => {
      await start((request) => request.resume());
      Object.assign(server, { headersTimeout: 200, requestTimeout: 300 });
      expect(await (await open(sent)).ended).to.match(/^HTTP\/1.1 408 /);
      await freed();
    });
  }

  it('lets a long body take longer than other requests, and closes the connection if it goes on after its answer', async () => {
    const sent = 'POST /long HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n1';
    await start((request, response) => {
      if (request.url === '/long') allowLongBody(request, response);
      request.on('data', (part) => String(part) === '2' && response.end('enough'));
    });
    Object.assign(server, { headersTimeout: 200, requestTimeout: 300 });
    const long = await open(sent);
    expect(await (await open(sent.replace('/long', '/other'))).ended).to.match(/^HTTP\/1.1 408 /);
    long.socket.write('2');
    expect(await long.ended).to.match(/\r\n\r\nenough$/);
    await freed();
  });

  it('has its own time limits instead of the five minutes of Node', async () => {
    await start();
    const { headersTimeout, requestTimeout, keepAliveTimeout, timeout } = server;
    expect({ headersTimeout, requestTimeout, keepAliveTimeout, timeout }).to.deep.equal({
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      keepAliveTimeout: 5000,
      timeout: 60_000,
    });
  });

  it('lets TCP probe a connection that has been silent for a minute: a peer that vanished does not close', async function () {
    if (!existsSync(TCP_TABLE)) this.skip();
    await start();
    const accepted = once(server, 'connection');
    await open();
    await accepted;
    expect(probeTimers(portOf(server))[0]).to.be.within(50_000, 60_000);
  });

  it('sends no refusal into an answer that has begun', async () => {
    await start((_request, response) => response.writeHead(200, { 'Content-Length': 10 }).write('begun'));
    const client = await open('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await client.first();
    client.socket.write(NO_HTTP);
    expect(await client.ended).to.match(/\r\n\r\nbegun$/);
    await freed();
  });

  for (const [what, sent] of [
    ['what is no HTTP', NO_HTTP],
    ['the upgrade of another path', upgradeOf('/x')],
    ['the upgrade of its own path', upgradeOf('/stream')],
    ['the offer of another protocol', 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'],
  ] as const) {
    it(`disconnects if ${what} comes before the answer to an earlier request, and is not mistaken for that answer`, async () => {
      const upgrades = new Map([['/stream', (_: unknown, socket: Duplex) => void socket.end('no answer to the POST')]]);
      await start((request) => request.resume(), { upgrades });
      const post = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}';
      expect(await (await open(post + sent)).ended).to.equal('');
      await freed();
    });
  }

  for (const [what, line, status] of [
    ['without Host', '', 400],
    ['with an expectation that it does not know', 'Host: x\r\nExpect: 200-maybe\r\n', 417],
  ] as const)
    it(`answers a request ${what} with ${status}, in the form of all errors`, async () => {
      await start();
      const answer = await (await open(`GET / HTTP/1.1\r\n${line}\r\n`)).ended;
      expect(answer)
        .to.match(new RegExp(`^HTTP/1.1 ${status} `))
        .and.to.match(/\r\nX-Request-Id: [0-9a-f-]{36}\r\n/);
      expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).to.have.all.keys('detail');
    });

  it('serves HTTP/1.0, which has no Host, and disconnects a client that takes it for a proxy', async () => {
    await start();
    expect(await (await open('GET / HTTP/1.0\r\n\r\n')).ended).to.match(/^HTTP\/1.1 200 /);
    expect(await (await open('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n')).ended).to.equal('');
  });

  it('disconnects a peer that floods it with data that are not HTTP', async () => {
    await start();
    const client = await open(NO_HTTP.repeat(100_000));
    expect(await client.ended).to.match(/^HTTP\/1.1 400 /);
    await freed();
  });

  it('closes connections beyond the limit, counts them, logs it once, and serves the existing ones', async () => {
    await start(hello, { most: 3 });
    const registry = new Registry();
    registerDrops(registry, server);
    const first = await open();
    await Promise.all([open(), open()]);
    const more = await Promise.all(Array.from({ length: 20 }, () => open()));
    expect(await Promise.all(more.map(({ ended }) => ended))).to.deep.equal(Array(20).fill(''));
    expect(warned)
      .to.have.length(1)
      .and.to.match(/too many connections/);
    expect(await registry.metrics()).to.match(/_connections_dropped_total 20$/m);
    first.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await first.first()).to.match(/^HTTP\/1.1 200 /);
  });

  it('continues if a connection cannot be accepted', async () => {
    await start();
    for (let n = 0; n < 3; n++) server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }));
    expect(new Set(warned)).to.have.lengthOf(1);
    expect(await (await open('GET / HTTP/1.1\r\nHost: x\r\n\r\n')).first()).to.match(/^HTTP\/1.1 200 /);
  });

  it('refuses upgrades with 503 while too many wait, logs it, and accepts them again when one has left', async () => {
    const pending = new PendingSockets<object>({ warn: (_fields, text) => void warned.push(text) }, 2);
    let taken = 0;
    const one = {};
    await start(hello, {
      upgrades: new Map([
        [
          '/stream',
          (_request, socket) => {
            if (pending.refuseIfFull(socket)) return;
            pending.add(taken++ === 0 ? one : socket);
            socket.once('end', () => socket.destroy()).resume();
          },
        ],
      ]),
    });
    await Promise.all([open(upgradeOf('/stream')), open(upgradeOf('/stream'))]);
    await until(() => taken === 2);
    for (let n = 0; n < 3; n++) expect(await (await open(upgradeOf('/stream'))).ended).to.match(/^HTTP\/1.1 503 /);
    expect(new Set(warned)).to.have.lengthOf(1);
    pending.delete(one);
    await open(upgradeOf('/stream'));
    await until(() => taken === 3);
  });

  it('reads the path of a target, also if it is a whole URL', () => {
    const paths = [
      ...[
        ['/a/b?c=/d', '/a/b'],
        ['http://x/a/b?c=d', '/a/b'],
        ['ws://x:80/a', '/a'],
        ['HTTPS://x?a', '/'],
      ],
      ...[
        ['*', '*'],
        ['/http://x/a', '/http://x/a'],
        ['//x/a', '//x/a'],
        ['', '/'],
      ],
    ];
    for (const [url = '', path] of paths) {
      expect(pathOf(Object.assign(new IncomingMessage(new Socket()), { url })), url).to.equal(path);
    }
  });

  it('passes on the upgrade of a whole URL', async () => {
    const upgrades = new Map([['/stream', (_: unknown, socket: Duplex) => void socket.end('taken')]]);
    await start(hello, { upgrades });
    expect(await (await open(upgradeOf('http://x/stream?a=b'))).ended).to.equal('taken');
  });

  it('leaves descriptors for the rest of the process', () => {
    expect([20, 512, 20_000, 1_048_576, Number.POSITIVE_INFINITY].map(connectionLimit)).to.deep.equal([
      ...[10, 256, 19_744, 50_000, 50_000],
    ]);
  });

  it('says why it cannot listen, and what to do', async () => {
    await start();
    const port = portOf(server);
    const refusal = await listen(createHttpServer(hello, silentLog), '127.0.0.1', port, 'PORT').catch(String);
    expect(refusal).to.include(`127.0.0.1:${port}: another process listens on this port`).and.to.include('PORT');
    const other = await listen(createHttpServer(hello, silentLog), '192.0.2.1', 0, 'PORT').catch(String);
    expect(other).to.include('set HOST');
    const bracketed = await listen(createHttpServer(hello, silentLog), '[::1]', 0, 'PORT').catch(String);
    expect(bracketed).to.include('without brackets');
  });

  it('closes the connection in time if a body continues after its answer', async () => {
    await start();
    Object.assign(server, { requestTimeout: 300 });
    const client = await open('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{');
    const [socket] = await once(server, 'request').then(([request]) => [request.socket]);
    expect(await client.first()).to.match(/^HTTP\/1.1 200 /);
    await once(socket, 'close');
  });
});
