// Bundles for tests of the serving side: indexes made of paths alone, and stored bundles that live in memory.

import { createHash } from 'node:crypto';
import type { BundleFile, BundleIndex } from '#bundle/bundle-index.ts';
import type { PendingCheck } from '#bundle/store/pending-check.ts';
import type { Activation, PackedBytes, StoredBundle } from '#bundle/store/stored-bundle.ts';
import { noCounts, packAdditions } from '#server/content/additions.ts';
import type { Extension } from '#server/content/live-bundle.ts';
import { createMarkdownTwins } from '#server/content/markdown-twins.ts';
import { buildRouteTable } from '#server/content/route-table.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A bundle of these paths, each file holding its own path as text unless `content` says otherwise. */
export function bundleOf(
  paths: readonly string[],
  content: (path: string) => string = (path) => path,
): BundleIndex {
  let offset = 0;
  const files: BundleFile[] = paths.toSorted().map((path) => {
    const size = Buffer.byteLength(content(path));
    offset += size;
    return { path, offset: offset - size, size, sha256: sha256(content(path)) };
  });
  return {
    digest: sha256(files.map((file) => `${file.path} ${file.sha256}`).join('\n')),
    files,
    pages: files.filter(({ path }) => path.endsWith('.html')).length,
    sizeBytes: files.reduce((sum, { size }) => sum + size, 0),
    notes: [],
  };
}

export interface MemoryBundle extends StoredBundle {
  readonly reads: () => number;
  readonly isClosed: () => boolean;
  /** From now on reads fail like a broken disk. */
  breakDisk(): void;
}

export function storedBundle(
  content: Readonly<Record<string, string>>,
  activation?: Activation,
  check?: PendingCheck,
): MemoryBundle {
  const index = bundleOf(Object.keys(content), (path) => content[path] ?? '');
  let reads = 0;
  let closed = false;
  let broken = false;
  const pack = Buffer.from(index.files.map(({ path }) => content[path] ?? '').join(''));
  const bytesOf = ({ offset, size }: PackedBytes): Buffer => {
    if (closed) throw new Error('the bundle is closed');
    if (broken) throw Object.assign(new Error('i/o error'), { code: 'EIO' });
    reads += 1;
    return pack.subarray(offset, offset + size);
  };
  return {
    index,
    activation,
    proven: async () => check?.end,
    untilProven: ({ offset }) =>
      check === undefined || check.isProven(offset) ? undefined : check.untilProven(offset),
    readInto: async (file, into) => void bytesOf(file).copy(into),
    readIntoSync: (file, into) => void bytesOf(file).copy(into),
    readStart: async (file, into) => void bytesOf(file).copy(into),
    close: async () => {
      closed = true;
    },
    reads: () => reads,
    isClosed: () => closed,
    breakDisk: () => {
      broken = true;
    },
  };
}

/** What is served of a bundle whose pages have Markdown of their own, with --markdown. */
export function markdownExtension(stored: StoredBundle, basePath = ''): Extension {
  const routes = buildRouteTable(stored.index);
  const rows = { pages: [], files: [], lines: '', packBytes: 0 };
  return {
    ...{ routes, basePath, pack: { ...stored, close: async () => {} } },
    additions: packAdditions(rows),
    features: ['markdown'],
    twins: createMarkdownTwins(routes, basePath),
    counts: noCounts,
  };
}
