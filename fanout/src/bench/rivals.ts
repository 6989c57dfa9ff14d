import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../bus/redis/redis-server.fixture.js';
import type { Contender } from './contenders.js';
import { openPort, startServer } from './processes.js';

const NCHAN_MODULE = '/usr/lib/nginx/modules/ngx_nchan_module.so';
const installed = (command: string) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;

/** nginx with nchan: WebSocket in, WebSocket out, everything in memory. */
export const nchan: Contender = {
  name: 'nchan',
  ...(installed('nginx') && existsSync(NCHAN_MODULE)
    ? {}
    : { missing: 'nginx with nchan (apt-get install nginx libnginx-mod-nchan)' }),
  async start() {
    const port = await freePort();
    const directory = mkdtempSync(join(tmpdir(), 'nchan-'));
    writeFileSync(join(directory, 'nginx.conf'), nchanConfig(port));
    const args = ['-p', directory, '-c', 'nginx.conf', '-e', 'stderr'];
    return startServer('nginx', args, openPort(port));
  },
  flags: (port) => ['-url', `ws://127.0.0.1:${port}/subscribe`, '-pub-url', `ws://127.0.0.1:${port}/publish`],
};

/** Enough messages are kept that a burst is not lost for subscribers that are still receiving the previous one. */
function nchanConfig(port: number): string {
  return `daemon off; pid nginx.pid; error_log stderr crit; worker_processes 1;
load_module ${NCHAN_MODULE};
events { worker_connections 4096; }
http {
  access_log off; nchan_message_buffer_length 1000; nchan_message_timeout 5s;
  server {
    listen 127.0.0.1:${port};
    location = /subscribe { nchan_subscriber websocket; nchan_channel_id c; nchan_subscriber_first_message newest; }
    location = /publish { nchan_publisher websocket; nchan_channel_id c; }
  }
}
`;
}

/** NATS over TCP, with its own protocol. */
export const nats: Contender = {
  name: 'nats',
  ...(installed('nats-server') ? {} : { missing: 'NATS (apt-get install nats-server)' }),
  async start() {
    const port = await freePort();
    return startServer('nats-server', ['-a', '127.0.0.1', '-p', `${port}`, '-l', '/dev/null'], openPort(port));
  },
  flags: (port) => {
    const url = `tcp://127.0.0.1:${port}`;
    const from = ['-url', url, '-nats', 'c', '-ready', 'PONG', '-stream'];
    return [...from, '-pub-url', url, '-pub', 'nats', '-pub-channel', 'c'];
  },
};
