// Puts a verified bundle into service: first the swap, then its record for a restart, once the bundle is in the store. A
// bundle that could not be stored counts as unreadable: it is obtained again.

import { bundleDamagedCode } from '#bundle/store/pending-check.ts';
import type { BundleStore } from '#bundle/store/store.ts';
import { storeFullCode } from '#bundle/store/store-fault.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { unlessAborted } from '#platform/runtime/time-limit.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { goLive } from '../content/live-bundle.ts';
import type { LiveSite, Provenance, PublishedName, ServedVersion } from '../content/live-site.ts';
import type { RoutesAhead } from '../content/routes-ahead.ts';
import type { ServedRecord } from './served-record.ts';

export interface ActivationPorts {
  readonly store: BundleStore;
  readonly record: ServedRecord;
  readonly site: LiveSite;
  readonly routes: Pick<RoutesAhead, 'take'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** An open bundle, from whatever source it came. */
export interface VerifiedBundle {
  readonly stored: StoredBundle;
  readonly provenance: Provenance;
  /** `undefined`: it is in the store. */
  readonly committed?: Promise<string> | undefined;
}

/** A bundle of the disk under the version it was activated as. No request waits for the routes of a large site. */
export async function bringUp(
  { clock, routes }: ActivationPorts,
  stored: StoredBundle,
  committed?: Promise<unknown>,
): Promise<ServedVersion> {
  const bundle = goLive(stored, await routes.take(stored.index), committed);
  const activation = stored.activation ?? { version: undefined, activatedAt: clock.now() };
  return { bundle, ...activation, provenance: 'disk' };
}

/**
 * Serves the bundle under that name. Takes over `stored`.
 *
 * @param verified `committed`: see `WrittenBundle`
 * @throws what kept a served bundle out of the store. After a failed sync the disk may give other bytes than were written
 */
export async function activate(
  ports: ActivationPorts,
  { stored, provenance, committed }: VerifiedBundle,
  { version, basePath }: PublishedName,
): Promise<void> {
  const { digest, files } = stored.index;
  const { bundle } = await bringUp(ports, stored, committed);
  const { pages } = bundle.routes;
  const before = ports.site.view()?.active;
  const isSame = before?.bundle.digest === digest && before.version === version;
  const activatedAt = isSame ? before.activatedAt : ports.clock.now();
  const published = { version, activatedAt, ...(basePath !== undefined && { basePath }) };
  ports.site.swap({ bundle, ...published, provenance });
  ports.logger.info({ version, digest, files: files.length, pages, provenance }, 'serving');
  try {
    await committed;
  } catch (error) {
    bundle.reportUnreadable();
    throw error;
  }
  await ports.record.write({ digest, ...published });
}

/**
 * Serves what `current` lists already, so nothing is written. If another bundle became active while its routes were
 * decided, it goes behind that one.
 */
export async function activateCurrent(ports: ActivationPorts, stored: StoredBundle): Promise<void> {
  const before = ports.site.view()?.active.bundle;
  const served = await bringUp(ports, stored);
  if (ports.site.view()?.active.bundle !== before) {
    ports.site.addPrevious(served);
    return;
  }
  ports.site.swap(served);
  const { digest, files } = stored.index;
  const { pages } = served.bundle.routes;
  ports.logger.info(
    { version: served.version, digest, files: files.length, pages, provenance: 'disk' },
    'serving',
  );
}

/**
 * Waits until the check of its files has ended. A damaged copy is logged when the disk is checked again.
 *
 * @returns false too when the signal has aborted
 */
export async function isProven(
  { logger }: Pick<ActivationPorts, 'logger'>,
  stored: StoredBundle,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    signal.throwIfAborted();
    await unlessAborted(stored.proven(), signal);
    return true;
  } catch (error) {
    if (!signal.aborted && publishableCode(error) !== bundleDamagedCode) {
      logger.warn({ error }, 'could not check the stored bundle to its end; checking it again');
    }
    return false;
  }
}

/** The check of what is served did not prove it. Its intact files are served until another bundle is there. */
export function reportUnproven({ site, logger }: ActivationPorts, stored: StoredBundle): void {
  const active = site.view()?.active.bundle;
  if (active?.stored !== stored || !active.reportUnreadable()) return;
  const message =
    'some files of the served bundle may be damaged; requests for damaged or unchecked files get 500. ';
  const step =
    'Check the volume of the store. Until the state is in-sync, do not delete it, nor a pod without a volume';
  logger.error({ digest: active.digest }, message + step);
}

/** The active content is published under another version, or for another base path, from now on. */
export async function relabel(ports: ActivationPorts, name: PublishedName): Promise<void> {
  const active = ports.site.view()?.active;
  if (active === undefined) return;
  const activatedAt = ports.clock.now();
  ports.site.relabel(name, activatedAt);
  const { digest } = active.bundle;
  ports.logger.info({ ...name, digest }, 'same content published under another version or base path');
  await ports.record.write({ digest, ...name, activatedAt });
}

/**
 * Former bundles that are still on disk, so that pages opened before a restart find their assets. To be called once what
 * is served is proven: what was set aside is then of no use.
 */
export async function reopenFormer(ports: ActivationPorts): Promise<void> {
  try {
    for (const digest of await ports.store.former()) {
      const stored = await ports.store.open(digest);
      if (stored !== undefined) ports.site.addPrevious(await bringUp(ports, stored));
    }
  } catch (error) {
    ports.logger.warn({ error }, 'could not open former bundles; their assets are not served');
  }
  const active = ports.site.view()?.active.bundle;
  if (active === undefined) return;
  await ports.store.forgetDamaged(active.digest).catch((error: unknown) => {
    ports.logger.warn({ error }, 'could not remove a damaged bundle; check the volume of the store');
  });
}

export function isStoreFull(error: unknown): boolean {
  return publishableCode(error) === storeFullCode;
}

/**
 * Former versions' assets matter less than the wanted version. If the bundle of the disk proves damaged, served or not, a
 * former version is the last good one.
 *
 * @param lastGood that is not served yet
 * @returns whether there is more room
 */
export async function makeRoom(
  { store, record, site, logger }: ActivationPorts,
  lastGood: StoredBundle | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  await record.retry(true);
  if (!record.isWritten()) return false;
  const view = site.view();
  const active = view?.active;
  const isWhole = active?.bundle.isStored() === true && !active.bundle.isUnreadable();
  const bundles = [active, ...(view?.previous ?? [])].map((one) => one?.bundle);
  if (!isWhole && bundles.some((bundle) => bundle?.isUnreadable() && bundle.isStored())) return false;
  const served = active?.provenance === 'disk' ? active.bundle.stored : undefined;
  for (const stored of [lastGood, served]) {
    if (stored !== undefined && !(await isProven({ logger }, stored, signal))) return false;
  }
  site.dropPrevious();
  try {
    const needed = [site.view()?.active.bundle.digest, lastGood?.index.digest];
    const gone = await store.dropFormer(needed.filter((digest) => digest !== undefined));
    if (gone > 0) logger.warn({ gone }, 'removed former or damaged bundles to free space');
    return gone > 0;
  } catch (error) {
    logger.warn({ error }, 'could not remove former bundles to free space');
    return false;
  }
}
