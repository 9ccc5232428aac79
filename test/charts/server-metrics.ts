// What a bundle server exposes to Prometheus while it serves a site: for tests of what reads it.

import { goLive } from '#server/content/live-bundle.ts';
import { createLiveSite } from '#server/content/live-site.ts';
import { createSiteInsights } from '#server/insights/site-insights.ts';
import { createSiteCounts } from '#server/site-counts.ts';
import { createSiteMetrics } from '#server/site-metrics.ts';
import { startingProgress } from '#server/source/source-progress.ts';
import { storedBundle } from '../unit/server/fixtures.ts';

export async function serverMetrics(): Promise<string> {
  const site = createLiveSite(1);
  site.swap({
    bundle: goLive(storedBundle({ 'a.html': '' })),
    version: 'v',
    activatedAt: 0,
    provenance: 'disk',
  });
  const published = { version: 'v', digest: undefined, jobId: undefined, issuedAt: 0, expiresAt: 0 };
  const progress = () => ({ ...startingProgress, published });
  const insights = createSiteInsights({ now: () => 0, monotonic: () => 0 });
  const quiet = { cachedBytes: () => 0, hasPeers: false, insights };
  return createSiteMetrics({ site, progress, counts: createSiteCounts(), ...quiet }).metrics();
}
