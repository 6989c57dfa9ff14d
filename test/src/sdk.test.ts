import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CLOSE } from '@device-insights/contract/close-codes';
import { INSIGHT_TYPES } from '@device-insights/contract/insight-types';
import { portOf } from '@device-insights/fanout/platform/http-server';
import { HTTP_ERRORS } from '@device-insights/gateway/test-errors';
import { DeviceInsights, mayReconnect } from '@device-insights/sdk';
import { play, simulate } from '@device-insights/sdk/simulator';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { WebSocketServer } from 'ws';
import { launchChromium } from './chromium.js';
import { KEY, Running, temporaryFolder } from './running.js';
import { registered } from './server-process.js';

const execute = promisify(execFile);
const SDK = fileURLToPath(new URL('../../sdk/', import.meta.url));
const README = readFileSync(join(SDK, 'README.md'), 'utf8');

/** The examples of the README, by the heading above them. */
const EXAMPLES = new Map(
  [...README.matchAll(/^## (.+)$[\s\S]*?```js\n([\s\S]*?)```/gm)].map(([, title = '', code = '']) => [title, code]),
);

describe('the SDK, installed in a project', () => {
  const project = temporaryFolder();
  const data = temporaryFolder();
  let service: Running;
  let client: DeviceInsights;

  before(async () => {
    service = await Running.start({ DATA_DIR: data.path });
    client = new DeviceInsights({ baseUrl: service.url, apiKey: KEY });
    writeFileSync(join(project.path, 'package.json'), '{"private":true,"type":"module"}');
    // With its packed files, not by a link to the folder.
    await execute('npm', ['install', '--offline', '--no-audit', '--no-fund', '--install-links', SDK], {
      cwd: project.path,
    });
    symlinkSync(
      fileURLToPath(new URL('../../node_modules/ws', import.meta.url)),
      join(project.path, 'node_modules/ws'),
    );
  });
  after(async () => {
    await service.end('SIGKILL');
    project.remove();
    data.remove();
  });

  /** Streams the simulator for twelve seconds of data, at once. */
  async function streamSome(deviceId: string, startTime = Date.now() - 12_000): Promise<void> {
    const source = simulate({ seconds: 12 });
    const { id } = await client.deviceModels.create(source.deviceModel);
    const device = client.device({ deviceId, deviceModelId: id });
    await play(source, device, { speed: Number.POSITIVE_INFINITY, startTime });
    await device.end();
  }

  /** Runs an example of the README in the project, against this service; `until` is repeated while it runs. */
  async function example(title: string, until?: () => Promise<void>): Promise<string> {
    const code = (EXAMPLES.get(title) ?? '').replaceAll('http://localhost:8080', service.url).replaceAll('svc_…', KEY);
    writeFileSync(join(project.path, 'example.js'), code);
    const child = registered(
      spawn(process.execPath, ['example.js'], { cwd: project.path, stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    const output = text(child.stdout);
    const ended = once(child, 'close');
    while (until && child.exitCode === null) await until();
    expect((await ended)[0]).to.equal(0);
    return output;
  }

  describe('runs the examples of its README:', () => {
    it('there are five', () => {
      expect([...EXAMPLES.keys()]).to.deep.equal([
        'Live readings',
        'A device',
        'Stored insights',
        'Errors',
        'Recordings and the simulator',
      ]);
    });

    it('live readings', async () => {
      expect(await example('Live readings', () => streamSome('readme-1'))).to.match(
        /^readme-1 hr [\d.]+ bpm (acceptable|excellent)$/m,
      );
    });

    it('a device', async () => {
      expect(await example('A device')).to.contain('framesSent: 100');
    });

    it('stored insights', async () => {
      await streamSome('readme-2');
      expect(await example('Stored insights')).to.match(/\d sessions\n(\d{4}-\d\d-\d\dT\S+Z (–|\d+(\.\d)?)\n){5,}$/);
    });

    it('errors', async () => {
      expect(await example('Errors')).to.match(/^404 .+ [\w-]+\n$/);
    });

    it('recordings and the simulator', async () => {
      expect(await example('Recordings and the simulator')).to.equal('{ hr: 66, rr: 14, spo2: 95 }\n');
      const [session] = (await client.sessions.list({ limit: 1 })).data;
      expect(session).to.include({ device_id: 'simulator-1', status: 'closed' });
    });
  });

  it('reconnects after exactly the close codes that the service documents as temporary', () => {
    for (const { code, reconnect } of Object.values(CLOSE)) expect(mayReconnect(code), `${code}`).to.equal(reconnect);
  });

  it('subscribes to every type of insight that the service has', () => {
    client.live.subscribe({ types: INSIGHT_TYPES }).close();
  });

  it('repeats exactly the requests whose errors the service documents as temporary', async () => {
    for (const { status, retry } of Object.values(HTTP_ERRORS)) {
      let attempts = 0;
      const refused = new DeviceInsights({
        baseUrl: service.url,
        apiKey: KEY,
        retries: 1,
        backoff: { baseMs: 1 },
        fetch: async () => {
          attempts += 1;
          return Response.json({ detail: 'refused' }, { status });
        },
      });
      await refused.algos.list().catch(() => {});
      expect(attempts > 1, `${status}`).to.equal(retry);
    }
  });

  it('streams all data that were pushed before it was connected, even if end() follows at once', async () => {
    const source = simulate({ seconds: 12 });
    const { id } = await client.deviceModels.create(source.deviceModel);
    const device = client.device({ deviceId: 'early', deviceModelId: id });
    const begun = Date.now() - 12_000;
    for (const { channel, ts, samples } of source.frames()) device.push(channel, samples, begun + ts);
    await device.end();
    const insights = await client.sessions.insights((await device.ready()).session_id);
    expect(Math.max(...insights.map(({ actual_end }) => actual_end))).to.equal(begun + 12_000);
    expect(device.counters.samplesDropped).to.equal(0);
  });

  describe('has a command line', () => {
    const run = (...args: string[]) =>
      new Promise<{ code: number | string; stdout: string; stderr: string }>((resolve) => {
        const env = { ...process.env, DEVICE_INSIGHTS_URL: service.url, DEVICE_INSIGHTS_API_KEY: KEY };
        const bin = join(project.path, 'node_modules/.bin/device-insights');
        execFile(bin, args, { env }, (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }));
      });

    it('that streams, shows and exports', async () => {
      const since = new Date().toISOString();
      const bin = join(project.path, 'node_modules/.bin/device-insights');
      const tail = registered(
        spawn(bin, ['tail', '--json', '--device', 'cli-1', '--type', 'hr', '--url', service.url, '--key', KEY]),
      );
      const told = createInterface({ input: tail.stderr })[Symbol.asyncIterator]();
      expect([(await told.next()).value, (await told.next()).value]).to.deep.equal(['connecting', 'connected']);
      const lines = createInterface({ input: tail.stdout })[Symbol.asyncIterator]();
      const simulated = run('simulate', '--device', 'cli-1', '--hr', '80', '--speed', '10', '--seconds', '2');
      const first = JSON.parse(String((await lines.next()).value));
      expect(first).to.include({ type: 'hr', device_id: 'cli-1', unit: 'bpm' });
      expect(await simulated).to.include({ code: 0, stdout: '' });
      tail.kill('SIGINT');
      expect((await once(tail, 'close'))[0]).to.equal(0);
      const csv = await run('export', '--since', since, '--type', 'hr');
      const [header, ...rows] = csv.stdout.trim().split('\n');
      expect(header).to.match(/^ts,type,value,unit,/);
      const measuredAt = header?.split(',').indexOf('actual_start') ?? -1;
      for (const row of rows) expect(Number(row.split(',')[measuredAt])).to.be.greaterThan(Date.parse(since) - 30_000);
      expect(rows.length).to.be.greaterThan(5);
      expect(rows[0]?.split(',').slice(0, 4)).to.deep.equal([String(first.ts), 'hr', String(first.value), 'bpm']);
      const json = await run('export', '--since', since, '--type', 'hr', '--format', 'json');
      expect(
        json.stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).ts),
      ).to.deep.equal(rows.map((row) => Number(row.split(',')[0])));
      const ofSession = await run('export', '--session', first.session_id, '--type', 'hr', '--iso');
      const [, ...whole] = ofSession.stdout.trim().split('\n');
      expect(whole.map((row) => Date.parse(row.split(',')[0] ?? ''))).to.deep.equal(
        rows.map((row) => Number(row.split(',')[0])),
      );
      const summary = await run('export', '--session', first.session_id, '--summary');
      expect(summary.stdout).to.match(/^type,unit,mean,minimum,maximum,excellent_s,acceptable_s,unfit_s\nhr,bpm,7\d/);
      const beats = await run('export', '--session', first.session_id, '--beats');
      expect(beats.stdout).to.match(/^t,source,quality\n\d{13}(\.\d)?,(ecg|ppg),[01]/);
      const beatLines = await run('export', '--session', first.session_id, '--beats', '--format', 'json');
      expect(JSON.parse(beatLines.stdout.split('\n')[0] ?? '')).to.have.all.keys('t', 'source', 'quality');
      const byData = await run('export', '--data-since', '10m', '--device', 'cli-1', '--type', 'hr');
      expect(byData.stdout).to.equal(csv.stdout);
      expect((await run('export', '--data-since', '10m', '--device', 'nobody')).stdout).to.equal(`${header}\n`);
    });

    it('that streams a recording', async () => {
      writeFileSync(
        join(project.path, 'r.csv'),
        ['t,p', ...Array.from({ length: 500 }, (_, n) => `${n / 100},${n % 80}`)].join('\n'),
      );
      const modality_channels = [{ modality: 'ppg', sample_rate_hz: 100, bit_depth: 16, num_channels: 1 }];
      const manifest = {
        id: 'walk',
        device_model: { name: 'w', modality_channels },
        streams: [{ channel: 0, file: 'r.csv', columns: ['p'] }],
        duration_s: 5,
      };
      writeFileSync(join(project.path, 'r.json'), JSON.stringify(manifest));
      const { code, stderr } = await run('stream', join(project.path, 'r.json'), '--speed', '50');
      expect([code, stderr.trim().split('\n').at(-1)]).to.deep.equal([0, '25 frames sent; the session has ended']);
    });

    it('that uses the device model of an earlier run, and exports the last hour', async () => {
      const models = async () => (await client.deviceModels.list()).length;
      const simulated = () => run('simulate', '--device', 'cli-2', '--speed', '50', '--seconds', '1');
      expect(await simulated()).to.include({ code: 0 });
      const before = await models();
      expect(await simulated()).to.include({ code: 0 });
      expect(await models()).to.equal(before);
      const { code, stdout } = await run('export', '--since', '1h', '--until', '0s', '--format', 'json');
      expect([code, stdout.trim().split('\n').length > 5]).to.deep.equal([0, true]);
    });

    it('that prints its version, and completes its commands and options', async () => {
      const { version } = JSON.parse(readFileSync(join(SDK, 'package.json'), 'utf8')) as { version: string };
      expect(await run('--version')).to.include({ code: 0, stdout: `${version}\n` });
      const { stdout: script } = await run('completion', 'bash');
      const complete = (...words: string[]) =>
        execFileSync(
          'bash',
          [
            '-c',
            `${script}
          COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _device_insights; echo "\${COMPREPLY[@]}"`,
          ],
          {
            encoding: 'utf8',
          },
        ).trim();
      expect(complete('device-insights', 'ex')).to.equal('export');
      expect(complete('device-insights', 'export', '--si')).to.equal('--since');
      expect(complete('device-insights', 'tail', '--q')).to.equal('--quality');
      expect((await run('completion', 'zsh')).stdout).to.contain('bashcompinit');
      expect((await run('completion', 'fish')).stdout).to.contain('"__fish_seen_subcommand_from export" -l since');
      expect(await run('completion', 'tcsh')).to.include({ code: 2 });
    });

    it('that reports errors: exit code 2 for wrong usage, 1 for failures', async () => {
      expect(await run('fly'))
        .to.include({ code: 2 })
        .and.to.have.property('stderr')
        .that.contains('there is no command fly');
      expect(await run('export'))
        .to.include({ code: 2 })
        .and.to.have.property('stderr')
        .that.contains('--since');
      expect((await run('export', '--session', 'x', '--since', '1h')).stderr).to.contain('leave out');
      expect(await run('export', '--since', '1h', '--format', 'parquet', '--iso')).to.include({
        code: 2,
        stderr: '--format parquet takes no --iso, --summary or --beats: use csv or json\n',
      });
      const without = await run('export', '--since', '1h', '--format', 'parquet');
      expect(without).to.include({ code: 1, stdout: '' });
      expect(without.stderr).to.contain('npm install hyparquet-writer');
      expect(await run('tail', 'band-1')).to.include({
        code: 2,
        stderr: 'tail does not take "band-1"; see tail --help\n',
      });
      expect(await run('stream', 'none.json')).to.include({ code: 1, stderr: 'none.json: no such file\n' });
      expect(await run('tail', '--key', 'svc_wrong'))
        .to.include({ code: 1 })
        .and.to.have.property('stderr')
        .that.contains('4001');
    });
  });

  describe('shows live readings on a page', () => {
    let browser: Browser;
    let page: Page;
    let pages: Server;
    let api: Server;
    let socket: WebSocketServer;
    let lagOf = (_ts: number) => 0;
    before(async () => {
      browser = await launchChromium();
    });
    after(() => browser?.close());
    beforeEach(async () => {
      lagOf = () => 0;
      cpSync(join(SDK, 'examples/live.html'), join(project.path, 'live.html'));
      pages = createServer(({ url = '/' }, response) => {
        const path = normalize(new URL(url, 'http://x').pathname);
        const type = extname(path) === '.html' ? 'text/html' : 'text/javascript';
        const file = join(project.path, path);
        if (existsSync(file)) response.writeHead(200, { 'content-type': type }).end(readFileSync(file));
        else response.writeHead(404).end();
      }).listen(0, '127.0.0.1');
      api = createServer(({ url = '/' }, response) => {
        const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'authorization' };
        const { searchParams: asked } = new URL(url, 'http://x');
        const ts = Date.parse(asked.get('since') ?? '');
        const actual_end = ts - lagOf(ts);
        response.writeHead(200, { ...headers, 'content-type': 'application/json' });
        response.end(JSON.stringify([{ session_id: 's', type: asked.get('type'), actual_end }]));
      }).listen(0, '127.0.0.1');
      socket = new WebSocketServer({ server: api });
      await Promise.all([pages, api].map((server) => once(server, 'listening')));
      page = await browser.newPage();
    });
    afterEach(async () => {
      await page.close();
      pages.close();
      api.close();
      for (const peer of socket.clients) peer.terminate();
      socket.close();
    });

    const pageUrl = (service: string) => `http://127.0.0.1:${portOf(pages)}/live.html?url=${service}&key=${KEY}`;

    it('with the quality treatment of the specification, and as the service sends them', async () => {
      const insight = { unit: 'bpm', session_id: 's', device_id: 'd', ts: Date.now() };
      const isWaiting = "document.getElementById('state').className === 'waiting'";
      socket.on('connection', (peer) => {
        peer.send('{"status":"subscribed"}');
        const classes = { hr: ['excellent', 0.9], spo2: ['acceptable', 0.6], rr: ['unfit', 0.2] } as const;
        for (const [type, [sqi_class, confidence]] of Object.entries(classes))
          peer.send(JSON.stringify({ ...insight, type, value: 71.6, sqi_class, confidence }));
      });
      await page.goto(pageUrl(`http://127.0.0.1:${portOf(api)}`));
      await page.waitForFunction(
        "[...document.querySelectorAll('#readings td.age')].filter((cell) => / s$/.test(cell.textContent)).length === 3",
      );
      const rows = await page.$$eval('#readings tr', (all) =>
        all.map((row) => [...row.querySelectorAll('td:not(.age)')].map((cell) => cell.textContent)),
      );
      expect(rows).to.deep.equal([
        ['d', 'hr', '72', 'bpm', 'excellent'],
        ['d', 'spo2', '71.6', 'bpm', 'acceptable'],
        ['d', 'rr', '–', 'bpm', 'estimating'],
      ]);
      const opacities = await page.evaluate(
        "[...document.querySelectorAll('#readings tr')].map((row) => getComputedStyle(row).opacity)",
      );
      expect(opacities).to.deep.equal(['1', '0.6', '1']);
      expect(await page.$eval('#readings td.age', (cell) => cell.textContent)).to.match(/^\d+ s$/);
      const shown = (selector: string) => page.$eval(selector, (element) => element.textContent);
      for (const peer of socket.clients) peer.close(1012, 'restart');
      api.close();
      socket.close();
      await page.waitForFunction(isWaiting);
      expect(await shown('#state')).to.match(/^disconnected: the connection was lost \(\d+.*; trying again in \d+ s$/);
      await page.goto(pageUrl(''));
      await page.waitForFunction("document.getElementById('state').className === 'closed'");
      expect(await shown('#state')).to.match(/^Add the address and a key: live\.html\?url=/);
      await page.goto(pageUrl(service.url));
      await page.waitForFunction("document.getElementById('state').textContent === 'connected'");
      await streamSome('page-1');
      await page.waitForFunction(
        "/^[0-9]+$/.test(document.getElementById('page-1 hr')?.querySelector('.value').textContent)",
      );
    });

    it('with the age of their data after a pause too, when they arrive only a little faster than measured', async () => {
      const begun = Date.now();
      socket.on('connection', (peer) => {
        peer.send('{"status":"subscribed"}');
        const hr = {
          type: 'hr',
          value: 70,
          unit: 'bpm',
          session_id: 's',
          device_id: 'd',
          sqi_class: 'excellent',
          confidence: 1,
        };
        for (let k = 0; k < 40; k++) peer.send(JSON.stringify({ ...hr, ts: begun + 800 * k }));
      });
      lagOf = (ts) => (ts < begun + 4000 ? 3000 : 600_000);
      await page.goto(pageUrl(`http://127.0.0.1:${portOf(api)}`));
      await page.waitForFunction("/^back-filled/.test(document.querySelector('#readings td.age')?.textContent)");
    });

    it('with the age of their data, not of their publication', async () => {
      await page.goto(pageUrl(service.url));
      await page.waitForFunction("document.getElementById('state').textContent === 'connected'");
      const start = Date.now() - 86_400_000;
      await streamSome('page-2', start);
      await page.waitForFunction(
        "/^back-filled, measured /.test(document.getElementById('page-2 hr')?.cells[5].textContent)",
      );
      expect(await page.$eval('[id="page-2 hr"]', (row) => row.className)).to.match(/ old$/);
      const yesterday = await page.evaluate(`new Date(${start + 12_000}).toLocaleDateString()`);
      expect(await page.$eval('[id="page-2 hr"] td.age', (cell) => cell.textContent)).to.contain(yesterday);
    });
  });
});
