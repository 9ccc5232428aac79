// The loop's port of mirrors: what a thread may use, and what its end means at each moment of a copy.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { BroadcastChannel } from 'node:worker_threads';
import { defaultLimits } from '#bundle/limits.ts';
import type { LookTask } from '#mirror/task/mirror-task.ts';
import type { CopyOrder, MirrorPlace } from '#operator/loop/ports.ts';
import type { MirrorHosts } from '#operator/services/mirror-hosts.ts';
import { createMirrors, type MirrorThreads, type PlainInspection } from '#operator/services/mirrors.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { requireLink } from '../../../support/storage-server.ts';
import { failsWith } from '../../mirror/bundle-parts.ts';
import { hangChannel } from './hang-channel.ts';

const never = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), 'mirrors-'));
const opened: MirrorThreads[] = [];
after(async () => {
  await Promise.all(opened.map((mirrors) => mirrors.close()));
  rmSync(folder, { recursive: true, force: true });
});

const digest = 'a'.repeat(64);
const inspection = { digest, pages: 3, sizeBytes: 9, notes: [] };
const link = requireLink('https://storage.example.com/site?X-Amz-Signature=5ec2e7');
const owner = { namespace: 'docs', name: 'site', uid: 'uid-1', isExclusive: false };
const place: MirrorPlace = {
  address: 'oci://registry.example.com/docs/site',
  ...{ endpoint: undefined, region: 'us-east-1', pathStyle: false, owner },
  secret: { name: 'mirror', data: { username: Buffer.from('bot'), password: Buffer.from('hunter2') } },
};

function open(change: Partial<MirrorHosts> = {}, plain: PlainInspection[] = []): MirrorThreads {
  const mirrors = createMirrors({
    program: new URL('./mirror-thread.ts', import.meta.url),
    hosts: {
      ...{ allowedHosts: ['registry.example.com', 's3.us-east-1.amazonaws.com'], allowPrivateHosts: false },
      ...{ defaultMirror: undefined, ...change },
    },
    sizes: { maxArchiveBytes: 1000, maxBundleBytes: 2000 },
    allowPrivateLinks: false,
    extraCaPem: async () => 'PEM',
    inspect: async (request) => {
      plain.push(request);
      return inspection;
    },
    ...{ clock: systemClock, random: systemRandom },
  });
  opened.push(mirrors);
  return mirrors;
}

const order = (versionStamp: string, change: Partial<CopyOrder> = {}): CopyOrder => ({
  ...{ place, compression: 'Zstd', versionStamp, isRequired: true, repair: undefined },
  expectedDigest: undefined,
  ...change,
});

async function sentTo(mirrors: MirrorThreads, where: MirrorPlace): Promise<LookTask> {
  const found = await mirrors.look(
    where,
    { ref: 'r', digest },
    { listed: ['l'], expired: ['e'], known: [] },
    never,
  );
  return JSON.parse(found.unlisted?.[0] ?? '');
}

test('a copy is an inspection and a reference', async () => {
  const done = await open().copy(link, order('copying done'), never);
  assert.deepEqual(done, { ...inspection, copy: { kind: 'copied', ref: 'oci://x' } });
});

test('a copy that the mirror refuses after the inspection is told of, for both policies', async () => {
  for (const isRequired of [true, false]) {
    const { copy, ...rest } = await open().copy(link, order('copying refused', { isRequired }), never);
    assert.deepEqual(rest, inspection);
    assert.deepEqual(copy, {
      kind: 'failed',
      failure: { code: 'Denied', message: 'No.', retryAfterMs: 7000 },
    });
  }
});

test('with a repair, what is not copied was not inspected, for both policies', async () => {
  const failure = { code: 'Denied', message: 'No.', retryAfterMs: 7000 };
  const plain: PlainInspection[] = [];
  for (const isRequired of [true, false]) {
    for (const end of ['copying refused', 'copying fail', 'opening fail']) {
      const repairing = order(end, { isRequired, repair: 'sitemap' });
      assert.deepEqual(await open({}, plain).copy(link, repairing, never), {
        copy: { kind: 'failed', failure },
      });
    }
  }
  assert.deepEqual(plain, []);
});

test('a site that is too large for its search is refused, with the remedy', async () => {
  const rows = {
    'inspecting grow': 'its inspection needs more than 256 MB of memory',
    'searching grow': 'its search needs more than 256 MB of memory',
    'searching fill': 'its pages have too many different words',
    'copying grow': 'its copy needs more than 256 MB of memory',
  };
  for (const [moment, limit] of Object.entries(rows)) {
    const copying = open().copy(link, order(moment, { repair: 'search' }), never);
    await assert.rejects(copying, (error) => {
      assert.ok(error instanceof PublishableError, moment);
      assert.deepEqual([error.code, error.kind], ['TooLargeForSearch', 'refused'], moment);
      assert.match(error.message, new RegExp(`: ${limit}; remove the field, `));
      return true;
    });
  }
});

test('a repair by a rule that this operator does not know is named, and starts no thread', async () => {
  const { copy } = await open().copy(link, order('copying exit', { repair: 'sitemap footnotes' }), never);
  assert.ok(copy.kind === 'failed');
  assert.match(
    copy.failure.message,
    /has no rule footnotes\. Upgrade it, or remove the rule from spec\.transform\./,
  );
});

test('a mirror that is required and refuses before the download ends the work', async () => {
  const failure = { code: 'Denied', message: 'No.', retryAfterMs: 7000 };
  assert.deepEqual(await open().copy(link, order('opening fail'), never), {
    copy: { kind: 'failed', failure },
  });
});

test('without a mirror that is not required, the archive is inspected as always', async () => {
  const plain: PlainInspection[] = [];
  const mirrors = open({}, plain);
  const wish = { isRequired: false, expectedDigest: digest };
  const refused = await mirrors.copy(link, order('opening fail', wish), never, 500);
  assert.ok(refused.copy.kind === 'failed');
  assert.equal(refused.copy.failure.code, 'Denied');
  const elsewhere = { ...place, address: 'oci://other.example.com/docs' };
  const notAllowed = await mirrors.copy(
    link,
    order('copying done', { ...wish, place: elsewhere }),
    never,
    500,
  );
  assert.ok(notAllowed.copy.kind === 'failed');
  assert.equal(notAllowed.copy.failure.code, 'HostNotAllowed');
  const limits = { ...defaultLimits, maxArchiveBytes: 500, maxTotalBytes: 500 };
  assert.deepEqual(plain, [
    { link, limits, expectedDigest: digest },
    { link, limits, expectedDigest: digest },
  ]);
});

test('a place that the flags refuse starts no thread', async () => {
  const mirrors = open();
  const elsewhere = { ...place, address: 'oci://other.example.com/docs' };
  const { secret, ...sent } = elsewhere;
  assert.equal(mirrors.refuse(sent, true)?.code, 'HostNotAllowed');
  assert.equal(mirrors.refuse({ ...sent, address: place.address }, secret !== undefined), undefined);
  const refused = failsWith('HostNotAllowed');
  const { copy } = await mirrors.copy(link, order('copying exit', { place: elsewhere }), never);
  assert.equal(copy.kind === 'failed' && copy.failure.code, 'HostNotAllowed');
  await assert.rejects(mirrors.verify(elsewhere, 'exit', digest, never), refused);
  await assert.rejects(
    mirrors.look(elsewhere, { ref: 'exit', digest }, { listed: [], expired: [], known: [] }, never),
    refused,
  );
});

/** Aborts when the next thread hangs: a busy machine takes any time to start one. */
function whenItHangs(reason: Error = new DOMException('too late', 'TimeoutError')): AbortSignal {
  const controller = new AbortController();
  const channel = new BroadcastChannel(hangChannel).unref();
  channel.onmessage = () => {
    channel.close();
    controller.abort(reason);
  };
  return controller.signal;
}

for (const [moment, what] of [
  ['opening', 'exit'],
  ['opening', 'hang'],
  ['inspecting', 'exit'],
  ['inspecting', 'hang'],
  ['copying', 'exit'],
  ['copying', 'hang'],
] as const) {
  test(`a thread that meets ${what} while ${moment}`, async () => {
    const isLate = what === 'hang';
    const copying = open().copy(link, order(`${moment} ${what}`), isLate ? whenItHangs() : never);
    if (moment === 'opening') {
      const { copy, ...rest } = await copying;
      assert.deepEqual(rest, {});
      assert.ok(copy.kind === 'failed');
      assert.equal(copy.failure.code, isLate ? 'Unreachable' : 'WorkFailed');
      assert.match(copy.failure.message, /registry/);
    } else if (moment === 'inspecting') {
      const code = isLate ? 'PreparationTimeout' : 'PreparationFailed';
      await assert.rejects(copying, (error) => error instanceof PublishableError && error.code === code);
    } else {
      const { copy, ...rest } = await copying;
      assert.deepEqual(rest, inspection);
      assert.equal(copy.kind === 'failed' && copy.failure.code, isLate ? 'Unreachable' : 'WorkFailed');
    }
  });
}

test('a stop ends a copy with its own reason, at any moment', async () => {
  for (const moment of ['opening', 'inspecting', 'copying']) {
    const reason = new Error('stopping');
    const stop = whenItHangs(reason);
    const copying = open().copy(link, order(`${moment} hang`, { isRequired: false }), stop);
    await assert.rejects(copying, (error) => error === reason);
  }
});

test('a look, and why a place could not be tidied', async () => {
  const mirrors = open();
  const look = (ref: string, signal = never) =>
    mirrors.look(place, { ref, digest }, { listed: [], expired: [], known: [] }, signal);
  assert.deepEqual((await look('kept')).retentionFailure, {
    code: 'Denied',
    message: 'No.',
    retryAfterMs: 7000,
  });
  assert.equal((await look('r')).retentionFailure, undefined);
  await assert.rejects(look('fail'), failsWith('Denied'));
  await assert.rejects(look('exit'), failsWith('WorkFailed', /registry/, true));
  await assert.rejects(look('hang', whenItHangs()), failsWith('Unreachable', /longer than allowed/, true));
  assert.equal((await look('r')).isThere, true);
  assert.deepEqual(await mirrors.verify(place, 'r', digest, never), inspection);
});

test('a thread gets the Secret of the resource and what the flags allow, and never an identity', async () => {
  const { place: sent, listed, expired } = await sentTo(open(), place);
  assert.equal(sent.usesIdentity, false);
  assert.equal(sent.access.secret?.name, 'mirror');
  assert.deepEqual([sent.access.allowPrivateAddresses, sent.access.isHttpAllowed], [false, false]);
  assert.equal(sent.access.extraCaPem, 'PEM');
  assert.deepEqual([listed, expired], [['l'], ['e']]);
  const bucket = { ...place, address: 's3://bucket/docs', secret: { name: 'empty', data: {} } };
  const own = { ...bucket, credentialsFolder: undefined, isHttpAllowed: false };
  const inBucket = await sentTo(open({ defaultMirror: { ...own, address: 's3://bucket/docs' } }), bucket);
  assert.deepEqual([inBucket.place.usesIdentity, inBucket.place.access.secret?.name], [false, 'empty']);
});

test('the default mirror of a bucket uses the identity of the pod, and a folder in its place', async () => {
  const own = {
    address: 's3://bucket/{namespace}/{name}',
    ...{ endpoint: undefined, region: 'eu-west-1', pathStyle: false, isHttpAllowed: false },
    credentialsFolder: undefined,
  };
  const where = { ...place, ...own, address: 's3://bucket/docs/site', secret: undefined };
  const byIdentity = await sentTo(open({ defaultMirror: own }), where);
  assert.deepEqual([byIdentity.place.usesIdentity, byIdentity.place.access.secret], [true, undefined]);

  const mirrors = open({ defaultMirror: { ...own, credentialsFolder: folder } });
  for (const key of ['key-1', 'key-2']) {
    writeFileSync(join(folder, 'accessKeyId'), key);
    const { place: sent } = await sentTo(mirrors, where);
    assert.equal(sent.usesIdentity, false);
    const bytes = Object.values(sent.access.secret?.data['accessKeyId'] ?? {});
    assert.equal(Buffer.from(bytes).toString(), key);
  }
});

test('the default mirror of a registry without a folder sends no credentials', async () => {
  const own = {
    address: 'oci://own.example.com/{namespace}/{name}',
    ...{ endpoint: undefined, region: 'us-east-1', pathStyle: false, isHttpAllowed: false },
    credentialsFolder: undefined,
  };
  const where = { ...place, ...own, address: 'oci://own.example.com/docs/site', secret: undefined };
  const { place: sent } = await sentTo(open({ defaultMirror: own }), where);
  assert.deepEqual([sent.usesIdentity, sent.access.secret], [false, undefined]);
});
