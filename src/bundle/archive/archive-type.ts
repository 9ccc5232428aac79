// Detects what a download is by its first bytes; names and content types are ignored. Distinguishes error pages from
// archives, because a storage or proxy may return one with status 200.

export type ArchiveType = 'gzip' | 'zstd' | 'zip' | 'tar';
export type DownloadType = ArchiveType | 'empty' | 'html' | 'xml' | 'unknown';

/** Enough leading bytes to distinguish all types. */
export const headBytes = 512;

/** @param head the first {@link headBytes} bytes, fewer only if there are no more */
export function detectType(head: Buffer): DownloadType {
  if (head.length === 0) return 'empty';
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
  if (head.length >= 4) {
    const magic = head.readUInt32LE(0);
    if (magic === 0xfd2fb528 || (magic & 0xfffffff0) >>> 0 === 0x184d2a50) return 'zstd';
    // First local header, end record of an empty zip, marker of a split zip.
    if (magic === 0x04034b50 || magic === 0x06054b50 || magic === 0x08074b50) return 'zip';
  }
  if (isTarHead(head)) return 'tar';
  return detectMarkup(head);
}

function isTarHead(head: Buffer): boolean {
  if (head.length < headBytes) return false;
  return head.toString('latin1', 257, 262) === 'ustar' || head.every((byte) => byte === 0) || isV7Head(head);
}

/** A header from before ustar has no magic, but a checksum (so that the refusal is more precise than "unknown"). */
function isV7Head(head: Buffer): boolean {
  const stored = /^ *([0-7]{1,7})[\0 ]/.exec(head.toString('latin1', 148, 156))?.[1];
  return stored !== undefined && Number.parseInt(stored, 8) === tarChecksum(head);
}

/** Sum of a tar header's bytes with its checksum field taken as spaces (POSIX pax, "ustar Interchange Format"). */
export function tarChecksum(block: Uint8Array): number {
  let sum = 8 * 0x20;
  for (let at = 0; at < 512; at += 1) {
    if (at < 148 || at >= 156) sum += block[at] ?? 0;
  }
  return sum;
}

function detectMarkup(head: Buffer): DownloadType {
  const text = head
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();
  if (!text.startsWith('<')) return 'unknown';
  return /^<(!doctype\s+html|html|head|body|script|title)\b/i.test(text) || /<html\b/i.test(text)
    ? 'html'
    : 'xml';
}
