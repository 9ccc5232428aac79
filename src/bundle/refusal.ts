// Why the bytes are not a bundle that this project publishes: one stable code and one sentence for each reason. Owns
// the closed lists of reasons, for archives that are rejected and for links that return none. README.md of this folder
// explains each reason, and a test compares the lists. Invariant: no sentence quotes the archive. Where a name
// helps, a printable, bounded form of it is appended.

import { printable } from '#platform/wire/printable-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

const sentences = {
  // the link and the download
  FileLink: 'the link is a file: link, and those are not read here',
  ArchiveTooLarge: 'the archive is larger than allowed',
  // decompression
  TruncatedArchive: 'the archive is cut off; export or copy it again, and check its upload to the storage',
  CorruptArchive:
    'the archive is damaged: its checksum or compression is not valid; export or copy it again, and check its upload to the storage',
  DataAfterEnd: 'the archive goes on after its end',
  ContentTooLarge: 'the unpacked content is larger than allowed',
  TooManyFrames: 'the archive consists of more separately compressed frames than allowed; compress it as one',
  WindowTooLarge:
    'the archive was compressed over a larger window than allowed; compress it without --long or --ultra',
  RatioTooHigh: 'the archive unpacks to suspiciously many times its size',
  // tar
  InvalidTarHeader: 'a header of the tar is damaged',
  UnknownTarFormat: 'the tar is neither ustar, pax nor GNU',
  InvalidExtendedHeader: 'an extended header of the tar is malformed, ambiguous or belongs to nothing',
  InvalidSize: 'an entry has a malformed, negative, huge or contradictory size',
  UnexpectedData: 'a folder or link of the tar carries data',
  NoEndMark: 'the tar has no end mark, so a part of it may be missing',
  UnknownEntryType: 'an entry is of a type that no site needs',
  SparseFile: 'a sparse file is in the archive; pack it without sparse files',
  SymbolicLink: 'a symbolic link is in the archive; pack it with links followed',
  LinkTargetMissing: 'a hard link names no earlier file of the archive',
  SpecialFile: 'a device, pipe or socket is in the archive',
  // zip
  CorruptZip: 'the zip is damaged, cut off, or split over several files',
  EncryptedZip: 'the zip is encrypted',
  UnsupportedCompression: 'an entry of the zip is compressed in another way than deflate',
  ZipHeaderMismatch: 'the headers of the zip contradict its directory',
  UnlistedData: 'the zip holds bytes that its directory does not list',
  OverlappingEntries: 'entries of the zip overlap',
  ChecksumMismatch: 'a file of the zip does not have its checksum',
  // names
  EmptyPath: 'an entry has no name',
  AbsolutePath: 'an entry has an absolute path',
  ParentPath: 'an entry has a path with ".."',
  BackslashInPath: 'an entry has a path with a backslash',
  DrivePath: 'an entry has a path with a drive letter',
  ControlInPath: 'an entry has a path with control characters',
  InvalidUtf8: 'an entry has a path that is not UTF-8',
  ForeignCharset:
    'the tar declares another charset than UTF-8 for a path beyond ASCII; pack it in a UTF-8 locale',
  FolderNameOnFile: 'a file has a path that ends in a slash',
  UnicodeTwins:
    'two files have names that differ only in their Unicode form (NFC, NFD), and both have one address; remove one',
  PathTooLong: 'an entry has a path that is too long; shorten it',
  PathTooDeep: 'an entry has a path with too many folders',
  // volume and sum
  FileTooLarge: 'a file is larger than allowed; reduce its size',
  TooManyFiles: 'the archive has more entries than allowed; reduce the number of files',
  MetadataTooLarge: 'the archive has longer names and headers than allowed',
  EmptyBundle: 'the archive holds no file',
  DigestMismatch: 'the archive holds other content than was published under this digest',
} as const;

export type RefusalCode = keyof typeof sentences;

export const refusalCodes: readonly string[] = Object.keys(sentences);

/** @param name of the entry at fault, as it came; shortened and made printable here. @param twin the other one */
export function refusal(
  code: RefusalCode,
  options: { readonly name?: string; readonly twin?: string; readonly cause?: unknown } = {},
): PublishableError {
  const { name, twin } = options;
  const names = twin === undefined ? printableName(name ?? '') : bothNames(name ?? '', twin);
  const example = name === undefined ? '' : ` (${names})`;
  return new PublishableError(code, `${sentences[code]}${example}`, {
    kind: 'refused',
    cause: options.cause,
  });
}

/** The storage has another number of bytes than the export API named for the archive. */
export function truncated(bytes: number, claimedBytes: number): PublishableError {
  const message = `the archive has ${bytes} bytes in the storage, and ${claimedBytes} by the export API; export it again, and check its upload to the storage`;
  return new PublishableError('TruncatedArchive', message, { kind: 'refused' });
}

/**
 * What a link returned instead of an archive: a page, a text, nothing, or a redirect elsewhere. A storage in
 * maintenance, a proxy or a resolver may answer so once, so it is remembered no longer than a back-off.
 */
const oddAnswers = {
  // where the link leads
  PrivateLink:
    'the link leads to a loopback, link-local or private address. Set --allow-private-links (charts: allowPrivateLinks, server.allowPrivateLinks) if intended; link-local and metadata addresses are never allowed',
  TooManyRedirects: 'the link redirects too often',
  InvalidRedirect: 'the link redirects to nowhere, to another scheme, or from https to http',
  // what came
  EmptyArchive: 'the download is empty',
  HtmlInsteadOfArchive: 'the download is an HTML page instead of an archive',
  XmlInsteadOfArchive: 'the download is an XML document instead of an archive',
  UnknownArchiveType: 'the download is none of tar, tar.gz, tar.zst and zip',
} as const;

type OddAnswerCode = keyof typeof oddAnswers;

export const oddAnswerCodes: readonly string[] = Object.keys(oddAnswers);

/** Transient: the same link may lead to the archive later. */
export function oddAnswer(code: OddAnswerCode): PublishableError {
  return new PublishableError(code, oddAnswers[code], { kind: 'retry' });
}

const longestName = 96;

/** A path from an archive as text that is safe in a log line or a status: quoted, escaped, at most 96 characters. */
export function printableName(name: string): string {
  const quoted = name
    .slice(0, longestName + 1)
    .replace(/["\\]/g, (one) => (one === '"' ? '\\u{22}' : '\\u{5c}'));
  return `"${printable(quoted, longestName)}"`;
}

/** Names that look alike on a screen, with what is beyond ASCII escaped, from where they differ. */
function bothNames(one: string, other: string): string {
  const from = [...one].findIndex((char, at) => [...other][at] !== char);
  const start = Math.max(0, from - 20);
  const shown = [one, other].map((name) => {
    const part = [...name].slice(start).join('').slice(0, 60);
    const escaped = part.replace(/[^\x20-\x7e]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
    return `"${start > 0 ? '…' : ''}${escaped}"`;
  });
  return shown.join(' and ');
}
