// Statuses that a tenant writes itself where its permissions allow it: what the schema admits and the operator never
// writes. Pure: the same dice give the same status.

import type { Dice } from '../mutation.ts';
import { between, fill, isLucky, makeOddText, pick } from './choice.ts';

const instants: readonly string[] = [
  '9999-12-31T23:59:59Z',
  '0001-01-01T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '1970-01-01T00:00:00Z',
  '2030-01-01T00:00:00.123456789Z',

  '2030-01-01t00:00:00z',
  '2030-01-01T00:00:00+23:59',
  '2999-01-01T00:00:00Z',
];
const counts: readonly number[] = [0, 1, 6, 1_000, Number.MAX_SAFE_INTEGER];

export function makeStatus(dice: Dice): object {
  const at = (): string => pick(dice, instants);
  const text = (maxChars: number): string => makeOddText(dice, maxChars);
  const version = (): string =>
    pick(dice, ['20260101-000000-abcdef01', '99991231-235959-ffffffff', text(63), '..', '']);
  const hash = (): string => pick(dice, ['', fill('a', 64), text(64)]);
  const jobId = (): string => pick(dice, ['j1', '..', '%2e%2e', text(500), fill('j', 512)]);
  const failure = (): object => ({
    count: pick(dice, counts),
    at: at(),
    retryTime: at(),
    reason: text(64),
    message: text(256),
    requestId: text(128),
    subject: text(500),
    request: text(256),
    secretVersion: text(128),
    inspectionFailures: pick(dice, counts),
  });
  const conditions = (): readonly object[] => {
    const types = [
      'Ready',
      'Exported',
      'LinkFresh',
      'TargetsSynced',
      'Reconciling',
      'Stalled',
      ...Array.from({ length: 26 }, (_, n) => `Odd${n}`),
    ];
    // All of them at full length come to more than a megabyte.
    const length = pick(dice, [20, 200, 8_000, 30_000]);
    return types.slice(0, between(dice, 1, types.length)).map((type) => ({
      type,
      status: pick(dice, ['True', 'False', 'Unknown']),
      reason: pick(dice, ['Published', 'Odd', fill('R', 1_024)]),
      message: fill(text(40), length),
      lastTransitionTime: at(),
      observedGeneration: pick(dice, counts),
    }));
  };
  const parts: readonly (readonly [string, () => unknown])[] = [
    ['conditions', conditions],
    [
      'operatorLease',
      () => pick(dice, ['other/operator', 'static-export/test-static-export-operator', text(300), '']),
    ],
    ['lastHandledRequest', () => text(256)],
    ['pages', () => pick(dice, counts)],
    [
      'job',
      () => ({
        id: jobId(),
        state: text(64),
        progress: pick(dice, [0, 100]),
        pageCount: pick(dice, counts),
        inputHash: hash(),
        startTime: at(),
        baseUrl: pick(dice, ['http://127.0.0.4:1/', 'file:///etc/passwd', text(2_000), '']),
        requestedAt: at(),
        ...(isLucky(dice, 50) && {
          completionTime: at(),
          verdict: pick(dice, ['Promoted', 'Held', 'JobLost']),
          message: text(256),
        }),
      }),
    ],
    [
      'start',
      () => ({
        key: text(64),
        at: at(),
        inputHash: hash(),
        cause: 'Pin',
        attempts: pick(dice, counts),
        request: text(256),
      }),
    ],
    [
      'candidate',
      () => ({ version: version(), jobId: jobId(), reason: text(64), digest: hash(), exportTime: at() }),
    ],
    [
      'active',
      () => ({
        version: version(),
        jobId: jobId(),
        digest: hash(),
        linkIssueTime: at(),
        linkExpirationTime: at(),
        publishTime: at(),
      }),
    ],
    [
      'history',
      () =>
        Array.from({ length: between(dice, 0, 64) }, () => ({
          version: version(),
          jobId: jobId(),
          digest: hash(),
          publishTime: at(),
          baseUrl: fill('http://127.0.0.4:1/', 2_000),
        })),
    ],
    ['nextExportTime', at],
    ['nextRefreshTime', at],
    ['failures', () => ({ export: failure(), poll: failure(), link: failure() })],
    ['refusedKey', () => ({ secretVersion: text(128), reason: 'Forbidden', at: at(), request: text(256) })],
    [
      'targets',
      () =>
        Array.from({ length: between(dice, 0, 16) }, () => ({
          target: text(600),
          synced: isLucky(dice, 50),
          reason: text(64),
          message: text(500),
          version: version(),
          revertTimes: [at(), at(), at()],
          contestedGeneration: pick(dice, counts),
          failures: pick(dice, counts),
          retryTime: at(),
        })),
    ],
  ];
  const chosen = isLucky(dice, 30) ? parts : parts.filter(() => isLucky(dice, 40));
  return {
    observedGeneration: pick(dice, [-1, ...counts]),
    ...Object.fromEntries(chosen.map(([name, make]) => [name, make()])),
  };
}
