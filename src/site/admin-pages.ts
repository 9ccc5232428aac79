// The admin port's pages. A file of its own, because their library of metrics is loaded after the ports listen: nothing of
// it is needed for the first page of the site.

import type { RequestListener } from 'node:http';
import { adminApp, type Readiness } from '../runtime/http/admin-port.ts';
import type { Logger } from '../runtime/logger.ts';
import { createSiteMetrics, type MetricSources } from './site-metrics.ts';

export interface AdminContent {
  readonly readiness: Readiness;
  readonly metrics: MetricSources;
  /** The document of `/status`. */
  readonly status: () => object;
  readonly logger: Logger;
}

export function adminPages({ readiness, metrics, status, logger }: AdminContent): RequestListener {
  const registry = createSiteMetrics(metrics);
  return adminApp({ readiness, registry, logger, documents: { '/status': status } });
}
