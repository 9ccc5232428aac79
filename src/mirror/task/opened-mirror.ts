// Opens the place of a task, and closes it whatever happens. Refuses a copy in another place: the credentials of a place are
// sent to no other. Invariant: the identity of the process opens only a place that may use it.

import type { BundleLimits } from '#bundle/limits.ts';
import type { Carrier } from '../carrier.ts';
import { addressOf, type MirrorReference, parseReference, referenceTo } from '../mirror-reference.ts';
import { type CarrierContext, openCarrier } from '../open-carrier.ts';
import type { SentPlace } from './mirror-task.ts';

/** @throws {MirrorError} `InvalidReference` and others of opening; what the work throws */
export async function withMirror<T>(
  { address, access, usesIdentity }: SentPlace,
  context: CarrierContext,
  work: (carrier: Carrier) => Promise<T>,
): Promise<T> {
  const identity = usesIdentity && access.secret === undefined ? context.identity : undefined;
  const carrier = await openCarrier(address, access, { ...context, identity });
  try {
    // An address from which no reference follows would be found out after the copy.
    parseReference(referenceTo(carrier.name, { manifestDigest: `sha256:${zeros}`, digest: zeros }));
    return await work(carrier);
  } finally {
    await carrier.close();
  }
}

const zeros = '0'.repeat(64);

/** @returns how the carrier names the manifest; `undefined` where the reference leads to another place */
export function findName(ref: string, { name }: Pick<Carrier, 'name'>): string | undefined {
  const reference: MirrorReference = parseReference(ref);
  if (addressOf(reference) !== name) return undefined;
  return reference.kind === 'oci' ? reference.manifestDigest : reference.digest;
}

/** Headers and padding of a file in a tar, an extended header included. */
const tarBytesOfFile = 4096;

/**
 * The limits within which a copy is read back. Those of the archive count its own headers, and a zip has fewer than the tar of
 * the same files.
 *
 * @param limits of the archive
 */
export function copyLimits(limits: BundleLimits, files: number = limits.maxFiles): BundleLimits {
  const maxTotalBytes = limits.maxTotalBytes + (files + 1) * tarBytesOfFile;
  return { ...limits, maxTotalBytes, maxArchiveBytes: Math.max(limits.maxArchiveBytes, maxTotalBytes) };
}
