// Another client of a mirror: what it writes under the tag of a bundle, and where a copy's layer is. Owns its own carrier, so
// that it shares nothing with the threads of a copy.

import assert from 'node:assert/strict';
import type { Carrier } from '#mirror/carrier.ts';
import { parseImage } from '#mirror/image.ts';
import { openCarrier } from '#mirror/open-carrier.ts';
import type { MirrorPlace } from '#operator/loop/ports.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { bundleOf, writeBundle } from '../../unit/mirror/bundle-parts.ts';
import { type Copier, inspection, never } from './copier.ts';

const { digest } = inspection;
const indexType = 'application/vnd.oci.image.index.v1+json';
const otherKind = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests: [] }));

export async function asOtherClient<T>(
  { address, endpoint, region, pathStyle, secret }: MirrorPlace,
  work: (carrier: Carrier) => Promise<T>,
): Promise<T> {
  const reach = { allowPrivateAddresses: true, isHttpAllowed: true, extraCaPem: undefined };
  const access = { ...reach, secret, endpoint, region, pathStyle, userAgent: 'test' };
  const proxy = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined };
  const carrier = await openCarrier(address, access, { clock: systemClock, proxy, identity: undefined });
  try {
    return await work(carrier);
  } finally {
    await carrier.close();
  }
}

/** Digest of the copy's layer. */
export function layerOf(place: MirrorPlace): Promise<string> {
  return asOtherClient(place, async (carrier) => {
    const manifest = await carrier.readManifest(digest, never);
    assert.ok(manifest !== undefined);
    return parseImage(manifest, carrier.name).layer.digest;
  });
}

/** What it writes under the tag, by name. */
export const foreignWrites = [
  ['another-kind', (carrier: Carrier) => carrier.writeManifest(digest, indexType, otherKind, never)],
  ['other-content', (carrier: Carrier) => writeBundle(carrier, digest, bundleOf('config', 'layer'), never)],
] as const;

export function assertForeignIsKept(
  copier: Copier,
  place: MirrorPlace,
  write: (carrier: Carrier) => Promise<unknown>,
): Promise<void> {
  return asOtherClient(place, async (carrier) => {
    await write(carrier);
    const foreign = await carrier.readManifest(digest, never);
    assert.ok(foreign !== undefined);
    const refusal = await copier.refused(place);
    assert.deepEqual([refusal.moment, refusal.code], ['after', 'NotABundle']);
    assert.match(refusal.message, /Remove its tag, or use another repository\.$/);
    assert.deepEqual(await carrier.readManifest(digest, never), foreign);
  });
}
