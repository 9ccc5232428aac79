// The thread's side of a site that gets files made from its pages: the files of the site as they are, and the made ones, each written
// as soon as it is made, because together they may be larger than memory. Refuses a made file under the path of one that the site has.

import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { packedFiles } from '#bundle/archive/packed-files.ts';
import type { BundleFile } from '#bundle/bundle-index.ts';
import type { MakeContext, MakeFiles } from '#bundle/made-files.ts';
import { countPages, digestOf, sizeOf, sortFiles } from '#bundle/store/digest.ts';
import { createPackWriter } from '#bundle/store/pack.ts';
import { openPack } from '#bundle/store/stored-bundle.ts';
import type { SendReport } from '#platform/runtime/task.ts';
import { makeMarkdownFiles } from '../markdown/markdown-files.ts';
import { type MadePack, planSearchable } from '../search/searchable-site.ts';
import { makeSearchFiles } from '../search-program/make-search.ts';
import { progressOf, writeFiles } from './remake-run.ts';
import type {
  AddedFiles,
  AddedSearch,
  AddMarkdownTask,
  AddSearchTask,
  RemadeSite,
  RemakeProgress,
} from './remaking.ts';

/** The thread is ended in the middle of its work. */
const signal = new AbortController().signal;

/** @throws what reading the pack and writing the other one throw */
export function remakeWithMarkdown(
  { basePath, origin, ...task }: AddMarkdownTask,
  report: SendReport<RemakeProgress>,
): Promise<RemadeSite<AddedFiles>> {
  const context = { signal, onFile: progressOf(report) };
  return addFiles(task, makeMarkdownFiles({ origin, basePath }), context);
}

/**
 * Made files lie in a pack of their own until they are written, next to the new one.
 *
 * @throws as {@link remakeWithMarkdown}
 */
export async function remakeWithSearch(
  { packPath, index, toPath }: AddSearchTask,
  report: SendReport<RemakeProgress>,
): Promise<RemadeSite<AddedSearch>> {
  const bundle = await openPack(packPath, index, undefined);
  try {
    const made = createMadePack(`${toPath}-search`);
    const onFile = progressOf(report);
    const plan = await planSearchable(bundle, makeSearchFiles, made, signal, (done, of) =>
      onFile(Math.floor(done), of),
    ).finally(made.abandon);
    const { files, close, digest, pages, sizeBytes, notes, ...outcome } = plan;
    try {
      const rows = await writeFiles(files, toPath);
      return { outcome, index: { digest, pages, sizeBytes, notes, report: index.report, files: rows } };
    } finally {
      await close();
    }
  } finally {
    await bundle.close();
  }
}

/** Its name is gone once it can be read. */
function createMadePack(path: string): MadePack & { readonly abandon: () => void } {
  const writer = createPackWriter(path);
  return {
    sink: writer,
    open: async (index) => {
      writer.finish();
      return openPack(path, index, undefined);
    },
    abandon: () => {
      writer.abandon();
      rmSync(path, { force: true });
    },
  };
}

async function addFiles(
  { packPath, index, toPath }: Pick<AddMarkdownTask, 'packPath' | 'index' | 'toPath'>,
  make: MakeFiles,
  context: MakeContext,
): Promise<RemadeSite<AddedFiles>> {
  const bundle = await openPack(packPath, index, undefined);
  const writer = createPackWriter(toPath);
  try {
    const sources = new Map(index.files.map((file) => [file.path, file]));
    const rows = new Map<string, BundleFile>();
    for (const { path, read } of packedFiles(bundle)) {
      const source = sources.get(path);
      if (source === undefined) continue;
      rows.set(path, { ...source, offset: writer.position });
      for await (const piece of read()) writer.append(piece);
    }
    const added: string[] = [];
    const leftOut: string[] = [];
    const onLeftOut = ({ path }: BundleFile): void => void leftOut.push(path);
    for await (const { path, bytes } of make(bundle, { ...context, onLeftOut })) {
      if (rows.has(path)) throw new Error('a made file has the path of one that the site has');
      const row = { path, size: bytes.length, sha256: hash('sha256', bytes, 'hex') };
      rows.set(path, { ...row, offset: writer.position });
      writer.append(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      added.push(path);
    }
    writer.finish();
    const files = sortFiles([...rows.values()]);
    const content = { digest: digestOf(files), pages: countPages(files), sizeBytes: sizeOf(files) };
    const outcome = { added, leftOut: { count: leftOut.length, examples: leftOut.slice(0, mostExamples) } };
    return { outcome, index: { ...content, notes: index.notes, report: index.report, files } };
  } finally {
    writer.abandon();
    await bundle.close();
  }
}

const mostExamples = 5;
