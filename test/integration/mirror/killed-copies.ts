// Copies to a mirror that end by kill -9 at pieces of data on their way to or from a real registry or a real S3 service.
// Whatever is left: no tag without the whole bundle behind it, and the next copy is whole. How many moments is the caller's.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultLimits } from '#bundle/limits.ts';
import type { Carrier } from '#mirror/carrier.ts';
import { verifyCopy } from '#mirror/copy.ts';
import { findImage } from '#mirror/mirrored-content.ts';
import { type ChildProgram, startProgram } from '../../support/child-program.ts';
import { type Cut, startCutProxy } from '../../support/cut-proxy.ts';
import { startDockerRegistry } from '../../support/docker-registry.ts';
import { spread } from '../../support/spread.ts';
import { startVersitygw } from '../../support/versitygw.ts';
import { copiedDigest, copySite, openMirror } from './killed-copy.ts';
import { runUntilKilled } from './scaled-moment.ts';

const program = join(import.meta.dirname, 'killed-copy.ts');
const never = new AbortController().signal;

/** A store of one kind, and where copy number `at` goes in it. */
interface Store {
  /** Host and port. */
  readonly host: string;
  /** @param host of the store, or of a proxy before it */
  place(at: number, host: string): { readonly address: string; readonly endpoint: string | undefined };
}

type Moment = Pick<Cut, 'at' | 'moment'>;

/** Before and after each piece. */
function momentsOf(pieces: number): readonly Moment[] {
  return Array.from({ length: pieces }, (_, at): Moment[] => [
    { at, moment: 'before' },
    { at, moment: 'after' },
  ]).flat();
}

/** @returns whether the mirror has the bundle: whole, or nothing under any tag */
async function readMirror(carrier: Carrier, workDir: string): Promise<boolean> {
  const tags = await carrier.listTags(never);
  for (const tag of tags) {
    assert.equal(tag, copiedDigest);
    const image = await findImage(carrier, copiedDigest, tag, never);
    assert.ok(image !== undefined, 'the tag names a manifest');
    await verifyCopy(image, carrier, { compression: 'Zstd', workDir, limits: defaultLimits }, never);
  }
  return tags.length > 0;
}

/** One copy, killed at the moment. @returns what it left, and how many pieces passed */
async function copyOnce(store: Store, at: number, folder: string, moment: Moment | undefined) {
  const workDir = join(folder, `${at}`);
  let child: ChildProgram | undefined;
  const end = async (): Promise<void> => child?.stop('SIGKILL');
  const proxy = await startCutProxy(store.host, moment && { ...moment, end });
  try {
    const { address, endpoint } = store.place(at, proxy.host);
    child = startProgram(process.execPath, { args: [program, address, endpoint ?? '', workDir] });
    const code = await child.exited;
    const isKilled = code === null;
    assert.ok(isKilled || code === 0, child.tail());
    const direct = store.place(at, store.host);
    const carrier = await openMirror(direct.address, direct.endpoint);
    try {
      const left = await readMirror(carrier, workDir);
      assert.ok(isKilled || left, 'a copy that ended well is there');
      const image = await copySite(carrier, workDir);
      assert.equal(image.digest, copiedDigest);
      assert.equal(await readMirror(carrier, workDir), true);
      // The spool file has no name, so it is gone with its process.
      assert.deepEqual(await readdir(workDir), []);
      return { isKilled, left, pieces: proxy.pieces() };
    } finally {
      await carrier.close();
    }
  } finally {
    await child?.stop('SIGKILL');
    await proxy.close();
  }
}

/** Three at a time. */
async function killEach(store: Store, mostKills: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'copy-kills-'));
  try {
    const { pieces, isKilled } = await copyOnce(store, 0, folder, undefined);
    assert.equal(isKilled, false);
    const moments = spread(momentsOf(pieces), mostKills);
    const next = moments.entries();
    const left: boolean[] = [];
    const worker = async (): Promise<void> => {
      for (const [index, moment] of next) {
        const where = `${moment.moment} piece ${moment.at + 1} of ${pieces}`;
        const found = await runUntilKilled(moment.at, pieces, (at, runs) =>
          copyOnce(store, (index + 1) * 10 + runs, folder, { ...moment, at }),
        ).catch((cause: unknown) => {
          throw new Error(`killed ${where}`, { cause });
        });
        if (found.isKilled) left.push(found.left);
      }
    };
    await Promise.all([worker(), worker(), worker()]);
    // A copy may end by itself between its last piece and the kill.
    assert.ok(left.length > 0.75 * moments.length, `${left.length} of ${moments.length} copies were killed`);
    assert.deepEqual([...new Set(left)].sort(), [false, true], 'kills before the tag, and after it');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function killCopiesToRegistry(mostKills: number): Promise<void> {
  const registry = await startDockerRegistry();
  const place: Store['place'] = (at, host) => ({
    address: `oci://${host}/docs/kill-${at}`,
    endpoint: undefined,
  });
  try {
    await killEach({ host: registry.host, place }, mostKills);
  } finally {
    await registry.close();
  }
}

export async function killCopiesToBucket(mostKills: number): Promise<void> {
  const service = await startVersitygw();
  const place: Store['place'] = (at, host) => ({
    address: `s3://docs/kill-${at}`,
    endpoint: `http://${host}`,
  });
  try {
    await service.createBucket('docs');
    await killEach({ host: new URL(service.origin).host, place }, mostKills);
  } finally {
    await service.close();
  }
}
