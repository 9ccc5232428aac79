// The published link as a source: downloads, verifies and stores its archive in a worker. New content is offered while it
// is being stored. A refusal that a flag could change names the flag; the archive's readers know limits and no flags,
// because the operator uses them too.

import { bundleErrorKind } from '#bundle/bundle-error.ts';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import type { OnWritten } from '#bundle/bundle-task.ts';
import { isFileMissing } from '#bundle/fetch/local-archive.ts';
import { defaultLimits } from '#bundle/limits.ts';
import { prepareInWorker } from '#bundle/prepare/preparation.ts';
import type { ServedBundle } from '#bundle/published-bundle.ts';
import type { WrittenCopies } from '#bundle/store/checking.ts';
import { trustUnlessLost } from '#bundle/store/pending-check.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { CaCertificates } from '#platform/http/ca-certificates.ts';
import { sizeText } from '#platform/runtime/flags/flag-kinds.ts';
import { userAgent } from '#platform/runtime/version.ts';
import type { Link } from '#platform/wire/link.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type BundleServerFlags, serverLimitsOf } from '../server-flags.ts';
import type { DownloadOutcome } from '../site-counts.ts';
import type { BundleRequest, BundleSource, WrittenBundle } from './bundle-source.ts';

/** Content that a link leads to. */
export type LinkedBundle = ServedBundle & { readonly link: Link };

/** Downloads a link's archive into the store. Content that is new to it comes before it is stored. @throws {PublishableError} */
export type PrepareBundle = (
  published: LinkedBundle,
  request: Pick<BundleRequest, 'onProgress' | 'isWantedUnstored'>,
  signal: AbortSignal,
) => Promise<{ readonly digest: string } | WrittenBundle>;

/** The last of a list: it has the content or throws, unless there is no link. */
export function linkSource(
  prepare: PrepareBundle,
  countDownload: (outcome: DownloadOutcome) => void,
): BundleSource {
  return {
    name: 'link',
    obtain: async (request, signal) => {
      const { published } = request;
      const { link } = published;
      if (link === undefined) return undefined;
      const fail = (error: unknown): never => {
        if (!signal.aborted) countDownload(bundleErrorKind(error));
        throw error;
      };
      const prepared = await prepare({ ...published, link }, request, signal).catch(fail);
      if ('digest' in prepared) {
        countDownload('ok');
        return prepared.digest;
      }
      const committed = prepared.committed.then((digest) => {
        countDownload('ok');
        return digest;
      }, fail);
      committed.catch(() => {}); // the one who serves it gets the error
      return { ...prepared, committed };
    },
  };
}

export interface PreparationPorts {
  readonly workerUrl: URL;
  readonly written: WrittenCopies;
  readonly pause: () => Promise<void>;
}

export function openPreparation(
  flags: BundleServerFlags,
  certificates: CaCertificates,
  { workerUrl, written, pause }: PreparationPorts,
): PrepareBundle {
  const limits = serverLimitsOf(flags);
  return async (published, { onProgress, isWantedUnstored }, signal) => {
    const request = {
      link: published.link,
      storeDir: flags.store,
      expectedDigest: published.digest,
      serveDotfiles: flags.serveDotfiles,
      limits,
      allowPrivateLinks: flags.allowPrivateLinks,
      // A link on the command line is its user's own; one in bundle.json may be another person's text.
      allowFileLinks: flags.allowFileLinks || flags.bundleUrl !== undefined,
      extraCaPem: await certificates.current(),
      userAgent,
    };
    return untilWritten(isWantedUnstored, (offer, isOffered) => {
      // Only a check that follows at once may trust the copy, and what is offered is not checked.
      const take = (index: BundleIndex): void => {
        if (!isOffered()) written.note(flags.store, index);
      };
      const options = { signal, onProgress, handOver: { pause, take, offer } };
      return prepareInWorker(workerUrl, request, options).catch((error: unknown) => {
        throw nameFlag(error, flags);
      });
    });
  };
}

/** What `prepare` resolves with, or what it offers before, if that is wanted then. */
async function untilWritten<Prepared extends { readonly digest: string }>(
  isWanted: () => boolean,
  prepare: (offer: OnWritten, isOffered: () => boolean) => Promise<Prepared>,
): Promise<Prepared | WrittenBundle> {
  const { promise: offered, resolve } = Promise.withResolvers<StoredBundle>();
  let state: 'preparing' | 'offered' | 'ended' = 'preparing';
  const offer: OnWritten = async (index, packPath) => {
    if (!isWanted()) return;
    // A pack that cannot be opened now is opened once it is in the store.
    const stored = await openPack(packPath, index, undefined, trustUnlessLost(committed)).catch(
      () => undefined,
    );
    if (stored === undefined) return;
    if (state === 'ended') return stored.close();
    state = 'offered';
    resolve(stored);
  };
  const prepared = prepare(offer, () => state === 'offered').finally(() => {
    if (state === 'preparing') state = 'ended';
  });
  const committed = prepared.then(({ digest }) => digest);
  committed.catch(() => {}); // its receiver, or the caller, gets the error
  return Promise.race([prepared, offered.then((stored) => ({ stored, committed }))]);
}

type Limits = Pick<BundleServerFlags, 'maxArchiveSize' | 'maxBundleSize' | 'maxFileSize' | 'maxFiles'> &
  Partial<Pick<BundleServerFlags, 'bundleUrl'>>;

/** @returns the error as it is, or the same one with the flag that would change it */
export function nameFlag(error: unknown, limits: Limits): unknown {
  const flag = error instanceof PublishableError ? flagOf(error.code, limits) : undefined;
  if (!(error instanceof PublishableError)) return error;
  if (isFileMissing(error) && limits.bundleUrl !== undefined)
    return error.saying(error.message.replace('the file of the link', 'the file of --bundle-url'));
  if (flag === undefined) return error;
  return error.saying(`${error.message} (${flag})`);
}

function flagOf(code: string, limits: Limits): string | undefined {
  const flags: Readonly<Record<string, string>> = {
    ArchiveTooLarge: `--max-archive-size is ${sizeText(limits.maxArchiveSize)}`,
    ContentTooLarge: `--max-bundle-size is ${sizeText(limits.maxBundleSize)}`,
    FileTooLarge: `--max-file-size is ${sizeText(limits.maxFileSize)}`,
    TooManyFiles: `--max-files is ${limits.maxFiles}`,
    PathTooLong: `limit ${defaultLimits.maxPathBytes} bytes`,
    FileLink: 'set --allow-file-links if intended',
  };
  return flags[code];
}
