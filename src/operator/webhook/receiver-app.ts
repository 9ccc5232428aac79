// The HTTP interface of the receiver: body, limits, proof, annotation, in this order. Refuses: reading anything from the
// cluster for a request above a limit, and a word about why a request is not authorized; the time of a refusal says nothing
// either. A client without a secret uses up its own share, and no one else's. No body is ever logged.

import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import * as z from 'zod';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import type { Random } from '#platform/runtime/random.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { createBodySlots } from './body-slots.ts';
import { type ClientRate, clientOf } from './client-rate.ts';
import type { HookTargets } from './hook-target.ts';
import { createRefusalTicks } from './refusal-ticks.ts';
import { readClaims, type Scheme, type SignatureProof } from './signature-headers.ts';
import { type HookSecret, readHookSecret, verify } from './verification.ts';

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
export type HookOutcome = (typeof outcomes)[number];

export interface ReceiverAppOptions {
  readonly targets: HookTargets;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Of hooks that are accepted, and apart from it of those that are refused. */
  readonly rates: Readonly<Record<'accepted' | 'refused', ClientRate>>;
  readonly maxBodyBytes: number;
  /** Hooks that wait for the cluster; a quarter of it for one client. As many again may have their body under way. */
  readonly maxConcurrent: number;
  /** Proxies whose `X-Forwarded-For` names the client: addresses and networks. */
  readonly trustedProxies: readonly string[];
  readonly requestTimeoutMs: number;
  /** Refusals leave at ticks of this length, one or two after their request. */
  readonly refusalStepMs: number;
  readonly shutdown: AbortSignal;
  readonly onAnswered: (outcome: HookOutcome, seconds: number) => void;
}

type Locals = { outcome?: HookOutcome };

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
  app.route(path).post(readBodies(options), receiveHook(options)).all(answerMethod);
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

const clientIn = (request: Request): string => clientOf(request.ip, request.socket.remoteAddress);

/** A quarter for one client, so that no client takes all. */
const shareOf = (count: number): number => Math.max(1, Math.ceil(count / 4));

function readBodies({ maxConcurrent, maxBodyBytes }: ReceiverAppOptions): RequestHandler {
  const read = express.raw({ type: () => true, limit: maxBodyBytes, inflate: false });
  const slots = createBodySlots({ atOnce: maxConcurrent, perClient: shareOf(maxConcurrent) });
  return (request, response, next) => {
    const leave = slots.enter(clientIn(request), () => {
      response.once('finish', () => request.destroy());
      response.set('Connection', 'close');
      answer(response, 'limited', 503, 'busy', 1000);
    });
    read(request, response, (error?: unknown) => {
      leave();
      next(error);
    });
  };
}

/** @returns gives the slot back; `undefined` where there is none */
function createWorkSlots(atOnce: number): (client: string) => (() => void) | undefined {
  const held = new Map<string, number>();
  let all = 0;
  return (client) => {
    const own = held.get(client) ?? 0;
    if (all >= atOnce || own >= shareOf(atOnce)) return undefined;
    all += 1;
    held.set(client, own + 1);
    return () => {
      all -= 1;
      const left = (held.get(client) ?? 0) - 1;
      if (left > 0) held.set(client, left);
      else held.delete(client);
    };
  };
}

function receiveHook(options: ReceiverAppOptions): RequestHandler {
  const { targets, clock, random, logger, rates, maxConcurrent } = options;
  const text = `whsec_${Buffer.from(random.bytes(32)).toString('base64')}`;
  const decoy = { standardKey: undefined, ...readHookSecret(Buffer.from(text)), text };
  const holds = (claims: readonly SignatureProof[], body: Uint8Array, secret: HookSecret | undefined) =>
    verify(claims, body, secret, decoy, clock.now());
  const reported = createReports(logger);
  const enter = createWorkSlots(maxConcurrent);
  const proven = createProvenSecrets();
  const refusalTicks = createRefusalTicks(clock, options.refusalStepMs, options.shutdown);
  return async (request, response) => {
    const leaveAtTick = refusalTicks();
    const refuse = async (): Promise<void> => {
      await leaveAtTick();
      answer(response, 'unauthorized', 401, 'unauthorized');
    };
    const client = clientIn(request);
    const key = keySchema.safeParse(request.params);
    const claims = readClaims(request.headers);
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const waitMs = rates.refused.take(client);
    // Behind a proxy that is not trusted all clients are one: a hook whose secret was right before is let through.
    const isProven = (): boolean => key.success && holds(claims, body, proven.of(key.data)) !== undefined;
    if (waitMs !== undefined && !isProven()) {
      answer(response, 'limited', 429, 'too many requests', waitMs);
      return;
    }
    // Neither depends on what exists in the cluster.
    if (!key.success || claims.length === 0) return refuse();
    // What was not judged does not count as refused.
    const giveBack = (): void => (waitMs === undefined ? rates.refused.giveBack(client) : undefined);
    const leave = enter(client);
    if (leave === undefined) {
      giveBack();
      answer(response, 'limited', 503, 'busy', 1000);
      return;
    }
    const hook = key.data;
    /** @returns whether it is refused */
    const judge = async (): Promise<boolean> => {
      const signal = clock.deadline(options.requestTimeoutMs);
      const found = await targets.find(hook, signal);
      const scheme = holds(claims, body, found.secret);
      reported.note(hook, found.isWanted ? found.why : undefined);
      if (scheme === undefined || found.uid === undefined) {
        if (waitMs !== undefined) proven.forget(hook);
        logger.debug({ ...hook, why: found.why ?? 'no signature holds' }, 'unauthorized');
        return true;
      }
      giveBack();
      proven.note(hook, found.secret);
      const acceptedWaitMs = rates.accepted.take(client);
      if (acceptedWaitMs !== undefined) {
        answer(response, 'limited', 429, 'too many requests', acceptedWaitMs);
        return false;
      }
      await targets.request(hook, found.uid, new Date(clock.now()).toISOString(), signal);
      logAccepted(logger, hook, scheme);
      setOutcome(response, 'accepted');
      response.status(202).json({ status: 'accepted' });
      return false;
    };
    const isRefused = await judge()
      .catch((error: unknown) => {
        if (error instanceof ClusterError) giveBack();
        throw error;
      })
      .finally(leave);
    if (isRefused) await refuse();
  };
}

const mostProven = 1000;

/** Secrets by which a hook was accepted: they decide who is heard above a limit, and nothing else. */
function createProvenSecrets() {
  const secrets = new Map<string, HookSecret>();
  const idOf = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`;
  return {
    of: (key: ObjectKey): HookSecret | undefined => secrets.get(idOf(key)),
    forget: (key: ObjectKey): void => void secrets.delete(idOf(key)),
    note: (key: ObjectKey, secret: HookSecret | undefined): void => {
      const id = idOf(key);
      const [oldest] = secrets.keys();
      if (!secrets.delete(id) && secrets.size >= mostProven && oldest !== undefined) secrets.delete(oldest);
      if (secret !== undefined) secrets.set(id, secret);
    },
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
  outcome: HookOutcome,
  status: number,
  error: string,
  retryAfterMs?: number,
): void {
  setOutcome(response, outcome);
  if (retryAfterMs !== undefined)
    response.set('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
  response.status(status).json({ error });
}

function setOutcome(response: Response, outcome: HookOutcome): void {
  response.locals['outcome'] = outcome;
}
