// The HTTP interface of the receiver: limits, body, proof, annotation, in this order. Refuses: reading anything from the
// cluster for a request above a limit, and a word about why a request is not authorized. No body is ever logged.

import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Response } from 'express';
import * as z from 'zod';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Random } from '../runtime/random.ts';
import type { ObjectKey } from '../wire/cluster.ts';
import { ClusterError } from '../wire/cluster-error.ts';
import type { ClientRate } from './client-rate.ts';
import type { HookTargets } from './hook-target.ts';
import { readClaims, type Scheme } from './signature-headers.ts';
import { readHookSecret, verify } from './verification.ts';

/** What became of a request, as metrics count it. */
export const outcomes = [
  'accepted',
  'unauthorized',
  'limited',
  'too_large',
  'unavailable',
  'invalid',
  'aborted',
  'failed',
] as const;
export type Outcome = (typeof outcomes)[number];

export interface ReceiverAppOptions {
  readonly targets: HookTargets;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly clientRate: ClientRate;
  readonly maxBodyBytes: number;
  /** Requests whose body is in memory, or that wait for the cluster. */
  readonly maxConcurrent: number;
  /** Proxies whose `X-Forwarded-For` names the client: addresses and networks. */
  readonly trustedProxies: readonly string[];
  readonly requestTimeoutMs: number;
  readonly onAnswered: (outcome: Outcome, seconds: number) => void;
}

type Locals = { outcome?: Outcome };

const path = '/hooks/:namespace/:name';
/** Names of namespaces (RFC 1123 labels) and of objects (subdomains). Nothing else can exist. */
const keySchema = z.object({
  namespace: z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/),
  name: z.string().regex(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/),
});
/** What the body parser throws. */
const parserError = z.object({ status: z.int().min(400).max(499) });
const defaultRetryMs = 5000;

/** @throws when an entry of `trustedProxies` is not an address or a network */
export function receiverApp(options: ReceiverAppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('trust proxy', options.trustedProxies.length === 0 ? false : [...options.trustedProxies]);
  app.use(observe(options));
  app.use(limitClients(options));
  const readBody = express.raw({ type: () => true, limit: options.maxBodyBytes, inflate: false });
  app.route(path).post(limitConcurrent(options), readBody, receiveHook(options)).all(answerMethod);
  app.use((_request, response: Response) => answer(response, 'invalid', 404, 'not found'));
  app.use(answerError(options));
  return app;
}

function observe({ clock, onAnswered }: ReceiverAppOptions): RequestHandler {
  return (request, response: Response<unknown, Locals>, next) => {
    const began = clock.monotonic();
    response.set('Cache-Control', 'no-store');
    response.once('close', () => {
      const isSent = response.writableFinished && !request.errored;
      onAnswered(
        isSent ? (response.locals.outcome ?? 'failed') : 'aborted',
        (clock.monotonic() - began) / 1000,
      );
    });
    next();
  };
}

function limitClients({ clientRate }: ReceiverAppOptions): RequestHandler {
  return (request, response, next) => {
    const waitMs = clientRate.take(request.ip ?? '');
    if (waitMs === undefined) next();
    else answer(response, 'limited', 429, 'too many requests', waitMs);
  };
}

function limitConcurrent({ maxConcurrent }: ReceiverAppOptions): RequestHandler {
  let concurrent = 0;
  return (_request, response, next) => {
    if (concurrent >= maxConcurrent) {
      answer(response, 'limited', 503, 'busy', 1000);
      return;
    }
    concurrent += 1;
    response.once('close', () => {
      concurrent -= 1;
    });
    next();
  };
}

function receiveHook(options: ReceiverAppOptions): RequestHandler {
  const { targets, clock, random, logger, requestTimeoutMs } = options;
  const text = `whsec_${Buffer.from(random.bytes(32)).toString('base64')}`;
  const decoy = { ...readHookSecret(Buffer.from(text)), text };
  const reported = createReports(logger);
  return async (request, response) => {
    const key = keySchema.safeParse(request.params);
    const claims = readClaims(request.headers);
    // Neither depends on what exists in the cluster.
    if (!key.success || claims.length === 0) {
      answer(response, 'unauthorized', 401, 'unauthorized');
      return;
    }
    const signal = clock.deadline(requestTimeoutMs);
    const found = await targets.find(key.data, signal);
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const scheme = verify(claims, body, found.secret, { standardKey: undefined, ...decoy }, clock.now());
    reported.note(key.data, found.isWanted ? found.why : undefined);
    if (scheme === undefined || found.uid === undefined) {
      logger.debug({ ...key.data, why: found.why ?? 'no signature holds' }, 'unauthorized');
      answer(response, 'unauthorized', 401, 'unauthorized');
      return;
    }
    await targets.request(key.data, found.uid, new Date(clock.now()).toISOString(), signal);
    logAccepted(logger, key.data, scheme);
    setOutcome(response, 'accepted');
    response.status(202).json({ status: 'accepted' });
  };
}

function logAccepted(logger: Logger, key: ObjectKey, scheme: Scheme): void {
  logger.info({ ...key, scheme }, 'an export is requested');
}

const mostReports = 1000;

/** Reports a wrong configuration of a resource once, and again after it was right. */
function createReports(logger: Logger) {
  const reports = new Map<string, string>();
  return {
    note: ({ namespace, name }: ObjectKey, why: string | undefined): void => {
      const id = `${namespace}/${name}`;
      if (why === undefined || reports.get(id) === why) {
        if (why === undefined) reports.delete(id);
        return;
      }
      if (reports.size >= mostReports) reports.clear();
      reports.set(id, why);
      logger.warn(
        { namespace, name, why },
        'no hook of this StaticExport can be verified; check spec.trigger.webhook, its Secret and webhook.secretNames',
      );
    },
  };
}

const answerMethod: RequestHandler = (_request, response) => {
  response.set('Allow', 'POST');
  answer(response, 'invalid', 405, 'method not allowed');
};

function answerError({ logger }: ReceiverAppOptions): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    if (response.headersSent || (request.destroyed && !request.complete)) {
      response.destroy();
      return;
    }
    if (error instanceof ClusterError) {
      logger.warn({ error }, 'a hook could not be handed on; the sender must retry');
      answer(response, 'unavailable', 503, 'unavailable', error.retryAfterMs ?? defaultRetryMs);
      return;
    }
    const parsed = parserError.safeParse(error);
    if (parsed.success && parsed.data.status === 413) answer(response, 'too_large', 413, 'body too large');
    else if (parsed.success) answer(response, 'invalid', parsed.data.status, 'invalid request');
    else {
      logger.error({ error }, 'a request failed');
      answer(response, 'failed', 500, 'internal error');
    }
  };
}

function answer(
  response: Response,
  outcome: Outcome,
  status: number,
  error: string,
  retryAfterMs?: number,
): void {
  setOutcome(response, outcome);
  if (retryAfterMs !== undefined)
    response.set('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
  response.status(status).json({ error });
}

function setOutcome(response: Response, outcome: Outcome): void {
  response.locals['outcome'] = outcome;
}
