// Which domains may be exported, and where each is crawled. Pure. With at least one mapping the list is closed;
// without any, a domain is crawled at its public address, https://<domain>/.

import { domainSchema } from '#export-api/contract.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

export interface SiteOrigin {
  readonly url: URL;
  /** The service's administrator named it, so it may be an internal address. */
  readonly isConsented: boolean;
}

export type Origins = ReadonlyMap<string, URL>;

/** @param mappings each `domain=http(s)://host[:port][/prefix]`. @throws {PublishableError} `OriginInvalid` */
export function readOrigins(mappings: readonly string[]): Origins {
  return new Map(
    mappings.map((mapping) => {
      const at = mapping.indexOf('=');
      const domain = domainSchema.safeParse(mapping.slice(0, Math.max(0, at)));
      const target = mapping.slice(at + 1);
      if (!domain.success || !URL.canParse(target)) throw unusable(mapping);
      const url = new URL(target);
      const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
      if (!isPlain || !/^https?:$/.test(url.protocol)) throw unusable(mapping);
      if (!url.pathname.endsWith('/')) url.pathname += '/';
      return [domain.data, url] as const;
    }),
  );
}

function unusable(mapping: string): PublishableError {
  const domain = domainSchema.safeParse(mapping.split('=')[0]);
  return new PublishableError(
    'OriginInvalid',
    `--origin${domain.success ? ` of ${domain.data}` : ''} must be DOMAIN=URL, for example docs.example.com=http://127.0.0.1:4000`,
  );
}

/** Where `domain` is crawled, or `undefined` for a domain that is not on a closed list. */
export function originOf(origins: Origins, domain: string): SiteOrigin | undefined {
  const mapped = origins.get(domain);
  if (mapped !== undefined) return { url: mapped, isConsented: true };
  return origins.size === 0 ? { url: new URL(`https://${domain}/`), isConsented: false } : undefined;
}
