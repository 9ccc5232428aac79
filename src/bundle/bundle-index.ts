// Lists what is in a bundle: one entry per file, keyed by exact decoded path, and the digest that names the content.
// The pack holds the files' bytes one after another; an entry says where. Invariant: files are sorted by path (UTF-16
// code units), so that the digest and the index have one form.

import type { SiteReport } from './site-report.ts';

/** One file of the bundle. `path` has no leading slash and no empty, `.` or `..` segment. */
export interface BundleFile {
  readonly path: string;
  /** Byte offset in the pack; {@link noBytes} where the pack has no byte of it. */
  readonly offset: number;
  readonly size: number;
  /** SHA-256 of the file's bytes, lower-case hex. */
  readonly sha256: string;
  /**
   * An `.html` file that holds JSON, as exports have for their own scripts: it is not a page. Absent for every other file, and
   * where an earlier version wrote the index.
   */
  readonly isData?: true | undefined;
  /**
   * The content type that the export kept where the name does not show it, in its one form: see `site-types`. Absent for every
   * other file, and where an earlier version wrote the index.
   */
  readonly type?: string | undefined;
}

/** The offset of a hidden file whose bytes were removed from the pack. */
export const noBytes = -1;

/** The files whose bytes are in the pack. */
export function heldFiles(files: readonly BundleFile[]): readonly BundleFile[] {
  return files.filter(isHeld);
}

/** Whether the pack has the bytes of the file. */
export function isHeld({ offset }: Pick<BundleFile, 'offset'>): boolean {
  return offset !== noBytes;
}

/** Something that was normalised while reading, or that visitors will miss, for status and logs (never a refusal). */
export interface BundleNote {
  /** Stable, PascalCase: `WrappingFolderRemoved`, `DuplicateReplaced`, … */
  readonly code: string;
  readonly count: number;
  /** One example path, printable and bounded; empty where only hidden files were normalised. */
  readonly example: string;
  /** Of what visitors will miss: the first of it, printable and bounded. */
  readonly paths?: readonly string[] | undefined;
}

export interface BundleIndex {
  /** SHA-256, lower-case hex, over the sorted list of (path, sha256): names the content, not the archive. */
  readonly digest: string;
  readonly files: readonly BundleFile[];
  /** HTML documents a visitor can open (404.html, hidden files and JSON do not count). */
  readonly pages: number;
  /** Sum of the files' sizes. */
  readonly sizeBytes: number;
  readonly notes: readonly BundleNote[];
  /** The archive's own, where it was read just now and has one. */
  readonly report?: SiteReport | undefined;
}
