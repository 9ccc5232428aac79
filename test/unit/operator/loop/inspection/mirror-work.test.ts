// Work on the published copy between reconciles: one reconcile begins it, its end wakes the resource, and the next
// reconcile takes the outcome. An outcome of other work is dropped.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PublishedLink } from '#bundle/published-bundle.ts';
import { copyFailure, workOnMirror } from '#operator/loop/inspection/mirror-work.ts';
import { dropMirrorWork, resourceId } from '#operator/loop/memory.ts';
import { type Mirrors, noMirrors } from '#operator/loop/ports.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import type { ActionResult } from '#operator/reconcile/result.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { resource } from '../../../../simulation/simulation.ts';
import { copied, linkless, ref, withStatus, withWanted } from '../../reconcile/cases/conditions.ts';
import { active, at, calm, mirror, publishedLink, t0 } from '../../reconcile/cases/observations.ts';
import { bytesOf, linkOf, openRecorded, type Recorded } from '../recorded-simulation.ts';

type LookCall = Parameters<Mirrors['look']>;
type CopyCall = Parameters<Mirrors['copy']>;

interface Environment {
  readonly calls: Recorded['calls'];
  readonly clock: Recorded['simulation']['clock'];
  readonly cluster: Recorded['simulation']['cluster'];
  readonly memory: Recorded['context']['memory'];
  readonly looks: LookCall[];
  readonly copies: CopyCall[];
  readonly woken: ObjectKey[];
  /** One reconcile that works on the copy. */
  work(work: 'look' | 'copy', observation: Observation, published?: PublishedLink): Promise<ActionResult>;
}

const never = new AbortController().signal;
const id = resourceId(resource);
const inspection = { digest: active.digest, pages: 20, sizeBytes: 1000 };
const isCopied: Mirrors['copy'] = async () => ({ ...inspection, copy: { kind: 'copied', ref } });
const isThere: Mirrors['look'] = async () => ({ isThere: true, unlisted: [] });

function openEnvironment(answers: Partial<Pick<Mirrors, 'look' | 'copy' | 'refuse'>> = {}): Environment {
  const { look = isThere, copy = isCopied, refuse = () => undefined } = answers;
  const looks: LookCall[] = [];
  const copies: CopyCall[] = [];
  const woken: ObjectKey[] = [];
  const recorded = openRecorded();
  const { cluster } = recorded.simulation;
  cluster.putSecret({ namespace: 'docs', name: 'registry' }, { username: 'robot' });
  const mirrors: Mirrors = {
    ...noMirrors,
    refuse,
    look: (...call) => {
      looks.push(call);
      return look(...call);
    },
    copy: (...call) => {
      copies.push(call);
      return copy(...call);
    },
  };
  const context = { ...recorded.context, mirrors, wake: (key: ObjectKey) => void woken.push(key) };
  const metadata = { ...(recorded.simulation.object()?.metadata ?? assert.fail()), uid: 'uid-1' };
  const work: Environment['work'] = (kind, observation, published) =>
    recorded.simulation.clock.finish(
      workOnMirror(metadata, kind, observation, published, context, recorded.signal),
    );
  return {
    calls: recorded.calls,
    clock: recorded.simulation.clock,
    cluster,
    memory: context.memory,
    looks,
    copies,
    woken,
    work,
  };
}

const published: PublishedLink = { url: linkOf('published.zip'), ...publishedLink };
const uncopied = withWanted(calm, { mirror });
const place = {
  address: mirror.address,
  endpoint: mirror.endpoint,
  region: mirror.region,
  pathStyle: mirror.pathStyle,
  owner: { namespace: 'docs', name: 'site', uid: 'uid-1', isExclusive: false },
  secret: { name: 'registry', data: { username: bytesOf('robot') } },
};
const removal = { code: 'Denied', message: 'Registry r returned 405.', retryAfterMs: undefined };
const working: ActionResult = { kind: 'mirror-working' };

test('a look is begun by one reconcile, wakes the resource, and its outcome is taken once', async () => {
  const { clock, memory, looks, woken, work } = openEnvironment({
    look: async () => ({ isThere: false, unlisted: ['c'.repeat(64)], retentionFailure: removal }),
  });
  assert.deepEqual(await work('look', copied), working);
  await clock.pass(0);
  assert.deepEqual(woken.map(resourceId), [id]);
  assert.deepEqual(await work('look', copied), {
    kind: 'mirror-looked',
    isThere: false,
    unlisted: ['c'.repeat(64)],
    retentionFailure: removal,
  });
  assert.equal(memory.mirrorWorks.size, 0);
  assert.equal(looks.length, 1);
  const [lookPlace, copy, retention] = looks[0] ?? assert.fail();
  assert.deepEqual([lookPlace, copy], [place, { ref, digest: active.digest }]);
  assert.deepEqual(retention, { listed: [active.digest], expired: [], known: [] });
});

test('a look removes the copies whose time has passed', async () => {
  const expired = 'e'.repeat(64);
  const { looks, work } = openEnvironment();
  const retained = withWanted(copied, { mirror: { ...mirror, unlistedMs: 86_400_000 } });
  await work(
    'look',
    withStatus(retained, { unlistedCopies: [{ digest: expired, firstSeenTime: at(-86_400) }] }),
  );
  assert.deepEqual(looks[0]?.[2], { listed: [active.digest], expired: [expired], known: [expired] });
  assert.equal(looks[0][0].owner.isExclusive, true);
});

test('a copy is made from the published link, with the time and the digest of the published version', async () => {
  const { clock, copies, work } = openEnvironment();
  assert.deepEqual(await work('copy', uncopied, published), working);
  await clock.pass(0);
  assert.deepEqual(await work('copy', uncopied, published), {
    kind: 'mirror-copied',
    ref,
    link: publishedLink,
  });
  const [link, order] = copies[0] ?? assert.fail();
  assert.ok(link.isSame(published.url));
  assert.deepEqual(order, {
    place,
    compression: 'Zstd',
    isRequired: true,
    versionStamp: '20260105-113000',
    repair: undefined,
    expectedDigest: active.digest,
  });
});

test('a copy is made from the link that was issued for it, and published without a link', async () => {
  const { clock, memory, copies, work } = openEnvironment();
  const link = { url: linkOf('issued.zip'), issuedAt: t0, expiresAt: t0 + 900_000 };
  const stop = new AbortController();
  memory.mirrorWorks.set(id, { name: 'link', link, stop, isRunning: false, done: undefined });
  assert.deepEqual(await work('copy', linkless), working);
  await clock.pass(0);
  assert.deepEqual(await work('copy', linkless), { kind: 'mirror-copied', ref, link: undefined });
  assert.ok(copies[0]?.[0].isSame(link.url));
});

test('while work runs, no reconcile begins other work', async () => {
  const { clock, looks, copies, work } = openEnvironment({ look: () => new Promise(() => {}) });
  for (const kind of ['look', 'look', 'copy'] as const) {
    assert.deepEqual(await work(kind, copied, published), working);
    await clock.pass(0);
  }
  assert.deepEqual([looks.length, copies.length], [1, 0]);
});

for (const [name, later] of [
  [
    'for another place',
    withWanted(copied, { mirror: { ...mirror, address: 'oci://registry.example.com/b' } }),
  ],
  ['with another Secret', withWanted(copied, { mirror: { ...mirror, secretName: 'other' } })],
  ['with another compression', withWanted(copied, { mirror: { ...mirror, compression: 'Gzip' } })],
  ['of another version', withStatus(copied, { active: { ...active, digest: 'b'.repeat(64), ref } })],
  ['of another copy', withStatus(copied, { active: { ...active, ref: `${mirror.address}@sha256:other` } })],
] as const) {
  test(`an outcome ${name} is dropped, and the work begins again`, async () => {
    const { clock, cluster, looks, work } = openEnvironment();
    cluster.putSecret({ namespace: 'docs', name: 'other' }, {});
    await work('look', copied);
    await clock.pass(0);
    assert.deepEqual(await work('look', later), working);
    assert.equal(looks.length, 2);
  });
}

test('a look is not the outcome of a copy', async () => {
  const { clock, copies, work } = openEnvironment();
  await work('look', copied);
  await clock.pass(0);
  assert.deepEqual(await work('copy', copied, published), working);
  assert.equal(copies.length, 1);
});

test('work that was stopped has no outcome, and wakes nothing', async () => {
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<Mirrors['look']>>>();
  const { clock, memory, looks, woken, work } = openEnvironment({ look: () => promise });
  await work('look', copied);
  dropMirrorWork(memory, id);
  assert.equal(looks[0]?.[3].aborted, true);
  resolve({ isThere: false, unlisted: [] });
  await clock.pass(0);
  assert.deepEqual(woken, []);
  assert.equal(memory.mirrorWorks.size, 0);
});

test('work ends at its deadline', async () => {
  const { clock, looks, work } = openEnvironment({ look: () => new Promise(() => {}) });
  await work('look', copied);
  await clock.pass(599_000);
  assert.equal(looks[0]?.[3].aborted, false);
  await clock.pass(1000);
  assert.equal(looks[0]?.[3].aborted, true);
});

test('a copy waits for a slot of the inspections, and a look does not', async () => {
  const { memory, clock, looks, copies, work } = openEnvironment();
  const { slots } = memory;
  const slot = await slots.take('other/site', new AbortController().signal);
  assert.deepEqual(await work('copy', uncopied, published), working);
  await clock.pass(60_000);
  assert.equal(copies.length, 0);
  slot.release();
  await clock.pass(0);
  assert.equal(copies.length, 1);
  assert.equal(slots.taken, 0, 'the slot is free again');
  const taken = await slots.take('other/site', new AbortController().signal);
  await work('copy', uncopied, published);
  await work('look', copied);
  assert.equal(looks.length, 1);
  taken.release();
});

test('a copy that waits for another search has its whole time afterwards, and holds no slot meanwhile', async () => {
  const { memory, clock, copies, work } = openEnvironment({ copy: () => new Promise(() => {}) });
  const { slots } = memory;
  const other = await slots.take('other/site', never, true);
  const searching = { ...uncopied.status, active: { ...active, repair: 'sitemap search' } };
  await work('copy', withStatus(uncopied, searching), published);
  await clock.pass(20 * 60_000);
  assert.deepEqual([copies.length, slots.taken, slots.waiting], [0, 1, 1]);
  other.release();
  await clock.pass(599_000);
  assert.equal(copies[0]?.[2].aborted, false);
  await clock.pass(1000);
  assert.equal(copies[0]?.[2].aborted, true);
});

test('a place that may not be used fails at once, and begins nothing', async () => {
  const failure = { code: 'HostNotAllowed', message: 'Add the host.', retryAfterMs: undefined };
  const { memory, looks, work } = openEnvironment({ refuse: () => failure });
  assert.deepEqual(await work('look', copied), { kind: 'mirror-failed', failure });
  assert.deepEqual([looks.length, memory.mirrorWorks.size], [0, 0]);
});

test('a resource without a mirror or a digest has no work', async () => {
  const { calls, work } = openEnvironment();
  assert.deepEqual(await work('look', calm), { kind: 'none' });
  const nameless = withStatus(copied, { active: { ...active, digest: undefined } });
  assert.deepEqual(await work('look', nameless), { kind: 'none' });
  assert.deepEqual(calls, []);
});

test('a failure that the copy reports is the failure of the work', async () => {
  const failure = { code: 'Denied', message: 'registry.example.com returned 401.', retryAfterMs: 1000 };
  const { clock, work } = openEnvironment({
    copy: async () => ({ ...inspection, copy: { kind: 'failed', failure } }),
  });
  await work('copy', uncopied, published);
  await clock.pass(0);
  assert.deepEqual(await work('copy', uncopied, published), { kind: 'mirror-failed', failure });
});

test('an error of the mirror is the failure of the work', async () => {
  const { clock, work } = openEnvironment({
    look: () => Promise.reject(new PublishableError('Unreachable', 'no answer', { retryAfterMs: 7000 })),
  });
  await work('look', copied);
  await clock.pass(0);
  const failure = { code: 'Unreachable', message: 'no answer', retryAfterMs: 7000 };
  assert.deepEqual(await work('look', copied), { kind: 'mirror-failed', failure });
});

for (const [name, error, code, retryAfterMs] of [
  [
    'of a mirror keeps its code and Retry-After',
    new PublishableError('Denied', 'x', { retryAfterMs: 5 }),
    'Denied',
    5,
  ],
  [
    'about other content than the published one is ContentChanged',
    new PublishableError('DigestMismatch', 'x', { kind: 'refused' }),
    'ContentChanged',
    undefined,
  ],
  [
    'about an archive keeps its code',
    new PublishableError('LinkExpired', 'x', { kind: 'wait' }),
    'LinkExpired',
    undefined,
  ],
] as const) {
  test(`a failure ${name}`, () => {
    const failure = copyFailure(error);
    assert.deepEqual([failure.code, failure.retryAfterMs], [code, retryAfterMs]);
  });
}

test('a failure never holds the text of an unknown error', () => {
  const failure = copyFailure(new Error('https://storage.example.com/?signature=secret'));
  assert.ok(!`${failure.code}${failure.message}`.includes('secret'));
});
