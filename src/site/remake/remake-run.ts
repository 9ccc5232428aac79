// The thread's side of a site that is made of another one: plans it, and writes what was planned into a pack of its own. Refuses a
// file whose bytes are not those that were planned.

import { createHash } from 'node:crypto';
import type { ArchivedFile } from '#bundle/archive/archive-writer.ts';
import { packedFiles } from '#bundle/archive/packed-files.ts';
import type { BundleFile, BundleIndex } from '#bundle/bundle-index.ts';
import { planRepair } from '#bundle/repair/repair.ts';
import { sortFiles } from '#bundle/store/digest.ts';
import { createPackWriter } from '#bundle/store/pack.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { SendReport } from '#platform/runtime/task.ts';
import { type PortableFile, planPortable } from '../portable/portable-site.ts';
import type {
  MakePortableTask,
  PortableOutcome,
  RemadeSite,
  RemakeProgress,
  RepairedOutcome,
  RepairSiteTask,
} from './remaking.ts';

interface RemadeFile extends ArchivedFile, Omit<BundleFile, 'offset'> {}

const filesPerReport = 50;
/** The thread is ended in the middle of its work. */
const never = new AbortController().signal;

/** @throws what reading the pack and writing the other one throw */
export async function repairSite(
  { packPath, index, toPath, modes }: RepairSiteTask,
  report: SendReport<RemakeProgress>,
): Promise<RemadeSite<RepairedOutcome>> {
  const pack = await openPack(packPath, index, undefined);
  try {
    const { files, ...outcome } = await planRepair(pack, modes, never, progressOf(report));
    const { digest, pages, sizeBytes, notes } = outcome;
    const made = { digest, pages, sizeBytes, notes, report: index.report };
    return { outcome, index: { ...made, files: await writeFiles(files, toPath) } };
  } finally {
    await pack.close();
  }
}

/** As {@link repairSite}. @throws what reading the pack and writing the other one throw */
export async function makeSitePortable(
  { packPath, index, toPath, basePath, domain }: MakePortableTask,
  report: SendReport<RemakeProgress>,
): Promise<RemadeSite<PortableOutcome>> {
  const pack = await openPack(packPath, index, undefined);
  try {
    const source = portableFiles(pack);
    const { files, ...outcome } = await planPortable(source, { basePath, domain }, never, progressOf(report));
    const { digest, pages, sizeBytes } = outcome;
    return {
      outcome,
      index: { digest, pages, sizeBytes, notes: [], files: await writeFiles(files, toPath) },
    };
  } finally {
    await pack.close();
  }
}

function portableFiles(bundle: StoredBundle): readonly PortableFile[] {
  const packed = new Map(packedFiles(bundle).map((file) => [file.path, file]));
  return bundle.index.files.flatMap(({ path, sha256, isData, type }) => {
    const file = packed.get(path);
    return file === undefined ? [] : [{ ...file, sha256, isData, type }];
  });
}

export function progressOf(report: SendReport<RemakeProgress>): (done: number, of: number) => void {
  return (files, of) => {
    if (files % filesPerReport === 0 || files === of) void report({ files, of });
  };
}

/** @returns the files by path, and where they lie in the pack */
export async function writeFiles(
  files: readonly RemadeFile[],
  toPath: string | undefined,
): Promise<BundleIndex['files']> {
  if (toPath === undefined) return sortFiles(files.map((file) => rowOf(file, 0)));
  const writer = createPackWriter(toPath);
  const rows: BundleFile[] = [];
  try {
    for (const file of files) {
      const offset = writer.position;
      const hash = createHash('sha256');
      for await (const piece of file.read()) {
        hash.update(piece);
        writer.append(piece);
      }
      if (hash.digest('hex') !== file.sha256) throw new Error('a file was not read as it was planned');
      rows.push(rowOf(file, offset));
    }
    writer.finish();
    return sortFiles(rows);
  } finally {
    writer.abandon();
  }
}

const rowOf = ({ path, size, sha256, isData, type }: RemadeFile, offset: number): BundleFile => ({
  path,
  offset,
  size,
  sha256,
  ...(isData !== undefined && { isData }),
  ...(type !== undefined && { type }),
});
