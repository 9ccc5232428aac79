// Observations for tests: a calm one with modifiers, and an arbitrary of every combination of a stored status, an
// output and a process.

import { mirrorPlaceName } from '#operator/reconcile/mirror.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import { hashInputs } from '#operator/reconcile/spread.ts';
import { exportCauses, type Status, verdicts } from '#operator/staticexport/status-schema.ts';
import { applyDefaults, type Wanted } from '#operator/staticexport/wanted.ts';
import type { WantedMirror } from '#operator/staticexport/wanted-mirror.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import type { LinkTimes, Publication } from '#platform/wire/publication.ts';
import * as fc from '../../../../support/properties.ts';
import { words } from '../../../../support/words.ts';

export const t0 = Date.UTC(2026, 0, 5, 12);
export const at = (seconds: number): string => formatInstant(t0 + seconds * 1000);

export const wanted: Wanted = applyDefaults(
  { namespace: 'docs', name: 'site' },
  { domain: 'docs.example.com', api: { keySecretRef: { name: 'export-api' } } },
  { apiBaseUrl: 'https://api.example.com' },
);
export const mirror: WantedMirror = {
  address: 'oci://registry.example.com/team/docs',
  endpoint: undefined,
  region: 'us-east-1',
  pathStyle: false,
  secretName: 'registry',
  isRequired: true,
  compression: 'Zstd',
  unlistedMs: undefined,
};
/** The reference of the copy with this content in {@link mirror}. */
export const copyOf = (digest: string): string => `${mirror.address}@sha256:${digest}`;
export const inputHash = hashInputs(wanted);

const version = '20260105-113000-aaaaaaaa';
export const publishedLink: LinkTimes = { issuedAt: t0 - 60_000, expiresAt: t0 + 840_000 };
export const published = {
  version,
  digest: 'a'.repeat(64),
  jobId: 'se_1',
  pages: 20,
  sizeBytes: 1000,
  ref: undefined,
  link: publishedLink,
} satisfies Publication;
export const active = { version, digest: published.digest, jobId: 'se_1', pages: 20, inputHash };

/** Published, fresh, satisfied: no action is due. */
export const calm: Observation = {
  now: t0,
  uid: 'uid-1',
  generation: 1,
  wanted,
  specProblems: [],
  inputHash,
  status: {
    active,
    history: [{ ...active }],
    job: { id: 'se_1', inputHash, completionTime: at(-60), verdict: 'Promoted' },
  },
  request: undefined,
  promote: undefined,
  isHostAllowed: true,
  key: { kind: 'present', secretVersion: 'u/1', hasUsualPrefix: true },
  output: { kind: 'ours', published },
  rateLimit: { closedUntil: undefined, closedAt: undefined, refused: undefined },
  process: { polledAt: undefined, pollAfterMs: undefined, candidate: undefined },
  stepRevisions: { sitemap: 1 },
  requestTimeoutMs: 30_000,
};

/** Never exported, nothing published. */
export const fresh: Observation = { ...calm, status: {}, output: { kind: 'absent' } };

const orNothing = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });
const instant = fc.integer({ min: -7200, max: 7200 }).map(at);
// Stored times are in the past: a time in the future means a clock set back, which has its own tests.
const past = fc.integer({ min: -7200, max: 0 }).map(at);
const pastEpoch = fc.integer({ min: -7200, max: 0 }).map((seconds) => t0 + seconds * 1000);
const epoch = fc.integer({ min: -7200, max: 7200 }).map((seconds) => t0 + seconds * 1000);
const jobId = fc.constantFrom('se_1', 'se_2', 'se_3');
const hash = fc.constantFrom(inputHash, 'other');
const versionName = fc.constantFrom(version, '20260105-100000-bbbbbbbb');
const digest = fc.constantFrom('a'.repeat(64), 'b'.repeat(64));

const failure = fc.record({
  count: fc.integer({ min: 0, max: 12 }),
  lastFailureTime: past,
  retryTime: instant,
  reason: fc.constantFrom(
    ...words(`
    ServerError Forbidden JobGone NotFresher StartUnconfirmed JobFailed PinnedJobGone MirrorUnreachable
    ContentChanged
  `),
  ),
  subject: orNothing(fc.constantFrom('se_1', 'se_2', inputHash, mirrorPlaceName(mirror))),
  request: orNothing(fc.constantFrom('one', 'two')),
  refreshRequest: orNothing(fc.constantFrom('three', 'four')),
  secretVersion: orNothing(fc.constantFrom('u/1', 'u/2')),
});
const linkTimes = fc.record({ issuedAt: pastEpoch, expiresAt: epoch });
/** By what a bundle is published: a link, a reference, or both. A reference needs a digest. */
const source: fc.Arbitrary<Pick<Publication, 'digest' | 'ref' | 'link'>> = fc.oneof(
  fc.record({ digest: orNothing(digest), ref: fc.constant(undefined), link: linkTimes }),
  fc
    .record({ digest, link: orNothing(linkTimes) })
    .map(({ digest, link }) => ({ digest, ref: copyOf(digest), link })),
);
const unreadConfigMap = orNothing(fc.constant('may not be read'));
/** A reference needs a digest. */
const content = fc.oneof(
  fc.record({ digest: orNothing(digest), ref: fc.constant(undefined) }),
  digest.map((digest) => ({ digest, ref: copyOf(digest) })),
);
/** Of a repair, and of which revision. */
const repairRules = fc.constantFrom(
  {},
  { repair: 'sitemap' },
  { repair: 'sitemap', repairRevision: 'sitemap:1' },
);
const entry = fc
  .record({ version: versionName, content, jobId, inputHash: orNothing(hash), rules: repairRules })
  .map(({ content, rules, ...entry }) => ({ ...entry, ...content, ...rules }));

const status: fc.Arbitrary<Status> = fc.record({
  lastHandledRequest: orNothing(fc.constantFrom('one', 'two')),
  job: orNothing(
    fc.record({
      id: jobId,
      repair: orNothing(fc.constant('sitemap')),
      repairRevision: orNothing(fc.constant('sitemap:1')),
      cause: orNothing(fc.constantFrom(...exportCauses)),
      inputHash: orNothing(hash),
      startTime: orNothing(past),
      completionTime: orNothing(past),
      verdict: orNothing(fc.constantFrom(...verdicts)),
    }),
  ),
  start: orNothing(
    fc.record({
      key: fc.constant('key'),
      lastAttemptTime: past,
      inputHash: hash,
      cause: fc.constantFrom(...exportCauses),
      attempts: fc.integer({ min: 1, max: 4 }),
    }),
  ),
  candidate: orNothing(
    fc.record({
      version: versionName,
      digest,
      jobId,
      inputHash: orNothing(hash),
      reason: fc.constant('AwaitingPromotion'),
    }),
  ),
  rejected: orNothing(
    fc.record({
      generation: fc.constantFrom(0, 1),
      inputHash: hash,
      request: orNothing(fc.constantFrom('one', 'two')),
      versions: fc.array(fc.record({ version: versionName, digest, rejectionTime: past }), { maxLength: 2 }),
    }),
  ),
  lastHandledRefresh: orNothing(fc.constantFrom('three', 'four')),
  lastHandledHook: orNothing(fc.constantFrom('five', 'six')),
  hook: orNothing(fc.record({ token: fc.constantFrom('five', 'six'), firstTime: past, lastTime: past })),
  active: orNothing(
    fc
      .tuple(
        entry,
        fc.record({
          linkIssueTime: orNothing(past),
          linkExpirationTime: orNothing(instant),
          mirrorCheckTime: orNothing(past),
          copyLossTime: orNothing(past),
        }),
      )
      .map(([version, times]) => ({ ...version, ...times })),
  ),
  history: orNothing(fc.uniqueArray(entry, { maxLength: 2, selector: (one) => one.version })),
  nextExportTime: orNothing(instant),
  failures: orNothing(
    fc.record({
      export: orNothing(failure),
      poll: orNothing(failure),
      link: orNothing(failure),
      mirror: orNothing(failure),
    }),
  ),
  refusedKey: orNothing(
    fc.record({
      secretVersion: fc.constantFrom('u/1', 'u/2'),
      reason: fc.constantFrom('Unauthorized' as const, 'Forbidden' as const),
      refusalTime: past,
      request: orNothing(fc.constantFrom('one', 'two')),
    }),
  ),
});

export const anyObservation: fc.Arbitrary<Observation> = fc.record({
  now: fc.constant(t0),
  uid: fc.constantFrom('uid-1', 'uid-2'),
  generation: fc.constant(1),
  stepRevisions: fc.constantFrom({ sitemap: 1 }, { sitemap: 2 }),
  specProblems: fc.constantFrom([], ['spec.schedule (must be text; put it in quotes)']),
  wanted: fc
    .record({
      pin: orNothing(
        fc.oneof(
          versionName.map((name) => ({ version: name, jobId: undefined })),
          jobId.map((id) => ({ version: undefined, jobId: id })),
        ),
      ),
      isSuspended: fc.boolean(),
      quietPeriodMs: fc.constantFrom(undefined, 0, 500, 60_000, 3_600_000),
      schedule: fc.constantFrom(undefined, '17 * * * *', 'nonsense'),
      minIntervalMs: fc.constantFrom(1000, 30_000),
      publishesLink: fc.boolean(),
      repair: orNothing(fc.constant('sitemap')),
      mirror: orNothing(
        fc
          .record({ isRequired: fc.boolean(), unlistedMs: fc.constantFrom(undefined, 86_400_000) })
          .map((changes) => ({ ...mirror, ...changes })),
      ),
    })
    .map(({ publishesLink, ...changes }): Wanted => {
      const isNeedless = !publishesLink && changes.mirror?.isRequired === true;
      return { ...wanted, ...changes, publishesLink: !isNeedless };
    }),
  inputHash: fc.constant(inputHash),
  status,
  request: orNothing(fc.constantFrom('one', 'two')),
  promote: orNothing(versionName),
  reject: orNothing(versionName),
  refreshRequest: orNothing(fc.constantFrom('three', 'four')),
  hookRequest: orNothing(fc.constantFrom('five', 'six')),
  isHostAllowed: fc.boolean(),
  key: fc.constantFrom(
    { kind: 'present' as const, secretVersion: 'u/1', hasUsualPrefix: true },
    { kind: 'missing' as const },
  ),
  output: fc.oneof(
    fc.record({ kind: fc.constant('absent' as const), unreadConfigMap }),
    fc.constant({ kind: 'foreign' as const, objectKind: 'Secret' as const }),
    fc.constant({ kind: 'unreadable' as const, why: 'may not be read' }),
    fc.record({
      kind: fc.constant('ours' as const),
      unreadConfigMap,
      published: orNothing(
        fc
          .record({
            version: versionName,
            source,
            jobId,
            pages: fc.constant(20),
            sizeBytes: fc.constant(1000),
          })
          .map(({ source, ...published }) => ({ ...published, ...source })),
      ),
    }),
  ),
  rateLimit: fc.record({
    closedUntil: orNothing(epoch),
    closedAt: orNothing(pastEpoch),
    refused: fc.constant(undefined),
  }),
  process: fc.record({
    polledAt: orNothing(pastEpoch),
    pollAfterMs: orNothing(fc.constantFrom(1000, 120_000)),
    mirror: orNothing(fc.record({ isRunning: fc.boolean(), link: orNothing(linkTimes) })),
    refresh: orNothing(fc.record({ token: fc.constantFrom('three', 'four'), isPublished: fc.boolean() })),
    candidate: orNothing(
      fc.record({
        jobId,
        link: orNothing(linkTimes),
        inspection: fc.constantFrom(
          'not-started' as const,
          'running' as const,
          'read' as const,
          'failed' as const,
        ),
      }),
    ),
  }),
  requestTimeoutMs: fc.constant(30_000),
});
