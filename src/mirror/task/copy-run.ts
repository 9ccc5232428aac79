// The thread's side of a copy: the mirror answers, the archive is downloaded and inspected as always, and its content is
// copied from a scratch pack. Invariant: an archive's errors are BundleErrors as without a mirror, and after an
// inspection that succeeded nothing about the mirror hides its result.

import { join } from 'node:path';
import { packedFiles } from '../../bundle/archive/packed-files.ts';
import { BundleError } from '../../bundle/bundle-error.ts';
import type { BundleIndex } from '../../bundle/bundle-index.ts';
import { throttleProgress } from '../../bundle/bundle-task.ts';
import {
  type KeepContent,
  type PrepareContext,
  runPreparation,
} from '../../bundle/prepare/preparation-run.ts';
import { storeFault, storeFullCode } from '../../bundle/store/store-fault.ts';
import type { StoredBundle } from '../../bundle/store/stored-bundle.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import type { Carrier } from '../carrier.ts';
import { copyBundle } from '../copy.ts';
import { MirrorError } from '../mirror-error.ts';
import { referenceTo } from '../mirror-reference.ts';
import type { CarrierContext } from '../open-carrier.ts';
import { spoolFull } from '../spool.ts';
import {
  type CopyAnswer,
  type CopyReport,
  type CopyTask,
  type Inspected,
  sentFailure,
} from './mirror-task.ts';
import { copyLimits, withPlace } from './opened-place.ts';
import { claimPlace, findOwner } from './owner-record.ts';
import { createScratchPack } from './scratch-pack.ts';

export interface CopyContext extends PrepareContext, CarrierContext {
  readonly report: (report: CopyReport) => void;
}

/** @throws {MirrorError} of the mirror, before the download begins; {BundleError} of the archive */
export function runCopy(task: CopyTask, context: CopyContext, signal: AbortSignal): Promise<CopyAnswer> {
  const { owner, isExclusive } = task.place;
  return withPlace(task.place, context, async (carrier) => {
    // Asks the mirror for a manifest, with the credentials of this resource.
    await (isExclusive ? claimPlace : findOwner)(carrier, owner, signal);
    context.report({ stage: 'inspecting' });
    const { index, content } = await inspect(task, context);
    try {
      const inspected = { digest: index.digest, pages: index.pages, sizeBytes: index.sizeBytes };
      context.report({ stage: 'copying', inspected });
      return { inspected, copy: await copy(content, inspected, task, carrier, context, signal) };
    } finally {
      if (!('fault' in content)) await content.close();
    }
  });
}

type Content = StoredBundle | { readonly fault: unknown };

async function inspect(
  { prepare }: CopyTask,
  context: CopyContext,
): Promise<{ readonly index: BundleIndex; readonly content: Content }> {
  let content: Content = { fault: undefined };
  const keep: KeepContent = async ({ workDir }, _context, readInto) => {
    const scratch = await createScratchPack(join(workDir, 'content'));
    try {
      const index = await readInto(scratch.sink);
      content = await scratch.open(index);
      return index;
    } finally {
      scratch.abandon();
    }
  };
  const index = await runPreparation(prepare, context, keep);
  return { index, content };
}

async function copy(
  content: Content,
  { digest }: Inspected,
  task: CopyTask,
  carrier: Carrier,
  context: CopyContext,
  signal: AbortSignal,
): Promise<CopyAnswer['copy']> {
  const { prepare, compression, versionStamp } = task;
  try {
    if ('fault' in content) throw storeFault(content.fault);
    const { files, sizeBytes } = content.index;
    const report = throttleProgress(context);
    const options = {
      compression,
      workDir: prepare.workDir,
      limits: copyLimits(prepare.limits, files.length),
      onProgress: (): void => report({ receivedBytes: sizeBytes, files: files.length }),
    };
    const version = `${versionStamp}-${digest.slice(0, 8)}`;
    const image = await copyBundle(
      { digest, version, files: packedFiles(content) },
      carrier,
      options,
      signal,
    );
    return { kind: 'copied', ref: referenceTo(carrier.name, image) };
  } catch (error) {
    return { kind: 'failed', failure: sentFailure(faultOfCopy(error, carrier.name, digest)) };
  }
}

/** What an error means once the archive itself was found good. */
function faultOfCopy(error: unknown, name: string, digest: string): MirrorError {
  if (error instanceof MirrorError) return error;
  if (!(error instanceof BundleError)) {
    const why = `Copying the bundle to ${name} failed unexpectedly (${publishableCode(error)}). Retrying.`;
    return new MirrorError('WorkFailed', why, { isTemporary: true, cause: error });
  }
  if (error.code === storeFullCode) return spoolFull(error);
  if (error.kind !== 'rejected') {
    const why = `The bundle cannot be spooled for its copy: ${error.message}. Retrying.`;
    return new MirrorError('WorkFailed', why, { isTemporary: true, cause: error });
  }
  const remedy = `Remove the tag ${digest}, and the bundle is copied again.`;
  return new MirrorError(
    'BlobDamaged',
    `The copy in ${name} cannot be read back (${error.code}). ${remedy}`,
    {
      cause: error,
    },
  );
}
