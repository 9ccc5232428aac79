// Asks a freshly issued link for one byte, because a signature can have expired before its date. Refuses to touch a
// file: no storage signs a `file:` link, and its expiry is unknown here. Invariant: one ranged GET; only a clear answer
// of the storage makes a link expired, and a network error decides nothing.

import type { Dispatcher } from 'undici';
import type { Clock } from '../../runtime/clock.ts';
import { withinLimit } from '../../runtime/time-limit.ts';
import type { Link } from '../../wire/link.ts';
import { defaultLimits } from '../limits.ts';
import { createLinkAgent } from './link-agent.ts';
import { judgeAnswer, type LinkState, readBodyStart } from './link-answer.ts';
import { requestLink } from './link-request.ts';

export interface ProbeOptions {
  readonly allowPrivateLinks: boolean;
  /** Connections to use (see link-agent.ts); one of the probe's own, closed after it, when absent. */
  readonly dispatcher?: Dispatcher;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly userAgent: string;
}

/**
 * `expired`: 401, 403, 404, 410, or another refusal whose text says that the signature has expired. `unknown`:
 * a later attempt may get another answer; this includes a refused redirect and an internal address.
 *
 * @throws the signal's reason when aborted; nothing else
 */
export async function probeLink(link: Link, options: ProbeOptions, signal: AbortSignal): Promise<LinkState> {
  signal.throwIfAborted();
  if (link.protocol === 'file:') return 'unknown';
  const { allowPrivateLinks, timeoutMs, userAgent } = options;
  const dispatcher = options.dispatcher ?? createLinkAgent({ allowPrivateLinks, idleTimeoutMs: timeoutMs });
  const request = {
    dispatcher,
    allowPrivateLinks,
    maxRedirects: defaultLimits.maxRedirects,
    userAgent,
    headers: { range: 'bytes=0-0' },
  };
  try {
    return await withinLimit(options.clock, timeoutMs, signal, async (limit) => {
      const answer = await requestLink(link.reveal(), request, limit);
      // A storage that ignores ranges sends the whole archive: its status is enough.
      const bodyStart = answer.statusCode < 400 ? '' : await readBodyStart(answer.body);
      answer.body.on('error', () => {}).destroy();
      return judgeAnswer(answer.statusCode, bodyStart);
    });
  } catch {
    signal.throwIfAborted();
    return 'unknown';
  } finally {
    if (options.dispatcher === undefined) await dispatcher.destroy();
  }
}
