// Asks a freshly issued link for one byte, because a signature can have expired before its date. Refuses to touch a
// file: no storage signs a `file:` link, and its expiry is unknown here. Invariant: one ranged GET; only a clear answer
// of the storage makes a link expired, and a network error decides nothing.

import type { HttpAgent } from '#platform/http/agent.ts';
import { discard } from '#platform/http/exchange.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { withinLimit } from '#platform/runtime/time-limit.ts';
import type { Link } from '#platform/wire/link.ts';
import type { PublishableError } from '#platform/wire/publishable-error.ts';
import { defaultLimits } from '../limits.ts';
import { linkFault } from './link-answer.ts';
import { readJudged, requestLink } from './link-request.ts';

export interface ProbeOptions {
  readonly agent: HttpAgent;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly userAgent: string;
}

/**
 * @returns what a clear answer says against the link: expired-link, early-link or refused-link. `undefined` for a valid
 *   link, and where a later attempt may get another answer; this includes a refused redirect and an internal address
 * @throws the signal's reason when aborted; nothing else
 */
export async function probeLink(
  link: Link,
  options: ProbeOptions,
  signal: AbortSignal,
): Promise<PublishableError | undefined> {
  signal.throwIfAborted();
  if (link.protocol === 'file:') return undefined;
  const { agent, clock, timeoutMs, userAgent } = options;
  const { maxRedirects } = defaultLimits;
  const request = { agent, maxRedirects, userAgent, headers: { range: 'bytes=0-0' } };
  try {
    return await withinLimit(clock, timeoutMs, signal, async (limit) => {
      const answer = await requestLink(link, request, limit);
      // A storage that ignores ranges sends the whole archive: its status is enough.
      const judged = await readJudged(answer, clock.now());
      discard(answer);
      const fault = linkFault(answer.host, judged);
      return fault?.kind === 'retry' ? undefined : fault;
    });
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
