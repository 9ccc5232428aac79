// Files in memory as a zip. A file of its own, so that only a report loads the library. Owns: their mode and their time.
// Refuses: files of the disk.

import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

export interface ReportFile {
  /** Path within the archive. */
  readonly path: string;
  readonly text: string;
}

/** @param now epoch ms, of every file. @returns the whole archive */
export function zipOf(files: readonly ReportFile[], now: number): Promise<Buffer> {
  const zip = new ZipFile();
  for (const { path, text } of files)
    zip.addBuffer(Buffer.from(text), path, { mtime: new Date(now), mode: 0o600 });
  zip.end();
  return buffer(zip.outputStream);
}
