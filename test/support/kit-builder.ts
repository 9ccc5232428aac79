// Kits in memory, made by the writer of the sources, and the check that an import makes before it writes.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultLimits } from '#bundle/limits.ts';
import { addDelta, addWhole } from '#mirror/kit/kit-bundle.ts';
import { createKitContents } from '#mirror/kit/kit-contents.ts';
import { checkContents, type KitHead, type KitSource, readKitHead } from '#mirror/kit/kit-reader.ts';
import { composeKit } from '#mirror/kit/kit-writer.ts';
import type { SignKey, VerifyKey } from '#mirror/kit/minisign.ts';
import { archivedFiles, type MemorySite, memoryBundle } from './memory-bundle.ts';

const never = new AbortController().signal;

export interface BuiltBundle {
  readonly site: MemorySite;
  /** The kit gets a delta against it. */
  readonly base?: MemorySite;
  readonly version?: string;
  /** What the list names instead of the content's digest. */
  readonly claimsDigest?: string;
}

export async function buildKit(
  bundles: readonly BuiltBundle[],
  key: SignKey,
  sequence = 1,
  name = 'site',
): Promise<Buffer> {
  const work = mkdtempSync(join(tmpdir(), 'kit-builder-'));
  const contents = createKitContents();
  const releases: (() => Promise<void>)[] = [];
  try {
    for (const { site, base, version, claimsDigest } of bundles) {
      const made = memoryBundle(site);
      const { digest } = made.index;
      const bundle = { ...made, index: { ...made.index, digest: claimsDigest ?? digest } };
      const added = { bundle, files: archivedFiles(bundle), version };
      const path = join(work, 'spool');
      const release =
        base === undefined
          ? addWhole(added, contents, path, never)
          : addDelta(
              added,
              memoryBundle(base),
              contents,
              { path, limits: defaultLimits, onProgress: () => {} },
              never,
            );
      releases.push(await release);
    }
    const { document, contents: opened } = contents.finish({
      name,
      sequence,
      createdTime: '2026-01-31T12:00:00Z',
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of composeKit(document, opened, 1_769_860_800, key).bytes(never))
      chunks.push(chunk);
    return Buffer.concat(chunks);
  } finally {
    for (const release of releases) await release();
    rmSync(work, { recursive: true });
  }
}

export function kitSource(bytes: Buffer): KitSource {
  return {
    size: bytes.length,
    read: async (position, length) => {
      if (position + length > bytes.length) throw new Error('read behind the end');
      return bytes.subarray(position, position + length);
    },
  };
}

/** As `kit verify` does. */
export async function checkKit(bytes: Buffer, key: VerifyKey): Promise<KitHead> {
  const source = kitSource(bytes);
  const head = await readKitHead(source, key);
  await checkContents(source, head, () => {}, never);
  return head;
}

/** The files of a plain tar by name, as any tar program would give them. */
export function readTarFiles(tar: Buffer): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (let at = 0; at < tar.length && tar[at] !== 0; ) {
    const name = tar.toString('latin1', at, at + 100).replace(/\0.*$/s, '');
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 135), 8);
    files.set(name, tar.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}
