// What `export` is to export, as its argument and its flags name it: a domain, or a project. Pure. Refuses an address in place of
// a host name.

import { CliError } from '../cli-error.ts';
import type { ExportedSite } from '../publish/exported-site.ts';

interface SiteFlags extends Pick<ExportedSite, 'projectId' | 'basePath'> {
  readonly apiBaseUrl: string;
}

/** @throws {CliError} `InvalidDomain`; `UsageError` where neither a domain nor a project is named */
export function readSite(
  domain: string | undefined,
  { apiBaseUrl: baseUrl, projectId, basePath }: SiteFlags,
): ExportedSite {
  if (domain === undefined && projectId === undefined)
    throw new CliError('usage', 'UsageError', 'name the DOMAIN to export, or its project with --project-id');
  return { domain: domain && readDomain(domain), baseUrl, projectId, basePath };
}

/** RFC 1123 host name. */
function readDomain(text: string): string {
  const domain = text.toLowerCase();
  if (/^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/.test(domain))
    return domain;
  throw new CliError(
    'usage',
    'InvalidDomain',
    'DOMAIN must be a host name such as docs.example.com, without https:// and path',
  );
}
