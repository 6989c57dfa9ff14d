import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Requests still under way get this long to finish when a server closes, ms. */
const FINISH_WITHIN = 2000;

/** Resolves when the server listens; rejects where it cannot. */
export function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** The address of a listening server, as a client on this machine writes it. */
export function addressOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

/** Takes no more connections, and resolves when those there are have ended; they are given a short time. */
export function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => server.closeAllConnections(), FINISH_WITHIN);
    server.close(() => {
      clearTimeout(late);
      resolve();
    });
    server.closeIdleConnections();
  });
}
