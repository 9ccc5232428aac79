// A copy in its thread: what is asked before the download, what is written after the inspection, and which error is whose.

import assert from 'node:assert/strict';
import fs, { existsSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, mock, test } from 'node:test';
import { readTransform } from '#bundle/transform.ts';
import { runMirrorCopy } from '#mirror/task/copy-run.ts';
import type { CopyReport } from '#mirror/task/mirror-task.ts';
import { claimPlace, ownerTag } from '#mirror/task/owner-record.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { memoryBundle } from '../../../support/memory-bundle.ts';
import { createMemoryCarrier } from '../../../support/memory-carrier.ts';
import { endMark, entry, tar } from '../../../support/tar-builder.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';
import { failsWith } from '../bundle-parts.ts';
import { copyContext, place, site, taskBuilder } from './task-builder.ts';

const { folder, copyTask } = taskBuilder();
const never = new AbortController().signal;
const denied = new PublishableError('Denied', 'The registry refused. Set credentials.');

afterEach(() => {
  mock.restoreAll();
  syncBuiltinESMExports();
});

test('a copy holds the whole content under the digest of the inspection', async () => {
  const carrier = createMemoryCarrier();
  const reports: CopyReport[] = [];
  const { inspected, copy } = await runMirrorCopy(copyTask(), carrier, copyContext(reports), never);
  assert.equal(inspected.pages, 2);
  assert.deepEqual(await carrier.listTags(never), [inspected.digest]);
  const [, , layer] = [...carrier.blobs.values()];
  assert.equal(layer, undefined, 'a config and one layer');
  assert.ok(copy.kind === 'copied');
  assert.match(copy.ref, /^oci:\/\/registry\.example\.com\/docs@sha256:[0-9a-f]{64}$/);
  const manifest = String(carrier.tags.get(inspected.digest));
  assert.ok(manifest.includes(`"20260131-120000-${inspected.digest.slice(0, 8)}"`));
  const stages = reports.filter((one) => 'stage' in one);
  assert.deepEqual(stages, [{ stage: 'inspecting' }, { stage: 'copying', inspected }]);
});

test('a second copy, and one of an archive with another form, write nothing', async () => {
  const carrier = createMemoryCarrier();
  const first = await runMirrorCopy(copyTask(), carrier, copyContext(), never);
  carrier.calls.length = 0;
  const wrapped = Object.fromEntries(Object.entries(site).map(([name, bytes]) => [`top/${name}`, bytes]));
  const second = await runMirrorCopy(
    copyTask(wrapped, { compression: 'Gzip' }),
    carrier,
    copyContext(),
    never,
  );
  const notes = [{ code: 'WrappingFolderRemoved', count: 1, example: '"top"' }];
  assert.deepEqual(second, { ...first, inspected: { ...first.inspected, notes } });
  assert.deepEqual(carrier.calls, ['readManifest', 'readManifest', 'readBlob']);
});

const broken = { ...site, '.site/lost.html': 'x', 'serve.js': 'x', 'start.bat': 'x' };
const withoutLaunchers = { ...site, '.site/lost.html': 'x' };
function repairBy(text: string, expectedDigest?: string) {
  const steps = readTransform(text);
  assert.ok(typeof steps === 'object');
  return { transform: { ...steps, expectedDigest } };
}

test('a repaired copy is inspected, named and written as what it holds', async () => {
  const carrier = createMemoryCarrier();
  const reports: CopyReport[] = [];
  const task = copyTask(broken, repairBy('launchers sitemap'));
  const { inspected, copy } = await runMirrorCopy(task, carrier, copyContext(reports), never);
  const { digest } = memoryBundle(withoutLaunchers).index;
  assert.equal(inspected.digest, digest);
  assert.deepEqual(
    inspected.repaired?.filter(({ files }) => files > 0),
    [{ rule: 'launchers', files: 2 }],
  );
  assert.equal(copy.kind, 'copied');
  assert.deepEqual(await carrier.listTags(never), [digest]);
  assert.deepEqual(reports.at(-1), { stage: 'copying', inspected });
  const again = await runMirrorCopy(
    copyTask(broken, repairBy('launchers', digest)),
    carrier,
    copyContext(),
    never,
  );
  assert.equal(again.inspected.digest, digest, 'a repair that was interrupted gives the same content');
});

test('gates judge what a repair leaves', async () => {
  const wrapped = { '.site/index.html': 'home', '.site/a.html': 'a', 'serve.js': 'x' };
  const judged = async (change = {}) => {
    const answer = await runMirrorCopy(
      copyTask(wrapped, change),
      createMemoryCarrier(),
      copyContext(),
      never,
    );
    return { pages: answer.inspected.pages, codes: answer.inspected.notes.map(({ code }) => code) };
  };
  assert.deepEqual(await judged(), { pages: 0, codes: ['HomePageMissing', 'NotServed'] });
  assert.deepEqual(await judged(repairBy('launchers')), { pages: 2, codes: [] });
});

test('the expected digest is that of the repaired content', async () => {
  const carrier = createMemoryCarrier();
  const { digest } = memoryBundle(broken).index;
  const task = copyTask(broken, repairBy('launchers', digest));
  await assert.rejects(runMirrorCopy(task, carrier, copyContext(), never), { code: 'DigestMismatch' });
  assert.deepEqual([...carrier.tags], []);
});

test('copies of pages that exceed a limit of servers are an error of the archive', async () => {
  const deep = { 'index.html': '<a href="/guide">g</a>', 'guide/index/index.html': 'guide' };
  const task = copyTask(deep, repairBy('folder-index'));
  const few = { ...task, prepare: { ...task.prepare, limits: { ...task.prepare.limits, maxFiles: 2 } } };
  await assert.rejects(runMirrorCopy(few, createMemoryCarrier(), copyContext(), never), {
    code: 'TooManyFiles',
  });
});

test('a mirror that refuses is found out before the download', async () => {
  const carrier = createMemoryCarrier();
  const reports: CopyReport[] = [];
  carrier.beforeCall = () => {
    throw denied;
  };
  await assert.rejects(runMirrorCopy(copyTask(), carrier, copyContext(reports), never), failsWith('Denied'));
  assert.deepEqual(reports, []);
});

test('a mirror that is silent ends after 2 minutes, before the download', async () => {
  const clock = virtualClock();
  const silent = {
    ...createMemoryCarrier(),
    readManifest: (_reference: string, signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
  };
  const copying = runMirrorCopy(copyTask(), silent, { ...copyContext(), clock }, never);
  const refused = assert.rejects(copying, failsWith('Unreachable', /within 120 s/, true));
  await clock.pass(120_000);
  await refused;
});

test('a place is claimed before its first copy, and refused to another resource', async () => {
  const carrier = createMemoryCarrier();
  const exclusive = { ...place, isExclusive: true };
  const { inspected } = await runMirrorCopy(
    copyTask(site, { place: exclusive }),
    carrier,
    copyContext(),
    never,
  );
  assert.deepEqual(await carrier.listTags(never), [inspected.digest, ownerTag].sort());
  const stranger = { ...place, owner: { ...place.owner, name: 'blog', uid: 'uid-2' } };
  const refused = runMirrorCopy(copyTask(site, { place: stranger }), carrier, copyContext(), never);
  await assert.rejects(refused, failsWith('OwnedElsewhere', /docs\/site/));
});

test('an archive without retention claims nothing', async () => {
  const carrier = createMemoryCarrier();
  await runMirrorCopy(copyTask(), carrier, copyContext(), never);
  assert.ok(!carrier.tags.has(ownerTag));
  await claimPlace(carrier, place.owner, never);
});

const archives = [
  ['an archive that is cut off', tar(entry('index.html', 'home')).subarray(0, 600), 'TruncatedArchive'],
  ['an empty archive', endMark, 'EmptyBundle'],
  ['a page', Buffer.from('<!doctype html><p>Sign in'), 'HtmlInsteadOfArchive'],
] as const;
for (const [name, bytes, code] of archives) {
  test(`${name} is an error of the archive, and nothing is written`, async () => {
    const carrier = createMemoryCarrier();
    const task = copyTask(bytes);
    await assert.rejects(runMirrorCopy(task, carrier, copyContext(), never), { code });
    assert.deepEqual([...carrier.tags], []);
    assert.ok(!existsSync(task.prepare.workDir));
  });
}

test('other content than was expected is an error of the archive', async () => {
  const carrier = createMemoryCarrier();
  const task = copyTask(site, { prepare: { expectedDigest: 'f'.repeat(64) } });
  await assert.rejects(runMirrorCopy(task, carrier, copyContext(), never), { code: 'DigestMismatch' });
  assert.deepEqual([...carrier.tags], []);
});

for (const call of ['readManifest', 'writeBlob', 'writeManifest', 'readBlob']) {
  test(`a mirror that refuses at ${call} after the inspection hides nothing of its result`, async () => {
    const carrier = createMemoryCarrier();
    let isOpen = false;
    carrier.beforeCall = (one) => {
      if (isOpen && one === call) throw denied;
      isOpen ||= one === 'readManifest';
    };
    const { inspected, copy } = await runMirrorCopy(copyTask(), carrier, copyContext(), never);
    assert.equal(inspected.pages, 2);
    assert.ok(copy.kind === 'failed');
    assert.equal(copy.failure.code, 'Denied');
    assert.deepEqual(carrier.tags.size, call === 'readBlob' ? 1 : 0);
  });
}

test('a copy whose content is not that of its digest is reported, with the tag to remove', async () => {
  const carrier = createMemoryCarrier();
  const { inspected } = await runMirrorCopy(copyTask(), carrier, copyContext(), never);
  const other = createMemoryCarrier();
  const changed = await runMirrorCopy(
    copyTask({ ...site, 'index.html': '<h1>Changed' }),
    other,
    copyContext(),
    never,
  );
  const forged = String(other.tags.get(changed.inspected.digest)).replaceAll(
    changed.inspected.digest,
    inspected.digest,
  );
  other.tags.set(inspected.digest, Buffer.from(forged));
  const { copy } = await runMirrorCopy(copyTask(), other, copyContext(), never);
  assert.ok(copy.kind === 'failed');
  assert.equal(copy.failure.code, 'BlobDamaged');
  assert.ok(copy.failure.message.includes(`(DigestMismatch). Remove the tag ${inspected.digest}`));
});

for (const [code, reported] of [
  ['ENOSPC', 'SpoolFull'],
  ['EIO', 'WorkFailed'],
] as const) {
  test(`${code} while the content is kept ends the copy, not the inspection`, async () => {
    const task = copyTask();
    mock.method(fs, 'writeSync', () => {
      throw Object.assign(new Error('failed'), { code });
    });
    syncBuiltinESMExports();
    const carrier = createMemoryCarrier();
    const { inspected, copy } = await runMirrorCopy(task, carrier, copyContext(), never);
    assert.equal(inspected.pages, 2);
    assert.ok(copy.kind === 'failed');
    assert.equal(copy.failure.code, reported);
    assert.deepEqual([...carrier.tags], []);
  });
}

test('a work folder that cannot be made ends the copy, not the inspection', async () => {
  const file = join(folder, 'a-file');
  writeFileSync(file, '');
  const task = copyTask(site, { prepare: { workDir: join(file, 'work') } });
  const { inspected, copy } = await runMirrorCopy(task, createMemoryCarrier(), copyContext(), never);
  assert.equal(inspected.pages, 2);
  assert.ok(copy.kind === 'failed');
  assert.equal(copy.failure.code, 'WorkFailed');
});

test('limits that fit a zip fit its copy, whose headers are larger', async () => {
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`${at}.html`, 'x']));
  const task = copyTask(files);
  const { limits } = task.prepare;
  const tight = { ...limits, maxTotalBytes: 200 * 1024 + 4096, maxArchiveBytes: 300 * 1024 };
  const prepare = { ...task.prepare, limits: tight };
  const { copy } = await runMirrorCopy({ ...task, prepare }, createMemoryCarrier(), copyContext(), never);
  assert.equal(copy.kind, 'copied');
});
