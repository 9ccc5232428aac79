// From the bytes of a download to the files of an assembly: tell the type, unpack, read.
// A zip is read from its end, so it is spooled to a file of our own naming first; everything else streams.

import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type DownloadType, detectType, headBytes } from './archive-type.ts';
import type { Assembly } from './assembly.ts';
import type { BundleError } from './bundle-error.ts';
import { type Bytes, peek } from './byte-stream.ts';
import { decode } from './decoding.ts';
import type { BundleLimits } from './limits.ts';
import { oddAnswer } from './odd-answer.ts';
import { storeFault } from './store-fault.ts';
import { readTar } from './tar-reader.ts';
import { readZip } from './zip-reader.ts';

/**
 * @param spoolPath where a zip may be put; made only if one comes, with its folder, and left to the caller
 * @throws {BundleError} refused; transient for what is no archive; `StoreFull`; or what the source threw
 */
export async function readArchive(
  source: Bytes,
  assembly: Assembly,
  limits: BundleLimits,
  spoolPath: string,
): Promise<void> {
  const download = await peek(source, headBytes);
  try {
    const type = detectType(download.head);
    switch (type) {
      case 'zip':
        await spool(download.bytes, spoolPath);
        return await readZip(spoolPath, assembly, limits);
      case 'tar':
      case 'gzip':
      case 'zstd':
        return await readUnpacked(decode(type, download.bytes, limits), assembly, limits);
      default:
        throw notAnArchive(type);
    }
  } finally {
    download.close();
  }
}

async function readUnpacked(bytes: Bytes, assembly: Assembly, limits: BundleLimits): Promise<void> {
  const content = await peek(bytes, headBytes);
  try {
    const type = detectType(content.head);
    if (type !== 'tar') throw notAnArchive(type);
    await readTar(content.bytes, assembly, limits);
  } finally {
    content.close();
  }
}

function notAnArchive(type: DownloadType): BundleError {
  if (type === 'html') return oddAnswer('HtmlInsteadOfArchive');
  if (type === 'xml') return oddAnswer('XmlInsteadOfArchive');
  return oddAnswer(type === 'empty' ? 'EmptyArchive' : 'UnknownArchiveType');
}

async function spool(bytes: Bytes, path: string): Promise<void> {
  let fromSource: { readonly error: unknown } | undefined;
  async function* source(): AsyncGenerator<Buffer> {
    try {
      yield* bytes;
    } catch (error) {
      fromSource = { error };
      throw error;
    }
  }
  try {
    await mkdir(dirname(path), { recursive: true });
    await pipeline(Readable.from(source(), { highWaterMark: 1 }), createWriteStream(path, { flags: 'wx' }));
  } catch (error) {
    throw fromSource === undefined ? storeFault(error) : fromSource.error;
  }
}
