// Reads which files a Pagefind index is made of: its entry names a meta file for each language, and a meta file names
// chunks, filters and fragments. A meta file is gzip'd CBOR (RFC 8949). Owns the walk over it, which keeps names alone and
// never builds a tree. Refuses what is not Pagefind's: such a body names nothing. Takes linear time, whatever the bytes.

import { gunzipSync } from 'node:zlib';
import * as z from 'zod';
import { readJson } from '#platform/wire/json-text.ts';
import { maxReferences } from './reference.ts';

/** Sixteen bytes a page: enough for two million. */
const maxMetaBytes = 32 * 1024 * 1024;
const signature = Buffer.from('pagefind_dcd');
const fileName = /^[\w-]{1,120}$/;
const maxEntryLength = 256 * 1024;
const maxNesting = 16;

const entryShape = z.object({
  languages: z.record(z.string(), z.object({ hash: z.string(), wasm: z.string().nullish() })),
});

/** @returns file names in the folder of `pagefind-entry.json` */
export function readPagefindEntry(text: string): readonly string[] {
  const parsed = entryShape.safeParse(text.length > maxEntryLength ? undefined : readJson(text));
  if (!parsed.success) return [];
  return Object.values(parsed.data.languages).flatMap(({ hash, wasm }) => {
    if (!fileName.test(hash)) return [];
    const meta = `pagefind.${hash}.pf_meta`;
    return fileName.test(wasm ?? '') ? [meta, `wasm.${wasm}.pagefind`] : [meta];
  });
}

/** By position in the root of a meta file: the folder and ending of the files, and where each entry has their name. */
const namedFiles: ReadonlyMap<number, { readonly at: number; readonly nameOf: (hash: string) => string }> =
  new Map([
    [1, { at: 0, nameOf: (hash) => `fragment/${hash}.pf_fragment` }],
    [2, { at: 2, nameOf: (hash) => `index/${hash}.pf_index` }],
    [3, { at: 1, nameOf: (hash) => `filter/${hash}.pf_filter` }],
  ]);

/** @returns paths relative to the meta file's folder */
export function readPagefindMeta(bytes: Uint8Array): readonly string[] {
  const plain = unpack(bytes);
  if (plain === undefined) return [];
  const names = new Set<string>();
  for (const { list, at, text } of readEntryTexts(plain)) {
    const named = namedFiles.get(list);
    if (named?.at === at && fileName.test(text)) names.add(named.nameOf(text));
    if (names.size >= maxReferences) break;
  }
  return [...names];
}

function unpack(bytes: Uint8Array): Buffer | undefined {
  try {
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const plain = isPacked ? gunzipSync(bytes, { maxOutputLength: maxMetaBytes }) : Buffer.from(bytes);
    return signature.equals(plain.subarray(0, signature.length))
      ? plain.subarray(signature.length)
      : undefined;
  } catch {
    return undefined;
  }
}

interface EntryText {
  /** Position of the list in the root. */
  readonly list: number;
  /** Position in the entry. */
  readonly at: number;
  readonly text: string;
}

/** The texts of the entries of the lists of the root. Ends at what is not CBOR, or is nested too deep. */
function* readEntryTexts(source: Buffer): Generator<EntryText> {
  const open: { left: number; at: number }[] = [];
  let offset = 0;
  while (offset < source.length) {
    const head = readHead(source, offset);
    if (head === undefined) return;
    const { kind, value } = head;
    offset = head.end;
    // A tag stands in front of its item, and both take one position.
    if (kind === 6) continue;
    if (kind === 3 && open.length === 3) {
      const text = source.toString('utf8', offset, Math.min(offset + value, offset + 256, source.length));
      yield { list: open[0]?.at ?? 0, at: open[2]?.at ?? 0, text };
    }
    if (kind === 2 || kind === 3) offset += value;
    if (kind === 4 || kind === 5) {
      if (open.length >= maxNesting) return;
      open.push({ left: kind === 4 ? value : value * 2, at: 0 });
    } else if (!step(open)) {
      return;
    }
    while (open.at(-1)?.left === 0) {
      open.pop();
      if (!step(open)) return;
    }
  }
}

/** Goes to the next position of the innermost list. @returns false behind the root */
function step(open: readonly { left: number; at: number }[]): boolean {
  const inner = open.at(-1);
  if (inner === undefined) return false;
  inner.left -= 1;
  inner.at += 1;
  return true;
}

interface ItemHead {
  /** Major type. */
  readonly kind: number;
  readonly value: number;
  readonly end: number;
}

function readHead(source: Buffer, offset: number): ItemHead | undefined {
  const first = source[offset] ?? 0;
  const kind = first >> 5;
  const size = first & 31;
  if (size < 24) return { kind, value: size, end: offset + 1 };
  // Pagefind writes no items of unknown length.
  const width = { 24: 1, 25: 2, 26: 4, 27: 8 }[size];
  if (width === undefined || offset + 1 + width > source.length) return undefined;
  const value =
    width === 8 ? Number(source.readBigUInt64BE(offset + 1)) : source.readUIntBE(offset + 1, width);
  return { kind, value, end: offset + 1 + width };
}
