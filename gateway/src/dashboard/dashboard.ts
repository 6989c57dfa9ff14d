import Router from '@koa/router';
import Koa from 'koa';
import helmet from 'koa-helmet';
import { failures } from '../rest/failures.js';
import { observation } from '../rest/observation.js';
import { requestId } from '../rest/request-id.js';
import { unrouted } from '../rest/unrouted.js';
import { accountRoutes } from './accounts.js';
import { auditRoutes } from './audit.js';
import type { DashboardOptions, DashboardState } from './dashboard-context.js';
import { deviceRoutes } from './devices.js';
import { pages } from './files.js';
import { keyRoutes } from './keys.js';
import { requireLogin } from './login.js';
import { nodeRoutes } from './node.js';
import { sessionRoutes } from './sessions.js';
import { signInRoutes } from './sign-in.js';

/** Content security policy: everything comes from this service, and nothing is inline. */
const POLICY = {
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    connectSrc: ["'self'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
    baseUri: ["'none'"],
  },
};

const SERVED = /^\/$|^\/(dashboard|docs)(\/|$)|^\/asyncapi\.json$/;

/** Whether a request's path belongs to the dashboard or to the documents; the root does, for people who type in the address. */
export function isDashboards(path: string): boolean {
  return SERVED.test(path);
}

/** The dashboard: its pages, and the private interface that they use. A Koa application, separate from that of REST. */
export function createDashboard(options: DashboardOptions): Koa<DashboardState> {
  const app = new Koa<DashboardState>();
  const router = new Router<DashboardState>({ sensitive: true, strict: true });
  for (const add of [signInRoutes, accountRoutes, keyRoutes, deviceRoutes, sessionRoutes, nodeRoutes, auditRoutes])
    add(router, options);
  router.get('/', (ctx) => ctx.redirect('/dashboard'));
  app.on('error', (err: unknown) =>
    options.log.warn({ err }, 'a response of the dashboard ended before it was complete'),
  );
  app.use(observation(options));
  app.use(requestId);
  app.use(failures(options.log));
  app.use(
    helmet({
      contentSecurityPolicy: POLICY,
      strictTransportSecurity: false,
      referrerPolicy: { policy: 'no-referrer' },
    }),
  );
  app.use(requireLogin(options));
  app.use(router.routes());
  app.use(pages());
  app.use(unrouted(router, []));
  return app;
}
