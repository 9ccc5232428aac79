// The copy of a bundle in a mirror as a source, asked before the link. Refuses content without a digest. While there is a
// link too, a mirror that fails passes to it, because a vendor may answer when the mirror does not.

import type { BundleProgress } from '#bundle/bundle-task.ts';
import { readMirrorSecret } from '#mirror/mirror-secret.ts';
import { restoreInWorker } from '#mirror/restore.ts';
import type { CaCertificates } from '#platform/http/ca-certificates.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { userAgent } from '#platform/runtime/version.ts';
import { publishableMessage } from '#platform/wire/publishable-error.ts';
import { type BundleServerFlags, serverLimitsOf } from '../server-flags.ts';
import type { BundleSource } from './bundle-source.ts';
import { nameFlag, type PreparationPorts } from './link-source.ts';

/** Brings the content of the reference into the store. @throws {PublishableError} */
export type RestoreBundle = (
  ref: string,
  digest: string,
  onProgress: (progress: BundleProgress) => void,
  signal: AbortSignal,
) => Promise<unknown>;

export function mirrorSource(restore: RestoreBundle, logger: Logger): BundleSource {
  return {
    name: 'mirror',
    obtain: async ({ published: { ref, digest, link }, onProgress }, signal) => {
      if (ref === undefined || digest === undefined) return undefined;
      try {
        await restore(ref, digest, onProgress, signal);
        return digest;
      } catch (error) {
        if (signal.aborted || link === undefined) throw error;
        logger.warn(
          { error, digest },
          `could not read the mirror: ${publishableMessage(error)}; using the link`,
        );
        return undefined;
      }
    },
  };
}

/** Credentials are read for every copy, so that a rotated Secret needs no restart, and one that is being written is read again. */
export function openRestore(
  flags: BundleServerFlags,
  certificates: CaCertificates,
  { workerUrl, written, pause }: PreparationPorts,
): RestoreBundle {
  const limits = serverLimitsOf(flags);
  const folder = flags.mirrorCredentials;
  return async (ref, digest, onProgress, signal) =>
    restoreInWorker(
      workerUrl,
      {
        ref,
        digest,
        storeDir: flags.store,
        serveDotfiles: flags.serveDotfiles,
        limits,
        access: {
          secret: folder === undefined ? undefined : await readMirrorSecret(folder),
          endpoint: flags.mirrorEndpoint,
          region: flags.mirrorRegion,
          pathStyle: flags.mirrorPathStyle,
          allowPrivateAddresses: flags.allowPrivateMirror,
          isHttpAllowed: flags.allowHttpMirror,
          extraCaPem: await certificates.current(),
          userAgent,
        },
      },
      { signal, onProgress, handOver: { pause, take: (index) => written.note(flags.store, index) } },
    ).catch((error: unknown) => {
      throw nameFlag(error, flags);
    });
}
