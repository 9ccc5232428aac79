// Turns the bytes of a download into the files of an assembly: detects the type, unpacks, reads. A zip is read from its
// end, so it is spooled to disk first; everything else streams. Invariant: the spool file is unlinked before its first
// byte is written, so a killed process leaves no file behind.

import type { FileHandle } from 'node:fs/promises';
import type { PublishableError } from '#platform/wire/publishable-error.ts';
import { type Bytes, peek } from '../byte-stream.ts';
import type { BundleLimits } from '../limits.ts';
import { oddAnswer } from '../refusal.ts';
import { openNamelessFile } from '../store/nameless-file.ts';
import { storeFault } from '../store/store-fault.ts';
import { type DownloadType, detectType, headBytes } from './archive-type.ts';
import type { Assembly } from './assembly.ts';
import { decode } from './decoding.ts';
import { readTar } from './tar-reader.ts';
import { readZip } from './zip-reader.ts';

/**
 * @param spoolPath where a zip may be put; made only if one comes, and gone again; its folder is left to the caller
 * @throws {PublishableError} rejected; transient for what is no archive; `StoreFull`; or what the source threw
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
        return await readSpooled(download.bytes, spoolPath, (file) => readZip(file, assembly, limits));
      case 'tar':
      case 'gzip':
      case 'zstd':
        return await readUnpacked(decode(type, download.bytes, limits), assembly, limits);
      case 'empty':
      case 'html':
      case 'xml':
      case 'unknown':
        throw notAnArchive(type);
      default:
        return type satisfies never;
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

function notAnArchive(type: DownloadType): PublishableError {
  if (type === 'html') return oddAnswer('HtmlInsteadOfArchive');
  if (type === 'xml') return oddAnswer('XmlInsteadOfArchive');
  return oddAnswer(type === 'empty' ? 'EmptyArchive' : 'UnknownArchiveType');
}

async function readSpooled(
  bytes: Bytes,
  path: string,
  read: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const file = await openNamelessFile(path);
  try {
    await spool(bytes, file, path);
    await read(file);
  } finally {
    await file.close();
  }
}

async function spool(bytes: Bytes, file: FileHandle, path: string): Promise<void> {
  let writtenBytes = 0;
  for await (const chunk of bytes) {
    await file.appendFile(chunk).catch((error: unknown) => {
      throw storeFault(error, { path, writtenBytes });
    });
    writtenBytes += chunk.length;
  }
}
