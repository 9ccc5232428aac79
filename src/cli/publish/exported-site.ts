// What `export` exports: a domain, or a project of the vendor's. Pure. Invariant: two sites are the same exactly where one
// may continue the other's export and be compared with it.

import * as z from 'zod/mini';
import type { ExportInputs } from '#operator/reconcile/spread.ts';

export const exportedSiteSchema = z.object({
  /** Absent only with a project. */
  domain: z.optional(z.string()),
  baseUrl: z.string(),
  projectId: z.optional(z.string()),
  basePath: z.optional(z.enum(['', '/docs', '/documentation'])),
});
export type ExportedSite = z.infer<typeof exportedSiteSchema>;

/** For people. */
export const siteName = ({ domain, projectId }: Omit<ExportedSite, 'baseUrl'>): string =>
  domain ?? `project ${projectId ?? ''}`;

/** What names it at its export API. A project's domain only names the site. */
export const siteKey = ({ domain, projectId }: Omit<ExportedSite, 'baseUrl'>): readonly (string | null)[] =>
  projectId === undefined ? [domain ?? null] : [null, projectId];

export const isSameSite = (one: ExportedSite, other: ExportedSite): boolean =>
  one.baseUrl === other.baseUrl && siteKey(one).join('\n') === siteKey(other).join('\n');

export const inputsOf = ({ domain, baseUrl, projectId, basePath }: ExportedSite): ExportInputs => ({
  domain,
  baseUrl,
  project: projectId === undefined ? undefined : { id: projectId, basePath },
});
