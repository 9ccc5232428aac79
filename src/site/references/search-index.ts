// The search of a site: how each tool is recognised in a crawl, which files its search asks for, and which file is its
// index. One table of tools. All is relative to what was found, so a tool may be in any folder. Refuses to run scripts, so
// what it finds is a hint, unless an index names it. Invariant: linear in what is read, and few folders for each body.

import * as z from 'zod';
import { readJson } from '#platform/wire/json-text.ts';
import { readPagefindEntry, readPagefindMeta } from './pagefind-index.ts';
import { asHint, type Reference } from './reference.ts';

export type SearchTool =
  | 'docusaurus'
  | 'hugo'
  | 'javadoc'
  | 'mdbook'
  | 'mkdocs'
  | 'pagefind'
  | 'sphinx'
  | 'vitepress';

interface ToolRules {
  /** The files of its index that a report names. */
  readonly index: RegExp;
  /** What such a file begins with. Absent: its name is enough. */
  readonly begins?: RegExp;
  /** Crawled files that only this tool has, and what its search asks for, relative to them. */
  readonly files: readonly { readonly path: RegExp; readonly asks: readonly string[] }[];
}

const words = (text: string): readonly string[] => text.split(' ');
const javadocIndexes = words(
  'type-search-index member-search-index tag-search-index package-search-index module-search-index',
);

const tools: Readonly<Record<SearchTool, ToolRules>> = {
  pagefind: {
    index: /(?:^|\/)pagefind-entry\.json$/,
    begins: /^\s*\{[^}]{0,400}"languages"/,
    files: [
      {
        path: /\/pagefind(?:-entry\.json|(?:-ui|-modular-ui|-component-ui|-highlight|-worker)?\.js)$/,
        asks: words('pagefind-entry.json pagefind.js pagefind-worker.js wasm.unknown.pagefind'),
      },
    ],
  },
  mkdocs: {
    index: /(?:^|\/)search\/search_index\.json$/,
    begins: /^\s*\{\s*"(?:config|docs|index)"/,
    files: [
      // Material. Its instant navigation reads the sitemap; `versions.json` is mike's, above the folder of each version.
      {
        path: /\/assets\/javascripts\/workers\/search\.[\w.]+\.js$/,
        asks: words('../../../search/search_index.json ../../../sitemap.xml ../../../../versions.json'),
      },
      { path: /\/search\/(?:main|worker)\.js$/, asks: words('search_index.json worker.js lunr.js') },
    ],
  },
  docusaurus: {
    index: /(?:^|\/)(?:search-index|lunr-index)[\w.-]*\.json$/,
    begins: /^\s*[[{]/,
    files: [],
  },
  vitepress: { index: /(?:^|\/)@localSearchIndex[\w.-]*\.js$/, files: [] },
  sphinx: {
    index: /(?:^|\/)searchindex\.js$/,
    begins: /^\s*Search\.setIndex\(/,
    files: [
      {
        path: /\/_static\/(?:searchtools|doctools|documentation_options|sphinx_highlight)\.js$/,
        asks: words('../searchindex.js ../objects.inv language_data.js searchtools.js'),
      },
    ],
  },
  javadoc: {
    index: /(?:^|\/)type-search-index\.(?:js|zip)$/,
    files: [
      {
        path: /\/(?:type|member)-search-index\.js$/,
        asks: [
          ...javadocIndexes.map((name) => `${name}.js`),
          ...words('search.js script-files/search.js element-list package-list'),
        ],
      },
    ],
  },
  mdbook: {
    index: /(?:^|\/)searchindex(?:-\w+)?\.js(?:on)?$/,
    begins: /^\s*(?:Object\.assign\(window\.search|window\.search\b|\{"(?:doc_urls|results_options|index)")/,
    files: [],
  },
  hugo: {
    index: /(?:^|\/)(?:index|[\w.-]*search-data[\w.-]*)\.json$/,
    begins: /^\s*(?:\[\s*)?\{(?=.{0,4000}"(?:permalink|relpermalink|href|url|uri|objectID)"\s*:)/is,
    files: [],
  },
};
const toolNames = [
  'docusaurus',
  'hugo',
  'javadoc',
  'mdbook',
  'mkdocs',
  'pagefind',
  'sphinx',
  'vitepress',
] as const;
const allTools = toolNames.map((tool) => ({ tool, ...tools[tool] }));

/** All that the table and the rules below know ends so, and most addresses do not. */
const mayBeOfSearch = /\.(?:js|json|zip|pf_meta)$/;

/** Read of a body to recognise an index. */
const searchHeadBytes = 8 * 1024;

/** @param path in the bundle, or on the site */
export function recogniseIndex(path: string, head: Uint8Array): SearchTool | undefined {
  const named = mayBeOfSearch.test(path) ? allTools.filter(({ index }) => index.test(path)) : [];
  if (named.length === 0) return undefined;
  const text = Buffer.from(head.subarray(0, searchHeadBytes)).toString('latin1');
  return named.find(({ begins }) => begins?.test(text) ?? true)?.tool;
}

/** Data files that are read because they are an index, or name the files of one. */
const dataFile = /\/versions\.json$|\.pf_meta$/;

/** Whether a file that is not a page, a style or a script is read for its search. */
export function isSearchData(path: string): boolean {
  if (!mayBeOfSearch.test(path)) return false;
  return dataFile.test(path) || allTools.some(({ index }) => index.test(path) && !/\.js$/.test(path));
}

const askedNames = new Set(
  allTools.flatMap(({ files }) => files.flatMap(({ asks }) => asks.map((path) => path.replace(/^.*\//, '')))),
);
// The sitemap of the site has this name too, and a crawl without it is not whole.
askedNames.delete('sitemap.xml');

/** What scripts name, and what MkDocs needs for its languages. */
const guessedName =
  /^(?:(?:search-index|search-doc|lunr-index)[\w.-]*\.json|searchindex[\w-]*\.js(?:on)?|lunr\.[\w.]+\.js|tinyseg\.js|wordcut\.js|(?:type|member|tag|package|module)-search-index\.zip)$/;

/** Whether only a rule of this table may have asked for such a path. */
export function isSearchGuess(path: string): boolean {
  const name = path.replace(/^.*\//, '');
  return askedNames.has(name) || guessedName.test(name) || allTools.some(({ index }) => index.test(path));
}

/** What the search asks for, to which a crawled file at this path belongs. Relative to that file. */
export function askedByFile(path: string): readonly Reference[] {
  if (!mayBeOfSearch.test(path)) return [];
  return allTools.flatMap(({ files }) =>
    files.filter((file) => file.path.test(path)).flatMap(({ asks }) => asks.map(asHint)),
  );
}

/** Files of mike: a folder for each version and each alias. Other tools have lists of this name, in other shapes. */
const folderName = z.string().max(100);
const versionsShape = z
  .array(z.object({ version: folderName, title: z.string(), aliases: z.array(folderName).max(100) }))
  .max(1000);
const maxVersionsLength = 256 * 1024;
/** The list begins with the newest. */
const maxVersions = 20;

/** What a list of mike says. Names are folders next to the list. */
export interface VersionList {
  readonly versions: readonly string[];
  readonly folders: readonly string[];
  readonly notTried: number;
}

const noVersions: VersionList = { versions: [], folders: [], notTried: 0 };

/** @param bytes of `versions.json` */
export function readVersionList(path: string, bytes: Uint8Array): VersionList {
  if (!path.endsWith('/versions.json') || bytes.byteLength > maxVersionsLength) return noVersions;
  const parsed = versionsShape.safeParse(readJson(Buffer.from(bytes).toString()));
  if (!parsed.success) return noVersions;
  const isFolder = (name: string): boolean => /^[\w.+-]+$/.test(name) && !/^\.+$/.test(name);
  const versions = parsed.data.map(({ version }) => version).filter(isFolder);
  const aliases = parsed.data.flatMap((one) => one.aliases).filter(isFolder);
  return {
    versions: versions.slice(0, maxVersions),
    folders: [...versions, ...aliases],
    notTried: Math.max(0, versions.length - maxVersions),
  };
}

/** What an index names. Relative to that file. @param bytes its beginning, or all of it */
export function readSearchData(path: string, bytes: Uint8Array): readonly Reference[] {
  const text = (length: number): string => Buffer.from(bytes.subarray(0, length)).toString();
  if (path.endsWith('.pf_meta')) return readPagefindMeta(bytes).map(asNamed);
  if (path.endsWith('/pagefind-entry.json')) return readPagefindEntry(text(bytes.length)).map(asNamed);
  return path.endsWith('/search_index.json') ? readLunrLanguages(text(4096)) : [];
}

/** An index that names a file needs it. */
const asNamed = (text: string): Reference => ({ text, use: 'asset' });

/** MkDocs loads a script for each language, and Material has them in another folder. */
function readLunrLanguages(head: string): readonly Reference[] {
  const list = /"lang"\s*:\s*\[([^\]]{0,400})\]/.exec(head)?.[1] ?? '';
  const languages = [...list.matchAll(/"(\w{2,8})"/g)].flatMap(([, language = '']) => language);
  const foreign = languages.filter((language) => language !== 'en');
  if (foreign.length === 0) return [];
  const names = ['stemmer.support', ...foreign, ...(languages.length > 1 ? ['multi'] : [])];
  const cutters = foreign.flatMap((language) => wordCutters[language] ?? []);
  const material = '../assets/javascripts/lunr/';
  return [
    ...names.flatMap((name) => [`lunr.${name}.js`, `${material}min/lunr.${name}.min.js`]),
    ...cutters.flatMap((name) => [name, `${material}${name}`]),
  ].map(asHint);
}

/** Of languages without blanks between words. */
const wordCutters: Readonly<Record<string, string>> = {
  ja: 'tinyseg.js',
  jp: 'tinyseg.js',
  hi: 'wordcut.js',
  th: 'wordcut.js',
};

const folders = '[^"\'`\\s\\\\<>{}$|^]{0,200}';
/** Behind a quote or the end of `${…}`: a file of an index, or the folder of Pagefind, as a script may name them. */
const literal = new RegExp(
  `["'\`}]((?:${folders}/)?(?:(?:search-index|search-doc|lunr-index)(?:\\{dir\\})?[\\w.-]{0,80}\\.json` +
    '|searchindex(?:-\\w{1,40})?\\.js(?:on)?|search_index\\.json|index\\.json|[\\w.-]{0,40}search-data[\\w.-]{0,80}\\.json' +
    `|(?:${javadocIndexes.join('|')})\\.(?:js|zip)|_?pagefind/(?:pagefind[\\w-]{0,40}\\.js)?))(?:\\?[^"'\`\\s]{0,200})?["'\`]`,
  'g',
);
/** One of these is in every text that the pattern takes, and to search for them takes a fraction of its time. */
const inLiterals = ['search', 'lunr-index', 'index.json', 'pagefind/'];
const mayNameIndex = (script: string): boolean => inLiterals.some((part) => script.includes(part));
const pagefindFile = /pagefind\/(?:pagefind[\w-]*\.js)?$/;
const maxLiterals = 100;
/** Folders that a name without a folder is tried in. */
const maxFolders = 32;

/**
 * @param scripts of one page, or one script; never run
 * @param anchors paths of the scripts that belong with them: names are also tried in their folders, and in those above
 * @returns what a script has as it is, and rooted paths
 */
export function readSearchLiterals(
  scripts: readonly string[],
  anchors: readonly string[],
): readonly Reference[] {
  const found = new Set<string>();
  for (const script of scripts) {
    if (found.size >= maxLiterals) break;
    if (!mayNameIndex(script)) continue;
    for (const [, text = ''] of script.matchAll(literal)) {
      found.add(text.replace('{dir}', '').replace(pagefindFile, 'pagefind/pagefind-entry.json'));
      if (found.size >= maxLiterals) break;
    }
  }
  if (found.size === 0) return [];
  const above = foldersAbove(anchors);
  const paths = [...found].flatMap((path) => {
    const bare = path.replace(/^(?:\.{0,2}\/)+/, '');
    return [path, ...above.map((folder) => `${folder}${bare}`)];
  });
  return [...new Set(paths)].map(asHint);
}

/** Sorted by depth, so that a bound leaves out the deepest. */
function foldersAbove(paths: readonly string[]): readonly string[] {
  const above = new Set<string>();
  for (const path of paths.slice(0, 100)) {
    for (let at = path.lastIndexOf('/'); at >= 0; at = at === 0 ? -1 : path.lastIndexOf('/', at - 1)) {
      above.add(path.slice(0, at + 1));
    }
  }
  return [...above].sort((a, b) => a.split('/').length - b.split('/').length).slice(0, maxFolders);
}

const metaOf = (name: string): RegExp =>
  new RegExp(`\\bname=["']?docusaurus_${name}["']?\\s+content=["']?([\\w.-]{1,80})`);
const versionMeta = metaOf('version');
const tagMeta = metaOf('tag');
/** Docusaurus has its meta elements in the head. */
const headLength = 64 * 1024;

/** What a page's head says about its search: the version, tag and context of Docusaurus. Rooted. */
export function readPageSearch(
  html: string,
  pagePath: string,
  anchors: readonly string[],
): readonly Reference[] {
  const head = html.slice(0, headLength);
  if (!head.includes('docusaurus_')) return [];
  const version = versionMeta.exec(head)?.[1];
  const tag = tagMeta.exec(head)?.[1];
  if (version === undefined && tag === undefined) return [];
  const script = anchors.find((anchor) => anchor.includes('/assets/js/')) ?? '/assets/js/';
  const base = script.slice(0, script.indexOf('/assets/js/') + 1);
  const inside = pagePath.startsWith(base) ? pagePath.slice(base.length) : '';
  const names = ['search-index.json'];
  if (tag !== undefined) names.push(`search-index-${tag}.json`);
  const [context = ''] = inside.split('/');
  if (/^[\w-]{1,40}$/.test(context) && inside !== context) names.push(`search-index-${context}.json`);
  const versionFolder = version === 'current' ? '/next/' : `/${version}/`;
  const at = `/${inside}`.indexOf(versionFolder);
  const versioned = at < 0 ? [] : [`${base}${inside.slice(0, at + versionFolder.length - 1)}`];
  return [base, ...versioned].flatMap((folder) => names.map((name) => asHint(`${folder}${name}`)));
}
