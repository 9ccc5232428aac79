// What the site's owner asks robots not to fetch (RFC 9309), checked under the site's public name. Owns the reading of
// robots.txt for this crawler. Ignores unknown lines and `Crawl-delay`, which is not part of the standard. The
// concurrency limit and Retry-After keep the load low. Refuses to override a Disallow, and to compare without end: a
// file of wildcards costs at most a fixed number of steps in a whole crawl, or ends it.

import { robotsTooCostly } from './crawl-error.ts';
import { type RobotsRule, readRobotsText, upperCaseEscapes } from './robots-text.ts';
import { type Address, publicUrl, type SiteScope } from './site-scope.ts';

export interface Robots {
  /** @throws {CrawlError} `RobotsTooCostly` */
  isAllowed(address: Address): boolean;
  /** As written: absolute, mostly. */
  readonly sitemaps: readonly string[];
}

/** The name that a `User-agent` line would call this crawler by. */
const productToken = 'static-export-operator';
/** RFC 9309 §2.5: at least 500 KiB are read; what follows is ignored. */
export const maxRobotsBytes = 500 * 1024;
/** Characters compared with wildcards, in a whole crawl: a hundred such rules for every address of the largest site. */
const defaultMaxSteps = 20e9;

/** @param text of robots.txt; empty where there is none (RFC 9309 §2.3.1.3: then everything is allowed) */
export function readRobots(scope: SiteScope, text: string, maxSteps = defaultMaxSteps): Robots {
  const { rules, sitemaps } = readRobotsText(text.slice(0, maxRobotsBytes), productToken);
  const findPrefix = indexPrefixes(rules);
  const patterns = rules.flatMap(compilePattern).sort(byPrecedence);
  let steps = 0;
  const isAllowed = (address: Address): boolean => {
    const { pathname, search } = new URL(publicUrl(scope, address));
    const path = upperCaseEscapes(`${pathname}${search}`);
    let decisive = findPrefix(path);
    for (const pattern of patterns) {
      if (decisive !== undefined && byPrecedence(decisive, pattern) <= 0) break;
      if (!path.startsWith(pattern.head)) continue;
      steps += path.length + pattern.length;
      if (steps > maxSteps) throw robotsTooCostly(scope.domain);
      if (!fits(pattern, path)) continue;
      decisive = pattern;
      break;
    }
    return decisive?.isAllowed ?? true;
  };
  return { isAllowed, sitemaps };
}

/** A rule as it is weighed: the longest decides, and of two of one length the one that allows. */
interface Weight {
  readonly isAllowed: boolean;
  readonly length: number;
}

/** A rule with a wildcard or an end, cut at its wildcards. */
interface Pattern extends Weight {
  readonly head: string;
  /** No wildcard, only an end: the head is the whole path. */
  readonly isExact: boolean;
  /** In this order, anywhere behind the head. */
  readonly parts: readonly string[];
  /** What the path must end in; `undefined`: anything. */
  readonly tail: string | undefined;
}

const byPrecedence = (a: Weight, b: Weight): number =>
  b.length - a.length || Number(b.isAllowed) - Number(a.isAllowed);

const isPlain = ({ pattern }: RobotsRule): boolean => !pattern.includes('*') && !pattern.endsWith('$');

/** Most rules are plain beginnings of paths. There may be thousands, and each address is looked up once per length. */
function indexPrefixes(rules: readonly RobotsRule[]): (path: string) => Weight | undefined {
  const known = new Map<string, boolean>();
  for (const rule of rules.filter(isPlain)) {
    known.set(rule.pattern, rule.isAllowed || (known.get(rule.pattern) ?? false));
  }
  const lengths = [...new Set([...known.keys()].map(({ length }) => length))].sort((a, b) => b - a);
  return (path) => {
    for (const length of lengths) {
      const isAllowed = length > path.length ? undefined : known.get(path.slice(0, length));
      if (isAllowed !== undefined) return { isAllowed, length };
    }
    return undefined;
  };
}

function compilePattern(rule: RobotsRule): readonly Pattern[] {
  if (isPlain(rule)) return [];
  const { pattern, isAllowed } = rule;
  const hasEnd = pattern.endsWith('$');
  const [head = '', ...rest] = (hasEnd ? pattern.slice(0, -1) : pattern).split('*');
  const tail = hasEnd ? rest.at(-1) : undefined;
  const parts = (hasEnd ? rest.slice(0, -1) : rest).filter((part) => part !== '');
  return [{ head, parts, tail, isExact: rest.length === 0, isAllowed, length: pattern.length }];
}

/** Each part at its first place: if any other place would do, this one does. */
function fits({ head, isExact, parts, tail }: Pattern, path: string): boolean {
  if (isExact) return path.length === head.length;
  let at = head.length;
  for (const part of parts) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return tail === undefined || (path.length - tail.length >= at && path.endsWith(tail));
}
