// Asks a freshly issued link for one byte, because a signature can be dead while its date says otherwise.
// Refuses: touching a file; a `file:` link is nothing that a storage signs, and its life is not known here.
// Invariant: one ranged GET; only a storage's clear word makes a link dead, a network error decides nothing.

import type { Dispatcher } from 'undici';
import type { Clock } from '../../runtime/clock.ts';
import { withinLimit } from '../../runtime/time-limit.ts';
import type { Link } from '../../wire/link.ts';
import { defaultLimits } from '../limits.ts';
import { createLinkAgent } from './link-agent.ts';
import { judgeAnswer, type LinkLife, readBodyStart } from './link-answer.ts';
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
 * `dead`: 401, 403, 404, 410, or another refusal whose words say that the signature is over. `unknown`:
 * anything that a later try may answer otherwise, a refused redirect or an internal address among it.
 *
 * @throws the signal's reason when aborted; nothing else
 */
export async function probeLink(link: Link, options: ProbeOptions, signal: AbortSignal): Promise<LinkLife> {
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
