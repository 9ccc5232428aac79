// Trees and commits as the bytes that git keeps. A name in a tree is bytes in any encoding, so nothing is decoded, sorted or
// written again: an edit puts a new id where the old one was. Refuses what git cannot read either. Invariant: entries that
// an edit does not name keep their mode, name, id and place.

import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { GitFault } from './git-fault.ts';

export interface Person {
  readonly name: string;
  readonly email: string;
}

export interface Commit {
  readonly oid: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Person;
  readonly committer: Person;
}

export interface TreeEntry {
  readonly type: 'file' | 'folder' | 'link' | 'submodule';
  readonly oid: string;
  /** Of its id, in the bytes of the tree. */
  readonly oidAt: number;
}

export interface GitTree {
  readonly bytes: Buffer;
  /** By {@link nameKey}. Of entries with one name the first, as git finds it. */
  readonly entries: ReadonlyMap<string, TreeEntry>;
}

const oidLength = 20;

/** The bytes of a name as a text of as many characters: two names are equal only where their bytes are. */
export const nameKey = (name: string): string => Buffer.from(name).toString('latin1');

/** @throws {GitFault} where the tree is damaged */
export function readTree(bytes: Buffer): GitTree {
  const entries = new Map<string, TreeEntry>();
  for (let at = 0; at < bytes.byteLength; ) {
    const nameAt = bytes.indexOf(0x20, at) + 1;
    const oidAt = bytes.indexOf(0, nameAt) + 1;
    const mode = bytes.toString('latin1', at, Math.max(at, nameAt - 1));
    if (nameAt === 0 || oidAt === 0 || oidAt + oidLength > bytes.byteLength || !/^[0-7]{1,7}$/.test(mode)) {
      throw damaged('folder');
    }
    const name = bytes.toString('latin1', nameAt, oidAt - 1);
    at = oidAt + oidLength;
    if (entries.has(name)) continue;
    entries.set(name, {
      type: typeOf(Number.parseInt(mode, 8)),
      oid: bytes.toString('hex', oidAt, at),
      oidAt,
    });
  }
  return { bytes, entries };
}

/** As git's `canon_mode`: what is of no other kind is a submodule. */
function typeOf(mode: number): TreeEntry['type'] {
  const kinds = new Map<number, TreeEntry['type']>([
    [0o040000, 'folder'],
    [0o100000, 'file'],
    [0o120000, 'link'],
  ]);
  return kinds.get(mode & 0o170000) ?? 'submodule';
}

/** @returns the bytes of the tree with other ids */
export function replaceIds(
  { bytes }: GitTree,
  ids: readonly (readonly [entry: TreeEntry, oid: string])[],
): Buffer {
  const replaced = Buffer.from(bytes);
  for (const [{ oidAt }, oid] of ids) replaced.write(oid, oidAt, oidLength, 'hex');
  return replaced;
}

/** @throws {GitFault} where the commit is damaged. Old commits with an author of another form are read. */
export function readCommitBytes(oid: string, bytes: Buffer): Commit {
  const end = bytes.indexOf('\n\n');
  const lines = bytes.toString('utf8', 0, end < 0 ? bytes.byteLength : end).split('\n');
  const valuesOf = (name: string): readonly string[] =>
    lines.flatMap((line) => (line.startsWith(`${name} `) ? [line.slice(name.length + 1)] : []));
  const [tree = ''] = valuesOf('tree');
  const parents = valuesOf('parent');
  if (![tree, ...parents].every((id) => /^[0-9a-f]{40}$/.test(id))) throw damaged('commit');
  const [author = ''] = valuesOf('author');
  const [committer = ''] = valuesOf('committer');
  return { oid, tree, parents, author: readPerson(author), committer: readPerson(committer) };
}

function readPerson(line: string): Person {
  const [, name = line, email = ''] = /^([^<]*?) ?<([^>]*)>/.exec(line) ?? [];
  return { name, email };
}

const damaged = (what: string): GitFault =>
  new PublishableError(
    'Unexpected',
    `A ${what} of the repository is damaged. Check the repository with \`git fsck\`.`,
    { kind: 'retry' },
  );
