// Which elements of a page cannot work from a disk, or bring a framework's page to life. Owns the rule: a browser refuses modules,
// data and hashes of `file:` addresses, and a framework without its modules puts an error in place of the page. Classic scripts of
// every other tool stay. Pure.

import type { TagToken } from '#platform/html/html-tokens.ts';

/** Folders whose scripts a framework wrote. In the same path of another site, a script is a framework's too. */
const frameworkFolder = /(?:^|\/)(?:_next|_nuxt|_astro|_app\/immutable|_gatsby)\//;
/** Roots of pages whose framework keeps its classic scripts in a folder of a usual name, and that folder. */
const namedRoots: readonly { readonly root: RegExp; readonly scripts: RegExp }[] = [
  { root: /\sid="?__docusaurus[\s">]/, scripts: /(?:^|\/)assets\/js\/[^/]*\.js$/ },
  {
    root: /\sid="?___gatsby[\s">]/,
    scripts:
      /(?:^|\/)(?:webpack-runtime|framework|app|commons|polyfill|component---[^/]*|[\da-f]{6,40})-[\da-f]{20}\.js$/,
  },
  // Vue's server rendering: VuePress 1, Gridsome, Nuxt 2.
  { root: /\sdata-server-rendered="?true[\s">]/, scripts: /(?:^|\/)assets\/js\/[^/]*\.js$/ },
];
/** In scripts without `src`, and in their data: what a framework starts from. */
const frameworkText = new RegExp(
  [
    ...[
      '__next_f',
      '__NEXT_',
      'TURBOPACK',
      'webpackChunk_N_E',
      '__NUXT__',
      '__VP_HASH_MAP__',
      '__sveltekit_',
    ],
    ...[
      '__remixContext',
      '__reactRouterContext',
      '___loaderConfig',
      'window\\.___',
      'astro-island',
      'self\\.Astro\\b',
    ],
    // Docusaurus puts a banner over a page whose scripts did not run.
    ...['__docusaurus-base-url-issue', 'serviceWorker\\s{0,9}\\.\\s{0,9}register'],
  ].join('|'),
);
const frameworkData = /^(?:__NEXT_DATA__|__NUXT_DATA__|__REMIX_DATA__)$/;

const javascript = /^(?:|(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/jscript)$/;
/** An inline module that loads nothing runs from a disk. */
const moduleImport = /\bimport\b/;

/** The scripts of one page by its framework, which is known by the whole text. */
export interface PageScripts {
  /**
   * Whether a script cannot stay.
   *
   * @param target path on the site of the file that it loads; `undefined` for one of another host
   * @param text of a script without `src`
   */
  goes(tag: TagToken, target: string | undefined, text: string): boolean;
}

export function pageScripts(source: string): PageScripts {
  const folders = namedRoots.filter(({ root }) => root.test(source)).map(({ scripts }) => scripts);
  const isFrameworkFile = (file: string): boolean =>
    [frameworkFolder, ...folders].some((folder) => folder.test(file));
  return {
    goes: (tag, target, text) => {
      const type = (attributeText(tag, 'type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
      const src = attributeText(tag, 'src');
      if (type === 'importmap' || type === 'speculationrules') return true;
      if (hasAttribute(tag, 'nomodule')) return true;
      if (type === 'module') {
        return src === undefined ? moduleImport.test(text) || frameworkText.test(text) : target !== undefined;
      }
      if (!javascript.test(type)) return frameworkData.test(attributeText(tag, 'id') ?? '');
      if (src === undefined) return frameworkText.test(text);
      return target !== undefined && isFrameworkFile(target);
    },
  };
}

const hints = new Set(['modulepreload', 'prefetch', 'prerender']);

/**
 * Whether a `link` or `meta` element cannot stay: a hint at a script or at data, a font that is loaded ahead, a manifest, and a policy
 * whose `'self'` does not name files of a disk. A hint at another host stays.
 */
export function elementGoes(tag: TagToken, isOfSite: boolean): boolean {
  if (tag.tagName === 'meta') {
    return /^content-security-policy$/i.test(attributeText(tag, 'http-equiv')?.trim() ?? '');
  }
  if (tag.tagName !== 'link' || !isOfSite) return false;
  const rels = (attributeText(tag, 'rel') ?? '').toLowerCase().split(/\s+/);
  if (rels.includes('stylesheet')) return false;
  if (rels.includes('manifest') || rels.some((rel) => hints.has(rel))) return true;
  // Some pages turn a style sheet that is loaded ahead into one that counts.
  return rels.includes('preload') && attributeText(tag, 'as')?.toLowerCase() !== 'style';
}

/** Programs that no page needs without its framework: code and payloads, wherever a page may name them. */
export const frameworkFile: RegExp = new RegExp(
  [
    String.raw`(?:^|/)_next/.*\.(?:js|json|map)$`,
    String.raw`(?:^|/)__next[^/]*\.txt$`,
    String.raw`(?:^|/)_nuxt/.*\.(?:m?js|json|map)$`,
    String.raw`(?:^|/)_app/(?:immutable/.*\.(?:m?js|map)|version\.json)$`,
    String.raw`(?:^|/)(?:_payload\.js(?:on)?|__data\.json|hashmap\.json)$`,
    String.raw`(?:^|/)page-data/.*\.json$`,
  ].join('|'),
);

export const attributeText = (tag: TagToken, wanted: string): string | undefined =>
  tag.attrs.find(({ name }) => name === wanted)?.value;

const hasAttribute = (tag: TagToken, wanted: string): boolean => attributeText(tag, wanted) !== undefined;
