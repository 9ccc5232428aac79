// The thread's side of a copy: the mirror answers, the archive is downloaded and inspected as always, and its content is
// copied from a scratch pack, after the steps that the task names. Invariant: an archive's errors are BundleErrors as without a mirror, and after an
// inspection that succeeded nothing about the mirror hides its result.

import { join } from 'node:path';
import { packedFiles } from '#bundle/archive/packed-files.ts';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { throttleProgress } from '#bundle/bundle-task.ts';
import { type KeepContent, type PrepareContext, runPreparation } from '#bundle/prepare/preparation-run.ts';
import { bundleDamagedCode } from '#bundle/store/pending-check.ts';
import { storeFullCode, storeUnavailableCode } from '#bundle/store/store-fault.ts';
import { packTooShortCode, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import { withinLimit } from '#platform/runtime/time-limit.ts';
import { PublishableError, publishableCode, publishableFailure } from '#platform/wire/publishable-error.ts';
import type { Carrier } from '../carrier.ts';
import { copyBundle } from '../copy.ts';
import type { MirrorErrorCode } from '../mirror-error.ts';
import { referenceTo } from '../mirror-reference.ts';
import { spoolFull } from '../spool.ts';
import type { CopyAnswer, CopyReport, Inspected, MirrorCopyTask } from './mirror-task.ts';
import { copyLimits } from './opened-mirror.ts';
import { claimPlace, findOwner } from './owner-record.ts';
import { createScratchPack } from './scratch-pack.ts';
import { type AddSearch, type TransformedContent, transformContent } from './transformed-content.ts';

export interface CopyContext extends PrepareContext {
  readonly addSearch: AddSearch;
  /** Resolves when the starter has taken the report. */
  readonly report: (report: CopyReport) => Promise<void>;
}

/** Of the mirror, before a download begins. A mirror that is slow must not take the time of an inspection. */
const openingMs = 120_000;

/** @throws {MirrorError} of the mirror, before the download begins; {PublishableError} of the archive */
export async function runMirrorCopy(
  task: MirrorCopyTask,
  carrier: Carrier,
  context: CopyContext,
  signal: AbortSignal,
): Promise<CopyAnswer> {
  await requirePlace(task, carrier, context, signal);
  void context.report({ stage: 'inspecting' });
  const { index, content } = await inspect(task, context);
  const { inspected, files, close } = await contentToCopy(index, content, task, context, signal);
  try {
    void context.report({ stage: 'copying', inspected });
    return { inspected, copy: await copy(files, inspected, task, carrier, context, signal) };
  } finally {
    await close();
  }
}

/** Asks for the owner's record, so that an address or credentials that are wrong are found out before the download. */
async function requirePlace(
  { place: { owner, isExclusive } }: MirrorCopyTask,
  carrier: Carrier,
  { clock }: CopyContext,
  signal: AbortSignal,
): Promise<void> {
  const ask = isExclusive ? claimPlace : findOwner;
  try {
    await withinLimit<unknown>(clock, openingMs, signal, (limit) => ask(carrier, owner, limit));
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    const why = `${carrier.name} did not answer within ${openingMs / 1000} s. Check the mirror and the network.`;
    throw new PublishableError('Unreachable', why, { kind: 'retry', cause: error });
  }
}

type Content = StoredBundle | { readonly fault: PublishableError };

async function inspect(
  { prepare }: MirrorCopyTask,
  context: CopyContext,
): Promise<{ readonly index: BundleIndex; readonly content: Content }> {
  let content: Content | undefined;
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
  if (content === undefined) throw new Error('the preparation kept no content');
  return { index, content };
}

/** What is copied, and what an inspection says of it. A disk's error counts once something is to be copied from it. */
async function contentToCopy(
  { digest, pages, sizeBytes, notes }: BundleIndex,
  content: Content,
  { prepare, transform }: MirrorCopyTask,
  context: CopyContext,
  signal: AbortSignal,
): Promise<TransformedContent> {
  const inspected = { digest, pages, sizeBytes, notes };
  if ('fault' in content) return { inspected, files: content, close: async () => {} };
  if (transform === undefined) return { inspected, files: packedFiles(content), close: content.close };
  return transformContent(content, transform, prepare, context, signal);
}

async function copy(
  files: TransformedContent['files'],
  { digest, sizeBytes }: Inspected,
  task: MirrorCopyTask,
  carrier: Carrier,
  context: CopyContext,
  signal: AbortSignal,
): Promise<CopyAnswer['copy']> {
  const { prepare, compression, versionStamp } = task;
  try {
    if ('fault' in files) throw files.fault;
    const report = throttleProgress(context);
    const options = {
      compression,
      workDir: prepare.workDir,
      limits: copyLimits(prepare.limits, files.length),
      onProgress: (): void => report({ receivedBytes: sizeBytes, files: files.length }),
    };
    const version = `${versionStamp}-${digest.slice(0, 8)}`;
    const image = await copyBundle({ digest, version, files }, carrier, options, signal);
    return { kind: 'copied', ref: referenceTo(carrier.name, image) };
  } catch (error) {
    return { kind: 'failed', failure: publishableFailure(faultOfCopy(error, carrier.name, digest)) };
  }
}

const ofStore: ReadonlySet<string> = new Set([storeUnavailableCode, bundleDamagedCode, packTooShortCode]);

/** What an error means once the archive itself was found good. */
function faultOfCopy(error: unknown, name: string, digest: string): PublishableError {
  if (!(error instanceof PublishableError)) {
    const why = `Copying the bundle to ${name} failed unexpectedly (${publishableCode(error)}).`;
    return new PublishableError<MirrorErrorCode>('WorkFailed', why, { kind: 'retry', cause: error });
  }
  if (error.code === storeFullCode) return spoolFull(error);
  if (ofStore.has(error.code)) {
    const why = `The bundle cannot be spooled for its copy: ${error.message}.`;
    return new PublishableError<MirrorErrorCode>('WorkFailed', why, { kind: 'retry', cause: error });
  }
  if (error.kind !== 'refused') return error;
  const why = `The copy in ${name} cannot be read back (${error.code}). Remove the tag ${digest}, and the bundle is copied again.`;
  return new PublishableError<MirrorErrorCode>('BlobDamaged', why, { cause: error });
}
