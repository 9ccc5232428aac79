// Addresses that the site's robots.txt disallows (RFC 9309), checked under the site's public name. Ignores unknown lines
// and `Crawl-delay`, which is not part of the standard. The concurrency limit and Retry-After keep the load low. Refuses
// to override a Disallow by itself: only the administrator of a site can. Invariant: comparing a rule with an address takes time in proportion to their lengths.

import { type Address, publicUrl, type SiteScope } from '#site/site-scope.ts';

export interface Robots {
  isAllowed(address: Address): boolean;
  /** As written: absolute, mostly. */
  readonly sitemaps: readonly string[];
}

/** The name that a `User-agent` line would call this crawler by. */
const productToken = 'static-export-operator';
/** RFC 9309 §2.5: at least 500 KiB are read; what follows is ignored. */
export const maxRobotsBytes = 500 * 1024;

/** A rule, cut at its wildcards. */
interface Rule {
  readonly isAllowed: boolean;
  readonly length: number;
  readonly head: string;
  /** In this order, anywhere behind the head. */
  readonly parts: readonly string[];
  /** The path must end where the rule ends. */
  readonly hasEnd: boolean;
}

/** @param text of robots.txt; empty where there is none (RFC 9309 §2.3.1.3: then everything is allowed) */
export function readRobots(scope: SiteScope, text: string): Robots {
  const { rules, sitemaps } = readLines(text.slice(0, maxRobotsBytes));
  // The longest decides; if two have the same length, the one that allows.
  rules.sort((a, b) => b.length - a.length || Number(b.isAllowed) - Number(a.isAllowed));
  const isAllowed = (address: Address): boolean => {
    const { pathname, search } = new URL(publicUrl(scope, address));
    const path = upperCaseEscapes(`${pathname}${search}`);
    return rules.find((rule) => fits(rule, path))?.isAllowed ?? true;
  };
  return { isAllowed, sitemaps };
}

/** The same without its rules. What they would refuse, {@link countRefused} counts. */
export function ignoreRules({ sitemaps }: Robots): Robots {
  return { isAllowed: () => true, sitemaps };
}

/** @param addresses in order @returns how many the rules refuse, and the path of the first */
export function countRefused(
  { isAllowed }: Robots,
  addresses: Iterable<Address>,
): { readonly count: number; readonly example: string } {
  let count = 0;
  let example = '';
  for (const address of addresses) {
    if (isAllowed(address)) continue;
    if (count === 0) example = address.path;
    count += 1;
  }
  return { count, example };
}

/** The rules for this crawler. If no group names it, the rules for all robots. */
function readLines(text: string): { readonly rules: Rule[]; readonly sitemaps: readonly string[] } {
  const sitemaps: string[] = [];
  /** Several groups of one name are one. */
  const groups = new Map<string, Rule[]>();
  /** Of the group that is open. Other names are not kept, because a file may have thousands. */
  let names = new Set<string>();
  let isNaming = false;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, name = '', rest = ''] = /^([^:#]*):([^#]*)/.exec(line) ?? [];
    const [key, value] = [name.trim().toLowerCase(), rest.trim()];
    if (key === '') continue;
    if (key === 'user-agent') {
      if (!isNaming) names = new Set();
      // Without the version, which some files add.
      const robot = value.replace(/\/.*/s, '').trim().toLowerCase();
      if (robot === productToken || robot === '*') names.add(robot);
    } else if (key === 'sitemap') {
      if (value !== '') sitemaps.push(value);
    } else if (key === 'allow' || key === 'disallow' || key === 'crawl-delay') {
      for (const robot of names) {
        const rules = groups.get(robot) ?? [];
        groups.set(robot, rules);
        if (key !== 'crawl-delay' && value !== '') rules.push(compileRule(value, key === 'allow'));
      }
    }
    isNaming = key === 'user-agent';
  }
  return { rules: groups.get(productToken) ?? groups.get('*') ?? [], sitemaps };
}

function compileRule(value: string, isAllowed: boolean): Rule {
  const pattern = upperCaseEscapes(encodeURI(value.toWellFormed()).replaceAll('%25', '%'));
  const hasEnd = pattern.endsWith('$');
  const [head = '', ...parts] = (hasEnd ? pattern.slice(0, -1) : pattern).split('*');
  return { isAllowed, length: pattern.length, head, parts, hasEnd };
}

function upperCaseEscapes(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (one) => one.toUpperCase());
}

/** Each part is matched at its first position, because a later position never fits more. */
function fits({ head, parts, hasEnd }: Rule, path: string): boolean {
  if (!path.startsWith(head)) return false;
  let at = head.length;
  for (const part of parts) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  if (!hasEnd || at === path.length) return true;
  // The last part may also occur later, at the very end.
  const last = parts.at(-1);
  return last !== undefined && path.endsWith(last);
}
