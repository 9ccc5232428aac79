// What a script may load later: path literals of chunks, styles and data. A script is text here, never run, so
// everything found is a hint. Owns: the shapes in which bundlers write such paths.
// Refuses: guessing at paths that are put together at run time, except by webpack's table and VitePress's rule.

import type { Reference } from './reference.ts';
import { readWebpackChunks } from './webpack-chunks.ts';

const extension = '(?:m?js|css|json|wasm|txt|svg|png|jpe?g|gif|webp|avif|ico|woff2?|ttf|otf|mp4|webm)';
/** A quoted path: rooted, relative, or starting with a folder's name. Quotes may be escaped (scripts in scripts). */
const literal = new RegExp(
  `["'\`]((?:\\.{0,2}/|[\\w@-]{1,80}/)[^"'\`\\s\\\\<>{}$|^]{1,300}?\\.${extension}(?:\\?[^"'\`\\s\\\\]{0,200})?)\\\\?["'\`]`,
  'g',
);

/**
 * @param anchors paths of the scripts that this one belongs with (its own, or those of its page): a literal
 *   `assets/x.js` in `/docs/assets/app.js` means `/docs/assets/x.js`, because bundlers leave the base out
 */
export function readScriptReferences(script: string, anchors: readonly string[]): readonly Reference[] {
  const found = new Set<string>();
  for (const match of script.matchAll(literal)) {
    const text = match[1] ?? '';
    if (/^(?:\/|\.\.?\/)/.test(text)) found.add(text);
    else for (const path of anchored(text, anchors)) found.add(path);
  }
  for (const chunk of readWebpackChunks(script)) for (const path of anchored(chunk, anchors)) found.add(path);
  return [...found].flatMap((text) => [text, ...wholePage(text)]).map((text) => ({ text, use: 'hint' }));
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
 * only the former is ever written out, the name of the latter is put together from a hash map.
 */
export function wholePage(path: string): readonly string[] {
  return /\.lean\.js$/.test(path) ? [path.replace(/\.lean\.js$/, '.js')] : [];
}
