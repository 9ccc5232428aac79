// The thread's side of a restore: manifest, layer, digest, pack, commit. Owns what an error of the mirror means to a
// server. Invariant: when it resolves, the store holds the content of the wanted digest.

import { join } from 'node:path';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { throttleProgress } from '#bundle/bundle-task.ts';
import { type PrepareContext, requireRoom, storeContent } from '#bundle/prepare/preparation-run.ts';
import type { PackSink } from '#bundle/store/pack.ts';
import { removeQuietly } from '#bundle/store/store-disk.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { BlobReader } from './carrier.ts';
import type { MirrorError, MirrorErrorCode } from './mirror-error.ts';
import { addressOf, parseReference } from './mirror-reference.ts';
import { findImage, readImage } from './mirrored-content.ts';
import { type CarrierContext, openCarrier } from './open-carrier.ts';
import type { RestoreTask } from './restore.ts';

export type RestoreContext = PrepareContext & CarrierContext;

/** @throws {PublishableError} */
export async function runRestore(task: RestoreTask, context: RestoreContext): Promise<BundleIndex> {
  const signal = new AbortController();
  try {
    const reference = parseReference(task.ref);
    const carrier = await openCarrier(addressOf(reference), task.access, context);
    try {
      const named = reference.kind === 'oci' ? reference.manifestDigest : reference.digest;
      return await storeContent(task, context, (pack) =>
        read(carrier, named, task, pack, context, signal.signal),
      );
    } finally {
      await carrier.close();
    }
  } catch (error) {
    throw judged(error);
  } finally {
    signal.abort();
    await removeQuietly(task.workDir);
  }
}

async function read(
  carrier: BlobReader,
  named: string,
  { digest, limits, serveDotfiles, storeDir, workDir }: RestoreTask,
  pack: PackSink,
  context: PrepareContext,
  signal: AbortSignal,
): Promise<BundleIndex> {
  const image = await findImage(carrier, digest, named, signal);
  if (image === undefined) throw missing(carrier.name);
  await requireRoom(storeDir, image.layer.size, context);
  const report = throttleProgress(context);
  const sink = {
    ...{ limits, pack, serveDotfiles },
    spoolPath: join(workDir, 'spool'),
    onProgress: (receivedBytes: number, files: number): void => report({ receivedBytes, files }),
  };
  return readImage(carrier, image, sink, signal);
}

const missing = (name: string): MirrorError =>
  new PublishableError(
    'BlobMissing',
    `${name} has no copy of the bundle. Copy it again, or correct the reference.`,
  );

/** What only other content under the reference would change. */
const lasting: ReadonlySet<string> = new Set(['InvalidReference', 'NotABundle'] satisfies MirrorErrorCode[]);

/** To a server, such a reference is a refused archive. */
function judged(error: unknown): unknown {
  if (!(error instanceof PublishableError) || !lasting.has(error.code)) return error;
  return new PublishableError(error.code, error.message, { kind: 'refused', cause: error });
}
