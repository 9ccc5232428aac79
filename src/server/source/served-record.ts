// What the store's `current` says of the bundle that is served: a restart begins with it. Then removes bundles beyond --keep.
// A disk that refuses to write affects the next start only, so that is logged and tried again. Invariant: no bundle is
// removed before `current` names what is served.

import type { BundleStore } from '#bundle/store/store.ts';
import type { Activation } from '#bundle/store/stored-bundle.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import type { LiveSite } from '../content/live-site.ts';

export interface ServedRecord {
  /** False while the disk refuses to record what is served: the next start begins with another bundle, if it has one. */
  readonly isWritten: () => boolean;
  /** Never throws. */
  write(served: RecordedBundle): Promise<void>;
  /** Writes again what could not be written, by default a minute later. To be called at every check. Never throws. */
  retry(isDue?: boolean): Promise<void>;
}

export interface RecordedBundle extends Activation {
  readonly digest: string;
}

const retryMs = 60_000;

export function createServedRecord(
  store: Pick<BundleStore, 'activate' | 'sweep'>,
  site: Pick<LiveSite, 'view'>,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): ServedRecord {
  let refused: { readonly served: RecordedBundle; readonly at: number } | undefined;
  const write = async ({ digest, ...activation }: RecordedBundle): Promise<unknown> => {
    try {
      await store.activate(digest, activation);
    } catch (error) {
      refused = { served: { digest, ...activation }, at: clock.monotonic() };
      return error;
    }
    refused = undefined;
    await store.sweep().catch((error: unknown) => {
      logger.warn({ error }, 'could not remove bundles beyond --keep; check the volume of the store');
    });
    return undefined;
  };
  return {
    isWritten: () => refused === undefined,
    write: async (served) => {
      const error = await write(served);
      if (error === undefined) return;
      const message =
        'could not record the active bundle; a restart may download it again: check the volume of the store';
      logger.warn({ error, digest: served.digest }, message);
    },
    retry: async (isDue = refused !== undefined && clock.monotonic() - refused.at >= retryMs) => {
      if (refused === undefined || !isDue) return;
      const { served } = refused;
      const active = site.view()?.active.bundle;
      // A bundle of the disk may have taken its place, which is recorded already.
      if (active?.digest !== served.digest) {
        refused = undefined;
        return;
      }
      // The bundle of the former record may be better.
      if (active.isUnreadable()) return;
      if ((await write(served)) !== undefined) return;
      logger.info({ digest: served.digest }, 'recorded the active bundle; a restart serves it');
    },
  };
}
