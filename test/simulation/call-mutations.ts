// More rules broken on purpose, of calls and of outputs: each is noticed by an oracle that every life is judged by.
// The rows of rule-mutations.ts go on here.

import type { Row } from './rule-mutations.ts';

export const callMutations: readonly Row[] = [
  [
    'a start is sent again before its answer is overdue',
    '3',
    'reconcile/adopt.ts',
    'at + requestTimeoutMs + resendGraceMs',
    'at + requestTimeoutMs',
    'silentStart',
    /before its answer was overdue/,
  ],
  [
    'a forbidden key is tried every minute',
    '8',
    'reconcile/access.ts',
    'refused.at + forbiddenRetryMs',
    'refused.at + lookAgainMs',
    'forbiddenKey',
    /forbidden a moment ago/,
  ],
  [
    'Retry-After holds for the lane that heard it',
    '8',
    'reconcile/settle-failure.ts',
    'isForAll && wait > 0 ?',
    'isForAll && wait < 0 ?',
    'retryAfterStorm',
    /before Retry-After was over/,
  ],
  [
    'an output of somebody else is taken over',
    '11',
    'loop/gather.ts',
    'if (secret !== undefined && !isOurs(secret)) return',
    'if (secret !== undefined && uid === undefined) return',
    'foreignOutput',
    /somebody else was overwritten/,
  ],
  [
    'the ConfigMap says when it was written',
    '2',
    'loop/outputs.ts',
    '...(digest !== undefined && { [outputKeys.digest]: digest }),',
    "[outputKeys.digest]: digest ?? '', at: String(Math.random()),",
    'day',
    /changed without new content/,
  ],
  [
    'the hourly look comes once a day',
    '10',
    'reconcile/wake.ts',
    'const fullLook = now + hourMs',
    'const fullLook = now + 24 * hourMs',
    'quietDay',
    /longer than the hourly look/,
  ],
  [
    'a link that is published is dated anew when it is handed out again',
    '1',
    'reconcile/settle.ts',
    'isComparable && (isPublished || !isFresher(clock, published, now))',
    'isComparable && !isPublished && !isFresher(clock, published, now)',
    'oldLink',
    /not replaced at its time/,
  ],
];
