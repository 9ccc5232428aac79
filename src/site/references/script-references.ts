// Finds what a script may load later: path literals of chunks, styles and data. A script is read as text and never run,
// so everything found is a hint. Owns the shapes in which bundlers write such paths. Refuses to guess paths that are
// built at run time, except by webpack's table and VitePress's rule.

import { type AddressPosition, addReferences, asHint, maxReferences, type Reference } from './reference.ts';
import { readWebpackChunks } from './webpack-chunks.ts';

const extension = '(?:m?js|css|json|wasm|txt|svg|png|jpe?g|gif|webp|avif|ico|woff2?|ttf|otf|mp4|webm)';
/** A quoted path: rooted, relative, or starting with a folder's name. Quotes may be escaped (scripts in scripts). */
const literal = new RegExp(
  `["'\`]((?:\\.{0,2}/|[\\w@-]{1,80}/)[^"'\`\\s\\\\<>{}$|^]{1,300}?\\.${extension}(?:\\?[^"'\`\\s\\\\]{0,200})?)\\\\?["'\`]`,
  'g',
);

/** Each path of a script is tried relative to each anchor. */
const maxAnchors = 100;

/**
 * @param anchors paths of the scripts that this one belongs with (its own, or those of its page): a literal
 *   `assets/x.js` in `/docs/assets/app.js` means `/docs/assets/x.js`, because bundlers leave the base out
 */
export function readScriptReferences(script: string, anchors: readonly string[]): readonly Reference[] {
  const found = new Set<string>();
  for (const path of readPaths(script, anchors.slice(0, maxAnchors))) {
    found.add(path);
    if (found.size >= maxReferences) break;
  }
  const hints: Reference[] = [];
  for (const path of found) addReferences(hints, [path, ...wholePage(path)].map(asHint));
  return hints;
}

/** Where rooted paths stand in a script. What else it puts together at run time stays as it is. */
export function readScriptPositions(script: string): readonly AddressPosition[] {
  const found: AddressPosition[] = [];
  for (const { 1: text = '', index } of script.matchAll(literal)) {
    if (text.startsWith('/') && found.length < maxReferences)
      found.push({ text, at: index + 1, isGuess: true });
  }
  return found;
}

function* readPaths(script: string, anchors: readonly string[]): Generator<string> {
  for (const [, text = ''] of script.matchAll(literal)) {
    if (/^(?:\/|\.\.?\/)/.test(text)) yield text;
    else yield* anchored(text, anchors);
  }
  for (const chunk of readWebpackChunks(script)) yield* anchored(chunk, anchors);
}

function anchored(text: string, anchors: readonly string[]): readonly string[] {
  const folder = text.slice(0, text.indexOf('/') + 1);
  const bases = anchors.flatMap((anchor) => {
    const at = anchor.indexOf(`/${folder}`);
    return at < 0 ? [] : [anchor.slice(0, at + 1)];
  });
  return [...new Set(bases)].map((base) => `${base}${text}`);
}

/**
 * VitePress preloads `x.md.HASH.lean.js` with a page, and loads `x.md.HASH.js` when a visitor navigates to it;
 * only the former is ever written out, the name of the latter is put together from a hash map. Where a page is not in that
 * map, VitePress asks for a new one.
 */
export function wholePage(path: string): readonly string[] {
  if (!/\.lean\.js$/.test(path)) return [];
  const assets = path.lastIndexOf('/assets/');
  const map = assets < 0 ? [] : [`${path.slice(0, assets)}/hashmap.json`];
  return [path.replace(/\.lean\.js$/, '.js'), ...map];
}
