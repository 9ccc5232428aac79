// A file that an administrator or another program edits: its parsed content, read again when the file has changed.
// Checked at each use, never by a timer. Invariant: a removed or unreadable file keeps its last good content and is
// reported once per change. A half-written edit therefore takes no client's access.

import { readFileSync, statSync } from 'node:fs';
import type { Logger } from '#platform/runtime/logger.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';

/**
 * @param what for messages, for example `keys file`
 * @param parse may throw; at the first reading that ends in an error, later the old content stays
 * @returns the current content
 * @throws {PublishableError} from the first reading, done here at once
 */
export function watchFile<T>(
  path: string,
  what: string,
  parse: (text: string) => T,
  logger: Logger,
): () => T {
  let seen = readFileState(path).stamp;
  let content = readContent(path, what, parse);
  return () => {
    const { stamp } = readFileState(path);
    if (stamp === seen) return content;
    seen = stamp;
    try {
      content = readContent(path, what, parse);
      logger.info({ file: what }, `${what} was read again`);
    } catch (error) {
      logger.warn({ error, file: what }, `${what} has changed and is not usable; its last content stays`);
    }
    return content;
  };
}

function readContent<T>(path: string, what: string, parse: (text: string) => T): T {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new PublishableError(
      publishableCode(cause),
      `cannot read the ${what} (${publishableCode(cause)}): check that it exists and may be read`,
      { cause },
    );
  }
  return parse(text);
}

/** `stamp` changes with every edit that a file system can show, replaced links (mounted Secrets) included. */
export function readFileState(path: string): { readonly stamp: string; readonly sizeBytes: number } {
  try {
    const { dev, ino, size, mtimeMs } = statSync(path);
    return { stamp: `${dev}:${ino}:${size}:${mtimeMs}`, sizeBytes: size };
  } catch {
    return { stamp: 'absent', sizeBytes: 0 };
  }
}
