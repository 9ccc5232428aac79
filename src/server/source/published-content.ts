// What the server is configured to serve: a mounted `bundle.json`, or plain flags. Reading never throws, because an
// unreadable source is a state to report. A file link without version and digest is identified by the file's size and
// times, so that a replaced file counts as another link.
// Invariant: one read sees one state of a mounted folder. kubelet swaps the link `..data`; going through it
// by name twice could meet two versions, so it is resolved once.

import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServedBundle } from '#bundle/published-bundle.ts';
import { parseServedBundle } from '#bundle/published-bundle.ts';
import type { Link } from '#platform/wire/link.ts';
import { publishableCode, publishableMessage } from '#platform/wire/publishable-error.ts';
import { conflictOf } from './base-path-conflict.ts';
import type { SourceReading } from './source-decision.ts';

/** Which flag names what to serve. */
export type SourceKind = 'bundle-file' | 'bundle-url' | 'bundle-ref';

export interface PublishedContent {
  readonly kind: SourceKind;
  read(): Promise<SourceReading>;
}

/** A mounted `bundle.json`, read at every poll. */
export function readFromFile(file: string): PublishedContent {
  return {
    kind: 'bundle-file',
    read: async (): Promise<SourceReading> => {
      try {
        const text = await readMounted(file);
        if (text.trim() === '') return { kind: 'absent' };
        return { kind: 'published', published: await asItIsNow(parseServedBundle(text)) };
      } catch (error) {
        const code = publishableCode(error);
        if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' };
        return { kind: 'unreadable', code, message: publishableMessage(error) };
      }
    },
  };
}

/** Values of the command line change with a restart only; a file that they name may change before. */
export function readFromFlags(link: Link, version: string | undefined): PublishedContent {
  const unknown = { digest: undefined, jobId: undefined, issuedAt: undefined, expiresAt: undefined };
  const published = { version, link, ...unknown };
  return {
    kind: 'bundle-url',
    read: async () => ({ kind: 'published', published: await asItIsNow(published) }),
  };
}

/** A copy in a mirror. Its digest says which content, so nothing about it changes without a restart. */
export function readFromReference(
  ref: string,
  digest: string | undefined,
  version: string | undefined,
): PublishedContent {
  const unknown = { link: undefined, jobId: undefined, issuedAt: undefined, expiresAt: undefined };
  const published = { version, digest, ref, ...unknown };
  return { kind: 'bundle-ref', read: async () => ({ kind: 'published', published }) };
}

/**
 * Refuses what is published for another path than the server's own: every link of its pages would lead to nothing.
 *
 * @param fixed the value of `--base-path`, `''` for the root; `undefined`: bundle.json says it
 */
export function withBasePath(content: PublishedContent, fixed: string | undefined): PublishedContent {
  if (fixed === undefined) return content;
  return {
    ...content,
    read: async (): Promise<SourceReading> => {
      const reading = await content.read();
      const conflict =
        reading.kind === 'published' ? conflictOf(reading.published.basePath, fixed) : undefined;
      return conflict === undefined ? reading : { kind: 'unreadable', ...conflict };
    },
  };
}

/** Content with a version or a digest is identified by it, whatever happens to the file. */
async function asItIsNow(published: ServedBundle): Promise<ServedBundle> {
  const { version, digest, link } = published;
  if (version !== undefined || digest !== undefined || link?.protocol !== 'file:') return published;
  try {
    const { size, mtimeNs, ino } = await stat(fileURLToPath(link.reveal()), { bigint: true });
    return { ...published, link: link.inState(`${size}-${mtimeNs}-${ino}`) };
  } catch {
    return published; // obtaining it reports the error
  }
}

async function readMounted(file: string): Promise<string> {
  const folder = dirname(file);
  const current = await realpath(join(folder, '..data')).catch(() => folder);
  const bytes = await readFile(join(current, basename(file))).catch((error: unknown) => {
    // Swapped between the two calls, or a folder with `..data` that holds the file outside of it.
    if (current !== folder && publishableCode(error) === 'ENOENT') return readFile(file);
    throw error;
  });
  return bytes.toString('utf8');
}
