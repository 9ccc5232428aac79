// What the site's owner asks robots not to fetch (RFC 9309), asked under the site's public name.
// Owns: the reading of robots.txt for this crawler; unknown lines mean nothing, and `Crawl-delay` is not part of
// the standard: politeness is the concurrency limit and Retry-After. Refuses: overriding a Disallow.

import robotsParser from 'robots-parser';
import { type Address, publicUrl, type SiteScope } from './site-scope.ts';

export interface Robots {
  isAllowed(address: Address): boolean;
  /** As written: absolute, mostly. */
  readonly sitemaps: readonly string[];
}

/** The name that a `User-agent` line would call this crawler by. */
const productToken = 'static-export-operator';
/** RFC 9309 §2.5: at least 500 KiB are read; what follows is ignored. */
const maxLength = 500 * 1024;

/** What is used of the parser; its own types claim a default export that the module does not have. */
interface Rules {
  isAllowed(url: string, userAgent: string): boolean | undefined;
  getSitemaps(): string[];
}

function parseRules(url: string, text: string): Rules {
  const parse: unknown = robotsParser;
  if (typeof parse !== 'function') throw new TypeError('robots-parser exports no function');
  return parse(url, text);
}

/** @param text of robots.txt; empty where there is none (RFC 9309 §2.3.1.3: then everything is allowed) */
export function readRobots(scope: SiteScope, text: string): Robots {
  const rules = parseRules(`https://${scope.domain}/robots.txt`, text.slice(0, maxLength));
  return {
    isAllowed: (address) => rules.isAllowed(publicUrl(scope, address), productToken) !== false,
    sitemaps: rules.getSitemaps(),
  };
}
