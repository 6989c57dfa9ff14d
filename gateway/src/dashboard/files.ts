import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Context } from 'koa';
import type { DashboardMiddleware } from './dashboard-context.js';

/** The output of the build of `gateway/dashboard`. */
const BUILT = fileURLToPath(new URL('../pages/', import.meta.url));

const ASSETS = '/dashboard/assets/';
/** For files whose names contain a hash of their contents. */
const FOR_EVER = 'public, max-age=31536000, immutable';
const ASK_AGAIN = 'no-cache';

interface File {
  /** The extension of its name, from which its type follows. */
  readonly extension: string;
  readonly plain: Buffer;
  /** Its contents as gzip. */
  readonly packed: () => Buffer;
  readonly tag: string;
}

/** Serves the built pages from memory; a file that was not built does not exist. */
export function pages(): DashboardMiddleware {
  const files = readAll(BUILT);
  return (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    const file = files.get(ctx.path.replace(/^\/dashboard\//, '')) ?? files.get(pageOf(ctx.path));
    return file ? send(ctx, file) : next();
  };
}

/** The page for a path that is not a file. All addresses of the dashboard have the same page, which reads the address itself. */
function pageOf(path: string): string {
  if (path === '/docs' || path === '/docs/') return 'docs.html';
  if (path === '/docs/openapi.json' || path === '/asyncapi.json') return path.slice(path.lastIndexOf('/') + 1);
  const isPage = !path.startsWith('/dashboard/api/') && !path.startsWith(ASSETS);
  return isPage && (path === '/dashboard' || path.startsWith('/dashboard/')) ? 'index.html' : '';
}

function send(ctx: Context, { extension, plain, packed, tag }: File): void {
  const isPacked = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  ctx.type = extension;
  ctx.set('Cache-Control', ctx.path.startsWith(ASSETS) ? FOR_EVER : ASK_AGAIN);
  ctx.set('ETag', tag);
  ctx.vary('Accept-Encoding');
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  if (isPacked) ctx.set('Content-Encoding', 'gzip');
  ctx.body = isPacked ? packed() : plain;
}

function readAll(folder: string): Map<string, File> {
  if (!existsSync(folder))
    throw new Error(`the pages of the dashboard are not built: run npm run build (${folder} is missing)`);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [relative(folder, path).split(sep).join('/'), fileOf(path)];
    }),
  );
}

function fileOf(path: string): File {
  const plain = readFileSync(path);
  const tag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  let packed: Buffer | undefined;
  return {
    extension: extname(path),
    plain,
    // At the first request: most starts are of services whose dashboard nobody opens soon.
    packed: () => {
      packed ??= gzipSync(plain);
      return packed;
    },
    tag,
  };
}
