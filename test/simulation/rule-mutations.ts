// The rules, each broken on purpose in the source text of the product itself: the text that is replaced, the
// scenario that must notice, and the words it must notice with. README.md shows the same list.

import type { scenarios } from './scenarios.ts';

export interface RuleMutation {
  readonly rule: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly scenario: keyof typeof scenarios;
  readonly caught: RegExp;
}

type Row = readonly [
  name: string,
  rule: string,
  file: string,
  from: string,
  to: string,
  scenario: keyof typeof scenarios,
  caught: RegExp,
];

const late = /not replaced at its time|dead link/;
const idle = /written (without a change|before its time)/;
const applying = 'refusalOf(edge.cluster.applySecret(secret, signal), signal)';
const unfenced = `refusalOf((async () => edge.cluster.applySecret({ ...secret, readVersion: (await edge.cluster
  .readSecret({ namespace: metadata.namespace, name }, signal))?.metadata.resourceVersion }, signal))(), signal)`;

const rows: readonly Row[] = [
  [
    'a refresh comes late',
    '1',
    'reconcile/link-timing.ts',
    '/ 100;\n  const earlierMs',
    '/ 60;\n  const earlierMs',
    'day',
    late,
  ],
  [
    'jitter is later',
    '10',
    'reconcile/link-timing.ts',
    'ageMs - earlierMs',
    'ageMs + earlierMs',
    'day',
    late,
  ],
  [
    'a link that is not fresher is written',
    '1',
    'reconcile/settle.ts',
    'isStale && published',
    'isStale && now < 0 && published',
    'sameLink',
    /handed out again|dead link/,
  ],
  [
    'after a stale link nothing is tried until long after its end',
    '1',
    'reconcile/link-timing.ts',
    'published.expiresAt + 1000,',
    'published.expiresAt + 600_000,',
    'sameLink',
    late,
  ],
  [
    'the mark is dropped',
    '3',
    'reconcile/settle-failure.ts',
    '{ ...status, start: mark, failures',
    '{ ...status, start: undefined, failures',
    'lostStart',
    /jobs nobody follows/,
  ],
  [
    'each send of a mark has a new key',
    '3',
    'loop/execute.ts',
    'idempotencyKey: mark.key',
    'idempotencyKey: edge.random.uuid()',
    'lostStart',
    /jobs nobody follows/,
  ],
  [
    'a mark is sent for ever',
    '3',
    'reconcile/adopt.ts',
    'maxSends = 3',
    'maxSends = 99',
    'silentStart',
    /sent \d+ times/,
  ],
  ['the fence is forgotten', '13', 'loop/outputs.ts', applying, unfenced, 'sleepingLeader', /rolled back/],
  [
    'the gate of shrinking is skipped',
    '4',
    'reconcile/promotion.ts',
    '* 100 > before',
    '* 100 > 99 * before',
    'shrunk',
    /past its gate/,
  ],
  [
    'the gate of pages is skipped',
    '4',
    'reconcile/promotion.ts',
    'found.pages < rules.minPages',
    'found.pages < 0',
    'empty',
    /past its gate/,
  ],
  [
    'the same content is promoted',
    '2',
    'reconcile/promotion.ts',
    "return { kind: 'unchanged' }",
    "return { kind: 'promote' }",
    'twoExports',
    /same content/,
  ],
  [
    'new content is taken for the same',
    '2',
    'reconcile/promotion.ts',
    'found.digest === published?.digest',
    'published !== undefined',
    'twoExports',
    /new content/,
  ],
  [
    'back-off starts anew with each failure',
    '8',
    'reconcile/adopt.ts',
    '(status.failures?.export?.count ?? 0) + 1',
    '1',
    'failingStarts',
    /starts in six hours/,
  ],
  [
    'a refused key is tried on',
    '8',
    'reconcile/access.ts',
    "refused.reason === 'Unauthorized'",
    'refused.at < 0',
    'refusedKey',
    /refused key/,
  ],
  [
    'Retry-After is not shared',
    '8',
    'reconcile/access.ts',
    'return gate.closedUntil > now ? gate.closedUntil : undefined',
    'return undefined',
    'retryAfter',
    /before Retry-After/,
  ],
  [
    'the probe is ignored',
    '9',
    'loop/execute.ts',
    "(await edge.bundles.probe(link, signal)) !== 'dead'",
    '(await edge.bundles.probe(link, signal)).length > 0',
    'deadOnArrival',
    /dead link/,
  ],
  [
    'a lost job is not made good',
    '8',
    'reconcile/classify.ts',
    "=== 'JobGone' && candidate === undefined",
    "=== 'JobGone' && now < 0",
    'lostJob',
    /no live link/,
  ],
  [
    'a lost output is not made again',
    '11',
    'reconcile/choose.ts',
    "case 'due':\n    case 'dead':\n      return true;",
    "case 'due':\n      return true;\n    case 'dead':\n      return false;",
    'lostOutput',
    /not within/,
  ],
  [
    'the history evicts the pinned version',
    '4',
    'reconcile/history.ts',
    ' || isPinned(entry, pin)',
    '',
    'pinnedHistory',
    /pinned version is gone/,
  ],
  [
    'suspension does not hold a complete job',
    '4',
    'reconcile/classify.ts',
    "if (wanted.isSuspended) return { kind: 'held', why: 'Suspended' };\n  return complete",
    'return complete',
    'suspended',
    /while suspended/,
  ],
  [
    'an unknown status is a failure',
    '7',
    'reconcile/settle.ts',
    "case 'unfinished':\n      return calm;",
    "case 'unfinished':\n      return { ...calm, job: { ...seen, finishedAt: formatInstant(now), verdict: 'JobFailed' as const } };",
    'prompt',
    /not within/,
  ],
  [
    'status is written in every pass',
    '6',
    'loop/save.ts',
    'isSameStatus(object.status, next)',
    'isSameStatus(undefined, next)',
    'day',
    idle,
  ],
  [
    'the ConfigMap is written in every pass',
    '6',
    'loop/outputs.ts',
    'isConfigMapKept || isForeign',
    'isForeign',
    'day',
    idle,
  ],
  [
    'a running job is not waited for',
    '14',
    'reconcile/wake.ts',
    'yield lane.pollAt;\n      return;',
    'return;',
    'prompt',
    /not within/,
  ],
  [
    'a new process waits before its first poll',
    '14',
    'reconcile/poll.ts',
    'polledAt > now ? 0',
    'polledAt > now ? now + 120_000',
    'day',
    /a restart would wake/,
  ],
  [
    'what is forbidden to one lane closes the key',
    '8',
    'reconcile/settle-failure.ts',
    ' && status.active === undefined)',
    ')',
    'forbiddenInputs',
    late,
  ],
];

export const ruleMutations: Readonly<Record<string, RuleMutation>> = Object.fromEntries(
  rows.map(([name, rule, file, from, to, scenario, caught]) => [
    name,
    { rule, file, from, to, scenario, caught },
  ]),
);
