// Turns an entry's name into the path that the index is keyed by. This canonical form has no leading slash, no empty,
// `.` or `..` segment, no backslash and no control character. Refuses instead of guessing; it normalises only what has
// one meaning (`./a`, `a//b`).

import type { BundleLimits } from '../limits.ts';
import { refusal } from '../refusal.ts';

export interface EntryPath {
  readonly path: string;
  /** Whether the name differed from the path. */
  readonly isNormalised: boolean;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** A byte order mark is a part of the name. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws {PublishableError} `InvalidUtf8` */
export function decodeUtf8(bytes: Buffer): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw refusal('InvalidUtf8');
  }
}

/** The name of a file. @throws {PublishableError} with the reason */
export function readFilePath(name: string, limits: BundleLimits): EntryPath {
  const segments = readSegments(name, limits);
  const last = name.slice(name.lastIndexOf('/') + 1);
  if (segments.length === 0) throw refusal('EmptyPath');
  if (last === '' || last === '.') throw refusal('FolderNameOnFile', { name });
  const path = segments.join('/');
  // The prefix that `tar -C folder .` gives to every name is not worth a note.
  return { path, isNormalised: path !== name.replace(/^\.\//, '') };
}

/** Checks the name of a folder by the same rules; nothing else uses it. @throws {PublishableError} */
export function checkFolderPath(name: string, limits: BundleLimits): void {
  if (name === '') throw refusal('EmptyPath');
  readSegments(name, limits);
}

function readSegments(name: string, limits: BundleLimits): readonly string[] {
  if (Buffer.byteLength(name) > limits.maxPathBytes) throw refusal('PathTooLong', { name });
  if (name.includes('\ufffd')) throw refusal('InvalidUtf8', { name });
  if (control.test(name)) throw refusal('ControlInPath', { name });
  if (name.includes('\\')) throw refusal('BackslashInPath', { name });
  if (name.startsWith('/')) throw refusal('AbsolutePath', { name });
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) throw refusal('ParentPath', { name });
  if (/^[A-Za-z]:/.test(segments[0] ?? '')) throw refusal('DrivePath', { name });
  if (segments.length > limits.maxPathSegments) throw refusal('PathTooDeep', { name });
  return segments;
}
