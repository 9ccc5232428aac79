// The whole HTTP interface of the service: auth check, endpoints, downloads, errors, in this order. A public URL with a
// path works whether or not a proxy removes the path, because both forms are served.

import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import type { Logger } from '#platform/runtime/logger.ts';
import type { KeyRing } from '../key-ring.ts';
import { answerErrors, answerNotFound } from './answers.ts';
import { type ArchiveRouteOptions, archiveRoute } from './archive-route.ts';
import { requireKey } from './auth-check.ts';
import { type ConversationRoutesOptions, conversationRoutes } from './conversation-routes.ts';
import { jobRoutes } from './job-routes.ts';
import { type ProjectRoutesOptions, projectRoutes } from './project-routes.ts';

export interface AppOptions extends ProjectRoutesOptions, ArchiveRouteOptions, ConversationRoutesOptions {
  readonly ring: () => KeyRing;
  readonly logger: Logger;
  /** Path of the public URL, `''` or `/prefix`. */
  readonly prefix: string;
  readonly onAnswered: (endpoint: string, status: number) => void;
}

export function exportServiceApp(options: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  const api = express.Router({ caseSensitive: true });
  api.use(requireKey(options.ring));
  api.use('/static-export', jobRoutes(options));
  api.use('/static-export', projectRoutes(options));
  api.use('/analytics', conversationRoutes(options));
  api.use(answerNotFound);

  const root = express.Router({ caseSensitive: true });
  root.use('/v1', noStore, api);
  root.use(belowBundles(archiveRoute(options)));

  app.use(observe(options));
  if (options.prefix !== '') app.use(options.prefix, root);
  app.use(root);
  app.use(answerNotFound);
  app.use(answerErrors(options.logger));
  return app;
}

/** A wrong base path must not look like a refused link: clients would doubt their key. */
function belowBundles(route: RequestHandler): RequestHandler {
  return (request, response, next) => {
    if (request.path.startsWith('/bundles/')) void route(request, response, next);
    else next();
  };
}

const noStore: RequestHandler = (_request, response, next) => {
  response.set('Cache-Control', 'no-store');
  next();
};

/** Counts and (at debug) logs every answer: by kind of endpoint, never by address, which may hold a signature. */
function observe({ onAnswered, logger, random, clock }: AppOptions): RequestHandler {
  return (request, response, next) => {
    const requestId = Buffer.from(random.bytes(8)).toString('hex');
    const began = clock.monotonic();
    response.set('X-Request-Id', requestId);
    response.once('close', () => {
      const endpoint = endpointOf(request.originalUrl);
      const status = outcomeOf(request, response);
      onAnswered(endpoint, status);
      const ms = Math.round(clock.monotonic() - began);
      logger.debug({ requestId, method: request.method, endpoint, status, ms }, 'answered');
    });
    next();
  };
}

/** 499 (as proxies count it): the client left before the whole answer was sent. 500: the service cut it off. */
function outcomeOf(request: Request, response: Response): number {
  if (response.errored) return 500;
  // An answer to a client that broke off its own request "finishes" too: on a socket that is gone.
  return response.writableFinished && !request.errored ? response.statusCode : 499;
}

function endpointOf(target: string): string {
  const path = target.split('?', 1)[0] ?? '';
  if (/\/v1\/analytics\//.test(path)) return 'conversations';
  if (/\/v1\/static-export\/jobs\/[^/]+\/bundle$/.test(path)) return 'bundle';
  if (/\/v1\/static-export\/jobs\/[^/]+$/.test(path)) return 'job';
  if (/\/v1\/static-export\/jobs$/.test(path)) return 'jobs';
  if (/\/v1\/static-export\/[^/]+\/jobs\/[^/]+$/.test(path)) return 'project-job';
  if (/\/v1\/static-export\/[^/]+\/jobs$/.test(path)) return 'project-jobs';
  return /\/bundles\//.test(path) ? 'archive' : 'other';
}
