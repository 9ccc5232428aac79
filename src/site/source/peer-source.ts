// Another server of the site as a source of bundles.
// Refuses content without a digest, because nothing else proves a peer's copy.

import type { Peers } from '../peers/peers.ts';
import type { BundleSource } from './bundle-source.ts';

export function peerSource({ bring, copy, report, release }: Peers): BundleSource {
  const from =
    (take: Peers['copy']): NonNullable<BundleSource['obtainNow']> =>
    async ({ published: { digest }, onProgress }, signal) =>
      digest !== undefined && (await take(digest, onProgress, signal)) ? digest : undefined;
  return { name: 'peer', obtain: from(bring), obtainNow: from(copy), report, release };
}
