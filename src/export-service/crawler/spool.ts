// Bodies on disk while a crawl runs, one file per content, named by its hash: memory holds what is being read
// and no more. Owns: the directory's files. Refuses: giving back bytes that are not the ones put in.

import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../runtime/folder.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import { CrawlError } from './crawl-error.ts';

export interface StoredBody {
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

export interface Spool {
  /** @throws {CrawlError} SpoolFailed */
  put(bytes: Uint8Array): Promise<StoredBody>;
  /** @throws {CrawlError} SpoolFailed */
  read(body: StoredBody): Promise<Uint8Array>;
}

/** @param directory created if absent; removed by whoever named it */
export function createSpool(directory: string): Spool {
  /** Two answers with the same bytes write the file once, and both wait for it. */
  const writes = new Map<string, Promise<void>>();
  const write = async (sha256: string, bytes: Uint8Array): Promise<void> => {
    await makeFolder(directory);
    await writeFile(join(directory, sha256), bytes, { mode: 0o600 });
  };
  return {
    put: async (bytes) => {
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const written = writes.get(sha256) ?? write(sha256, bytes);
      writes.set(sha256, written);
      await written.catch((cause: unknown) => {
        throw spoolFailed('take a file of the site', cause);
      });
      return { sizeBytes: bytes.byteLength, sha256 };
    },
    read: async ({ sha256 }) => {
      const bytes = await readFile(join(directory, sha256)).catch((cause: unknown) => {
        throw spoolFailed('give back a file of the site', cause);
      });
      if (createHash('sha256').update(bytes).digest('hex') === sha256) return bytes;
      throw spoolFailed('give back a file of the site unchanged', undefined);
    },
  };
}

function spoolFailed(what: string, cause: unknown): CrawlError {
  const code = cause === undefined ? '' : ` (${publishableCode(cause)})`;
  return new CrawlError(
    'SpoolFailed',
    `the data directory did not ${what}${code}: check its space and rights`,
    {
      cause,
    },
  );
}
