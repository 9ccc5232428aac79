// Where a body names a file whose query decides what it is, and what stands there instead. Reads any text: HTML, styles,
// scripts, data, in the spellings of each (`&amp;`, `\u0026`, `\/`). Pure. Refuses relative addresses in scripts, which mean
// another thing on each page. Invariant: linear time, and what is no such address keeps its bytes.

import type { SourceEdit } from '#platform/html/source-edits.ts';
import type { BodyKind } from '#site/references/body-links.ts';
import type { Span } from '#site/references/next-stream.ts';
import { addressKey, locate, type SiteScope } from '#site/site-scope.ts';
import { padded } from './chosen-names.ts';

export interface VariantNames {
  readonly scope: SiteScope;
  /** From the key of an address to the path of its file. */
  readonly paths: ReadonlyMap<string, string>;
  /** Where the bundle is served. */
  readonly basePath: string;
}

export interface VariantSource {
  readonly role: BodyKind;
  /** One character for each byte. */
  readonly source: string;
  /** What relative addresses are relative to. */
  readonly base: URL;
  /** Scripts of a page: a framework may count their bytes. */
  readonly scripts: readonly Span[];
}

/**
 * How a script of Next.js says that its pictures come from the optimizer. A visitor who navigates gets pictures by script,
 * under addresses that no bundle has: the original stands for them. In two spellings of builders, and at the same length.
 */
const optimizer =
  /"?path"?:"[^"]{0,200}\/_next\/image","?loader"?:"default",[^{}]{0,300}?"?unoptimized"?:(!1|false)/g;

const delimiter = /[\s"'`<>()=,]/;
const mostBefore = 512;
const mostAfter = 4096;
const ampersand = /&(?:amp|#38|#x26);|\\{1,8}u0026/gi;

/** @returns edits in order */
export function editVariants(
  { role, source, base, scripts }: VariantSource,
  { scope, paths, basePath }: VariantNames,
): readonly SourceEdit[] {
  if (paths.size === 0) return [];
  const edits: SourceEdit[] = [];
  const names = new Set([...paths.keys()].map((key) => nameBefore(key, key.indexOf('?'))));
  const isText = role === 'script' || role === 'payload' || role === 'other';
  let done = 0;
  for (let mark = source.indexOf('?'); mark >= 0; mark = source.indexOf('?', mark + 1)) {
    if (mark < done) continue;
    const name = nameBefore(source, mark);
    // Most question marks are not of an address, and to resolve one takes long.
    if (!names.has(name) && !/[^\x20-\x7e]|[%\\]/.test(name)) continue;
    const from = startOf(source, mark, done);
    const to = endOf(source, mark);
    const written = source.slice(from, to);
    const text = written.replaceAll(ampersand, '&').replaceAll(/\\{1,8}\//g, '/');
    const isRooted = /^(?:\/|https?:)/i.test(text);
    const isScript = isText || scripts.some((span) => from >= span.from && from < span.to);
    if (!isRooted && isScript) continue;
    const located = locate(scope, Buffer.from(text, 'latin1').toString(), base);
    const path = located.where === 'inside' ? paths.get(addressKey(located.address)) : undefined;
    if (path === undefined) continue;
    const insert = isRooted ? `${basePath}/${path}` : relativeTo(base, scope, path);
    edits.push({ at: from, drop: to - from, insert: isScript ? padded(insert, written.length) : insert });
    done = to;
  }
  return edits;
}

/** @returns edits in order, none within those of {@link editVariants} */
export function editOptimizer(source: string): readonly SourceEdit[] {
  return [...source.matchAll(optimizer)].map(({ 0: whole, 1: off = '', index }) => ({
    at: index + whole.length - off.length,
    drop: off.length,
    insert: (off === '!1' ? '!0' : 'true').padEnd(off.length),
  }));
}

/** The last segment of a path. */
function nameBefore(text: string, mark: number): string {
  return /[^/\s"'`<>()=,]*$/.exec(text.slice(Math.max(0, mark - 128), mark))?.[0] ?? '';
}

function startOf(source: string, mark: number, done: number): number {
  const least = Math.max(done, mark - mostBefore);
  let at = mark;
  // A backslash begins an escape, or ends the quote of a text in a text.
  while (at > least && !delimiter.test(source.charAt(at - 1))) at -= 1;
  return at;
}

/** A comma ends an address of a srcset, and a backslash that begins no escape ends a text in a text. */
function endOf(source: string, mark: number): number {
  const rest = source.slice(mark, mark + mostAfter);
  const end = /^(?:[^\s"'`<>()\\]|\\{1,8}(?:u0026|\/))*/i.exec(rest)?.[0] ?? '';
  return mark + end.replace(/[,;.]+$/, '').length;
}

function relativeTo(base: URL, { prefix }: SiteScope, path: string): string {
  const depth = base.pathname.slice(prefix.length).split('/').length - 2;
  return `${'../'.repeat(Math.max(0, depth))}${path}`;
}
