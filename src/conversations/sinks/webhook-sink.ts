// Turns to an address of the user's, signed as Standard Webhooks say, in requests of at most 500 turns. Owns the request and
// its retries. Refuses redirects, because turns would go elsewhere. A receiver may get a turn again and keeps one for each
// key; an equal request has an equal `webhook-id`.

import { createHash } from 'node:crypto';
import type { HttpAgent } from '#platform/http/agent.ts';
import { nextPauseMs } from '#platform/http/attempts.ts';
import { readConnectionFault } from '#platform/http/connection-fault.ts';
import { isPassing, isSuccess, readWhole, retryAfterOf } from '#platform/http/exchange.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { webhookHeaders } from '#platform/wire/webhook-signature.ts';
import type { Sink } from '../sink.ts';
import type { Turn } from '../turn.ts';

export interface WebhookTarget {
  readonly url: string;
  /** Of HMAC-SHA256. */
  readonly secret: Uint8Array;
  readonly agent: HttpAgent;
  readonly userAgent: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

const mostTurns = 500;
/** A receiver that takes less than this takes no long answer either. */
const mostLength = 4 * 1024 * 1024;
const attempts = { most: 5, firstPauseMs: 1_000, longestPauseMs: 60_000 };
/** A receiver has nothing to say. */
const longestAnswer = 64 * 1024;

export function webhookSink(target: WebhookTarget, signal: AbortSignal): Sink {
  return {
    write: async (turns) => {
      for (const batch of batchesOf(turns)) await deliver(batch, target, signal);
    },
    isFull: () => true,
    flush: async () => new Map(),
    close: async () => {},
  };
}

interface Batch {
  readonly id: string;
  readonly body: string;
}

function batchesOf(turns: readonly Turn[]): readonly Batch[] {
  const batches: Batch[] = [];
  let lines: string[] = [];
  let length = 0;
  let hash = createHash('sha256');
  const end = (): void => {
    if (lines.length === 0) return;
    batches.push({ id: `turns_${hash.digest('hex').slice(0, 32)}`, body: `{"turns":[${lines.join(',')}]}` });
    lines = [];
    length = 0;
    hash = createHash('sha256');
  };
  for (const turn of turns) {
    const line = JSON.stringify(turn);
    if (lines.length >= mostTurns || length + line.length > mostLength) end();
    lines.push(line);
    length += line.length;
    hash.update(`${turn.turn_key} ${turn.content_hash} `);
  }
  end();
  return batches;
}

/** @throws {PublishableError} `WebhookRefused`, `WebhookUnavailable` */
async function deliver(batch: Batch, target: WebhookTarget, signal: AbortSignal): Promise<void> {
  for (let failed = 1; ; failed += 1) {
    const answer = await send(batch, target, signal);
    if (answer.kind === 'taken') return;
    if (answer.kind === 'refused') {
      const message = `the webhook answered ${answer.status}; ${refusedRemedy(answer.status)}. Turns that it took before stay`;
      throw new PublishableError('WebhookRefused', message);
    }
    const pauseMs = nextPauseMs(attempts, failed, answer.retryAfterMs);
    if (pauseMs === undefined) {
      const message = `the webhook ${answer.problem}. Run the command again; it goes on where it stopped`;
      throw new PublishableError('WebhookUnavailable', message, { kind: 'retry', cause: answer.cause });
    }
    await target.clock.after(pauseMs, signal);
  }
}

/** Only what the status says: its words may repeat turns. */
function refusedRemedy(status: number): string {
  if (status === 401 || status === 403) return 'check its secret and what it allows';
  if (status === 404 || status === 405 || status === 410) return 'check its address';
  if (status === 413) return 'raise the size limit of the receiver, or of the proxy in front of it';
  return 'the log of the receiver says why';
}

type Answer =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly status: number }
  | {
      readonly kind: 'unavailable';
      readonly problem: string;
      readonly retryAfterMs?: number | undefined;
      readonly cause?: unknown;
    };

async function send({ id, body }: Batch, target: WebhookTarget, signal: AbortSignal): Promise<Answer> {
  const { url, secret, agent, userAgent, timeoutMs, clock } = target;
  const now = clock.now();
  const deadline = clock.deadline(timeoutMs, signal);
  try {
    const headers = {
      'content-type': 'application/json',
      'user-agent': userAgent,
      'idempotency-key': id,
      ...webhookHeaders(id, now, body, secret),
    };
    const answer = await agent.send({ method: 'POST', url: new URL(url), headers, body }, deadline);
    await readWhole(answer, longestAnswer, deadline);
    const { statusCode: status } = answer;
    if (isSuccess(answer)) return { kind: 'taken' };
    if (!isPassing(answer)) return { kind: 'refused', status };
    return { kind: 'unavailable', problem: `answered ${status}`, retryAfterMs: retryAfterOf(answer, now) };
  } catch (cause) {
    signal.throwIfAborted();
    const { what, remedy } = readConnectionFault(cause);
    return { kind: 'unavailable', problem: `${what}. ${remedy}`, cause };
  }
}
