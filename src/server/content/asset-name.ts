// Whether a file's name promises that its content never changes. Build tools put a hash of the content into the names
// of assets, and browsers may keep such a file for ever. A name that is wrongly trusted is a visitor's stale page for a
// year, so an ambiguous one is trusted only where enough files of the same folder are named by a tool.
// Invariant: a page is never hashed, and no name that a person may have written (`report-20240131.pdf`).

import { isDocument } from '#bundle/content-type.ts';

/** Folders that only build tools write to; in them a base64url hash is believed. */
const buildFolder =
  /(?:^|\/)(?:_next|_nuxt|_astro|_app|assets|static|_static|chunks|immutable|build|media)\//;
/** Everything below is named by build or content. Nuxt names its programs by nothing but the hash. */
const wholeFolder =
  /(?:^|\/)(?:(?:_next\/static|_app\/immutable)\/|_nuxt\/[\w-]{8}\.(?:m?js|css)(?:\.map)?$)/;
/** The files of a search that its maker names by their content: see `search-format.ts`. */
const ofSearch = /^_sx\/search\/[0-9a-f]{16}\.js$/;
/** Outside of build folders only these are named by hashes: esbuild, Angular and Hugo write them next to the pages. */
const program = /\.(?:m?js|css|wasm)(?:\.map)?$/;

/** `likely` counts only where the folder has more of them. */
export type AssetNaming = 'hashed' | 'likely' | 'plain';

/** @param path of a file in the bundle, no leading slash */
export function assetNaming(path: string): AssetNaming {
  if (isDocument(path)) return 'plain';
  if (wholeFolder.test(path) || ofSearch.test(path)) return 'hashed';
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  if (dot <= 0) return 'plain';
  const parts = name.slice(0, dot).split('.');
  if (parts.some(endsInHexHash)) return 'hashed';
  if (!buildFolder.test(path)) return program.test(name) && parts.some(endsInMixedHash) ? 'likely' : 'plain';
  // VitePress: `guide.md.BYwSqCud.js`; no other tool writes a hash-sized part after `.md`.
  if (parts.some((part, at) => parts[at - 1] === 'md' && /^[\w-]{8}$/.test(part))) return 'hashed';
  const changes = Math.max(...parts.map(mostChanges));
  if (changes >= 4) return 'hashed';
  const isBareHash =
    program.test(name) && /^[\w-]{8}$/.test(parts[0] ?? '') && changesOfKind(parts[0] ?? '') >= 4;
  return changes >= 2 || isBareHash || isProgramUnderHexNumber(name) ? 'likely' : 'plain';
}

/**
 * webpack: `main.30945721.js`, `styles.deadbeef.css`. One hash in forty has no letter or no digit, and among pictures
 * and documents that is a date or a word.
 */
function isProgramUnderHexNumber(name: string): boolean {
  return /\.[0-9a-f]{8}(?:\.chunk)?\.(?:m?js|css)(?:\.map)?$/.test(name);
}

/** With so many hashed names in one folder, a likely one is hashed too. */
const decisiveSiblings = 3;
/** So many likely ones are no accident either. */
const decisiveLikely = 8;

/** More neighbours of one folder are not looked at: that would take longer than a request may. */
const mostSiblings = 5_000;
/** Of their paths. */
const mostCharacters = 131_072;

/**
 * The naming of the files of a bundle: {@link assetNaming} of each, and what its neighbours say. VitePress' own
 * `app.BnvtSGpd.js` could be words; forty `….md.CjJX0B9x.js` in the same folder show that a build tool named it.
 *
 * @param paths of all files, in the order of the index
 */
export function createAssetNames(paths: readonly string[]): (path: string) => AssetNaming {
  /** By folder that only build tools write to. */
  const decisive = new Map<string, boolean>();
  return (path) => {
    const naming = assetNaming(path);
    if (naming !== 'likely' || isWrittenByPerson(path)) return naming;
    const root = buildRoot(path);
    const isDecisive = decisive.get(root) ?? isNamedByTool(root, paths);
    decisive.set(root, isDecisive);
    return isDecisive ? 'hashed' : 'likely';
  };
}

function isNamedByTool(root: string, paths: readonly string[]): boolean {
  let [hashed, likely, characters] = [0, 0, 0];
  const first = firstFrom(root, paths);
  for (let at = first; at < first + mostSiblings; at += 1) {
    const path = paths[at];
    if (path?.startsWith(root) !== true) break;
    characters += path.length;
    if (characters > mostCharacters) break;
    const naming = assetNaming(path);
    if (naming === 'hashed') hashed += 1;
    if (naming === 'likely' && !isWrittenByPerson(path)) likely += 1;
    if (hashed >= decisiveSiblings || likely >= decisiveLikely) return true;
  }
  return false;
}

/** The place of the first path that does not come before this text. */
function firstFrom(text: string, paths: readonly string[]): number {
  let [low, high] = [0, paths.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((paths[middle] ?? text) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Among a build tool's files too: pictures and documents, `MyModule`, and dates. */
function isWrittenByPerson(path: string): boolean {
  const match = /[.-]([\w-]{8})(?:\.chunk)?\.(?:m?js|css|woff2?)(?:\.map)?$/.exec(path);
  const hash = match?.[1];
  return hash === undefined || /^[A-Z]?[a-z]+(?:[A-Z][a-z]+)*$/.test(hash) || /^(?:19|20)\d{6}$/.test(hash);
}

/** `docs/assets/` of `docs/assets/chunks/theme.js`: the outermost folder that only build tools write to, or its own. */
function buildRoot(path: string): string {
  const match = buildFolder.exec(path);
  return path.slice(0, match === null ? path.lastIndexOf('/') + 1 : match.index + match[0].length);
}

/** `chunk-DFRSE2QW` of esbuild, `page-BxYz12_Q` of Vite. */
function endsInMixedHash(part: string): boolean {
  return /[-_]/.test(part.at(-9) ?? '') && changesOfKind(part.slice(-8)) >= 4;
}

/** `main-1a2b3c4d`, `1a2b3c4d5e6f7a8b`: at least 8 hex digits, letters and digits both. */
function endsInHexHash(part: string, index: number): boolean {
  const match = /(^|[-_])([0-9a-f]{8,128})$/.exec(part);
  const hash = match?.[2] ?? '';
  if (match === null || !/[a-f]/.test(hash) || !/[0-9]/.test(hash)) return false;
  // A whole first part is a name of its own unless it is long enough to be nothing else.
  return index > 0 || match[1] !== '' || hash.length >= 16;
}

/**
 * How little `app-BxYz12_Q`, or a part of its own as in `app.BxYz12_Q.js`, reads like a word: the number of
 * changes between kinds of letters in what may be a base64url hash. Words have one or two.
 */
function mostChanges(part: string, index: number): number {
  const own = index > 0 && /^[\w-]{8,24}$/.test(part) ? changesOfKind(part) : 0;
  const tail = /[-_]/.test(part.at(-9) ?? '') ? changesOfKind(part.slice(-8)) : 0;
  return Math.max(own, tail);
}

function changesOfKind(text: string): number {
  // esbuild writes base32: eight capitals and digits, in which changes are rarer.
  if (/^[A-Z2-7]{8}$/.test(text) && /[A-Z]/.test(text) && /[2-7]/.test(text)) return 4;
  const kinds = [...text].map((letter) =>
    /[a-z]/.test(letter) ? 'a' : /[A-Z]/.test(letter) ? 'A' : /[0-9]/.test(letter) ? '0' : '_',
  );
  return kinds.filter((kind, at) => at > 0 && kind !== kinds[at - 1]).length;
}
