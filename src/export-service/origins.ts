// Which domains may be exported, where each is crawled, and with which headers. Pure. With at least one mapping the list is
// closed; without any, a domain is crawled at its public address, https://<domain>/. Refuses headers for a domain without a
// mapping, and never repeats a header's value.

import { domainSchema } from '#export-api/contract.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

export interface SiteOrigin {
  readonly url: URL;
  /** The service's administrator named it, so it may be an internal address. */
  readonly isConsented: boolean;
  /** Sent with each request, names in lower case. The values are secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** The administrator lets robots.txt refuse nothing. */
  readonly ignoresRobots: boolean;
}

export type Origins = ReadonlyMap<string, SiteOrigin>;

/**
 * @param mappings each `domain=http(s)://host[:port][/prefix]`
 * @param headers each `domain=Name: value`
 * @param ignoredRobots domains
 * @throws {PublishableError} `OriginInvalid`, `OriginHeaderInvalid`, `IgnoreRobotsInvalid`
 */
export function readOrigins(
  mappings: readonly string[],
  headers: readonly string[] = [],
  ignoredRobots: readonly string[] = [],
): Origins {
  const urls = readUrls(mappings);
  const ignoring = new Set(ignoredRobots.map((domain) => domain.toLowerCase()));
  for (const domain of ignoring) {
    if (urls.has(domain)) continue;
    throw new PublishableError(
      'IgnoreRobotsInvalid',
      '--ignore-robots must be a domain that --origin names; name its origin, or ask the site to allow static-export-operator',
    );
  }
  const headersOf = new Map<string, Record<string, string>>();
  for (const text of headers) {
    const { domain, name, value } = readHeader(text);
    if (!urls.has(domain)) throw headerInvalid(`names ${domain}, which no --origin names`);
    const known = headersOf.get(domain) ?? {};
    if (name in known) throw headerInvalid(`names ${name} of ${domain} twice; name each header once`);
    headersOf.set(domain, { ...known, [name]: value });
  }
  return new Map(
    urls.entries().map(([domain, url]) => {
      const settings = { headers: headersOf.get(domain) ?? {}, ignoresRobots: ignoring.has(domain) };
      return [domain, { url, isConsented: true, ...settings }];
    }),
  );
}

/** The crawler's own, and those that belong to one connection. */
const reservedHeaders = new Set(
  'accept-encoding connection content-length expect keep-alive te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);

function readHeader(text: string): {
  readonly domain: string;
  readonly name: string;
  readonly value: string;
} {
  const equals = text.indexOf('=');
  const colon = text.indexOf(':', equals);
  const domain = domainSchema.safeParse(text.slice(0, Math.max(0, equals)));
  const name = text
    .slice(equals + 1, Math.max(0, colon))
    .trim()
    .toLowerCase();
  const value = text.slice(colon + 1).trim();
  if (!domain.success || !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\x20-\x7e]+$/.test(value)) {
    throw headerInvalid('must be DOMAIN=NAME: VALUE, for example docs.example.com=Host: docs.example.com');
  }
  if (reservedHeaders.has(name))
    throw headerInvalid(`cannot set ${name}; the crawler sets that header itself`);
  return { domain: domain.data, name, value };
}

function headerInvalid(words: string): PublishableError {
  return new PublishableError('OriginHeaderInvalid', `--origin-header ${words}`);
}

function readUrls(mappings: readonly string[]): ReadonlyMap<string, URL> {
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
  if (mapped !== undefined) return mapped;
  if (origins.size > 0) return undefined;
  return { url: new URL(`https://${domain}/`), isConsented: false, headers: {}, ignoresRobots: false };
}
