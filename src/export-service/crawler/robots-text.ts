// Reads the lines of a robots.txt (RFC 9309 §2.2): the rules for one robot, and the sitemaps. Pure. Refuses nothing: an
// unknown line is ignored. One pass, whatever the text.

export interface RobotsRule {
  readonly isAllowed: boolean;
  /** As compared: escapes in one spelling; `*` is anything, a last `$` the end. Never empty. */
  readonly pattern: string;
}

export interface RobotsText {
  readonly rules: readonly RobotsRule[];
  /** As written. */
  readonly sitemaps: readonly string[];
}

/** @param robot product token in lower case; where no group names it, the groups for all robots are its rules */
export function readRobotsText(text: string, robot: string): RobotsText {
  const sitemaps: string[] = [];
  const groups = new Map<string, RobotsRule[]>();
  /** Of the group that is open: no other name is ever asked for, and there may be thousands. */
  let names = new Set<string>();
  let isNaming = false;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [key, value] = readLine(line);
    if (key === '') continue;
    if (key === 'user-agent') {
      if (!isNaming) names = new Set();
      const name = robotName(value);
      if (name === robot || name === '*') names.add(name);
    } else if (key === 'sitemap') {
      if (value !== '') sitemaps.push(value);
    } else if (key === 'allow' || key === 'disallow' || key === 'crawl-delay') {
      for (const name of names) {
        // Several groups of one name are one.
        const rules = groups.get(name) ?? [];
        groups.set(name, rules);
        if (key === 'crawl-delay' || value === '') continue;
        rules.push({ isAllowed: key === 'allow', pattern: normalizePattern(value) });
      }
    }
    isNaming = key === 'user-agent';
  }
  return { rules: groups.get(robot) ?? groups.get('*') ?? [], sitemaps };
}

/** Key in lower case, and value; empty for what is not a line of this form. */
function readLine(line: string): readonly [key: string, value: string] {
  const comment = line.indexOf('#');
  const bare = comment < 0 ? line : line.slice(0, comment);
  const colon = bare.indexOf(':');
  if (colon < 0) return ['', ''];
  return [bare.slice(0, colon).trim().toLowerCase(), bare.slice(colon + 1).trim()];
}

/** Without the version, which some add. */
function robotName(value: string): string {
  const slash = value.indexOf('/');
  return (slash < 0 ? value : value.slice(0, slash)).trim().toLowerCase();
}

function normalizePattern(value: string): string {
  try {
    return upperCaseEscapes(encodeURI(value).replaceAll('%25', '%'));
  } catch {
    return value;
  }
}

export function upperCaseEscapes(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (one) => one.toUpperCase());
}
