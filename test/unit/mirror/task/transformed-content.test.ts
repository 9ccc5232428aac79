// A search between the inspection and the copy: which content is copied and inspected, with a repair and without one, and what a full
// disk or a limit ends.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readTransform } from '#bundle/transform.ts';
import { runMirrorCopy } from '#mirror/task/copy-run.ts';
import type { CopyAnswer, CopyReport, MirrorCopyTask } from '#mirror/task/mirror-task.ts';
import { type AddSearch, transformContent } from '#mirror/task/transformed-content.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { memoryBundle } from '../../../support/memory-bundle.ts';
import { createMemoryCarrier } from '../../../support/memory-carrier.ts';
import { searchedSite } from '../../../support/searched-site.ts';
import { copyContext, taskBuilder } from './task-builder.ts';

const { copyTask } = taskBuilder();
const never = new AbortController().signal;

const page = (title: string): string =>
  `<html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1>Text</main></body></html>`;
const repaired = { 'index.html': page('Home'), 'guide/a.html': page('Guide'), 'fragment.html': 'no head' };
const broken = { ...repaired, 'serve.js': 'x', 'start.bat': 'x' };

function stepsOf(text: string, expectedDigest?: string): Pick<MirrorCopyTask, 'transform'> {
  const steps = readTransform(text);
  assert.ok(typeof steps === 'object');
  return { transform: { ...steps, expectedDigest } };
}

async function copied(
  text: string,
  change: Partial<MirrorCopyTask['prepare']> & { readonly expectedDigest?: string } = {},
  files: Readonly<Record<string, string>> = broken,
  context = copyContext(),
): Promise<CopyAnswer & { readonly tags: readonly string[] }> {
  const { expectedDigest, ...prepare } = change;
  const carrier = createMemoryCarrier();
  const task = copyTask(files, { ...stepsOf(text, expectedDigest), prepare });
  const answer = await runMirrorCopy(task, carrier, context, never);
  return { ...answer, tags: await carrier.listTags(never) };
}

test('a search is in the copy, and its digest is that of bundle search', async (t) => {
  const { digest, pages, sizeBytes } = await searchedSite(t, broken);
  const { inspected, copy, tags } = await copied('search');
  assert.deepEqual(inspected, {
    ...{ digest, pages, sizeBytes, notes: [] },
    repaired: [{ rule: 'search', files: 2, without: 1 }],
  });
  assert.deepEqual([copy.kind, tags], ['copied', [digest]]);
});

test('a site without a page to find is copied as it is, as bundle search leaves it', async (t) => {
  const hidden = '<html><head><meta name="robots" content="noindex"></head><body>Hidden';
  const site = { 'index.html': hidden, 'a.css': 'a{}' };
  const { digest, pages, sizeBytes } = memoryBundle(site).index;
  assert.equal((await searchedSite(t, site)).digest, digest);
  const { inspected, tags } = await copied('search', {}, site);
  assert.deepEqual(inspected, {
    ...{ digest, pages, sizeBytes, notes: [] },
    repaired: [{ rule: 'search', files: 0, without: 0 }],
  });
  assert.deepEqual(tags, [digest]);
  const after = await copied('launchers search', {}, { ...site, 'serve.js': 'x', 'start.bat': 'x' });
  assert.equal(after.inspected.digest, digest);
});

test('a search reads what a repair leaves', async (t) => {
  const { digest } = await searchedSite(t, repaired);
  const reports: CopyReport[] = [];
  const { inspected, tags } = await copied('launchers search', {}, broken, copyContext(reports));
  assert.deepEqual([inspected.digest, tags], [digest, [digest]]);
  assert.deepEqual(
    inspected.repaired?.filter(({ files }) => files > 0),
    [
      { rule: 'launchers', files: 2 },
      { rule: 'search', files: 2, without: 1 },
    ],
  );
  assert.deepEqual(reports.at(-1), { stage: 'copying', inspected });
});

test('a repair that changes nothing leaves the content to the search', async (t) => {
  const { digest } = await searchedSite(t, repaired);
  const { inspected } = await copied('launchers search', {}, repaired);
  assert.equal(inspected.digest, digest);
});

test('work that is repeated gives the same digest, and another than was published is rejected', async () => {
  const { inspected } = await copied('launchers search');
  const again = await copied('launchers search', { expectedDigest: inspected.digest });
  assert.equal(again.inspected.digest, inspected.digest);
  const withoutSearch = memoryBundle(repaired).index.digest;
  await assert.rejects(copied('launchers search', { expectedDigest: withoutSearch }), {
    code: 'DigestMismatch',
  });
});

test('a search that exceeds a limit of servers is an error of the archive, before it is written whole', async () => {
  const { limits } = copyTask().prepare;
  const bytes = memoryBundle(broken).index.sizeBytes;
  await assert.rejects(copied('search', { limits: { ...limits, maxTotalBytes: bytes + 1000 } }), {
    code: 'ContentTooLarge',
  });
  await assert.rejects(copied('search', { limits: { ...limits, maxFiles: 6 } }), { code: 'TooManyFiles' });
});

test('after an error nothing is open, and the work folder has no file with a name', async () => {
  let closed = 0;
  const bundle = memoryBundle(repaired);
  const content = {
    ...bundle,
    close: async () => {
      closed += 1;
    },
  };
  const { workDir, limits } = copyTask().prepare;
  const failing: AddSearch = async (_bundle, made) => {
    made.sink.append(Buffer.from('x'));
    throw new Error('a defect');
  };
  const task = { modes: undefined, addsSearch: true, expectedDigest: undefined };
  const context = { ...copyContext(), addSearch: failing };
  await assert.rejects(transformContent(content, task, { workDir, limits }, context, never), /a defect/);
  assert.equal(closed, 1);
  assert.deepEqual(readdirSync(workDir), []);
});

test('a disk without room for the search ends the copy, and is not an error of the archive', async () => {
  const { workDir, limits } = copyTask().prepare;
  const context = copyContext();
  const task = { modes: undefined, addsSearch: true, expectedDigest: undefined };
  // No disk has a folder of this name.
  const place = { workDir: join(workDir, 'missing\0'), limits };
  const { files } = await transformContent(memoryBundle(repaired), task, place, context, never);
  assert.ok('fault' in files);
  assert.ok(files.fault instanceof PublishableError);
});
