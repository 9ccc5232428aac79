// Where in a page its content is, tag by tag: `main`, an `article`, or what remains of the body without navigation. Builds no tree: it
// counts the open elements of one name for each region. Invariant: constant memory and work for each tag, whatever the depth.

import type { TagToken } from '#platform/html/html-tokens.ts';

/** `mainArticle`: an article within `main`, or around it. */
export type ContentScope = 'body' | 'article' | 'main' | 'mainArticle';

export interface ScopeReader {
  start(tag: TagToken, isOpen: boolean): void;
  end(tag: TagToken): void;
  /** Of what follows the last tag; `undefined` for navigation, code for browsers, and what is hidden. */
  readonly scope: ContentScope | undefined;
  /** Articles within `main`, next to each other. */
  readonly mainArticles: number;
  /** Number of the element that is left out and open. At the end of a page, what follows its start may be content. */
  readonly unended: number | undefined;
}

/** Never content; no page may omit their end tags. */
const excludedElements: ReadonlySet<string> = new Set(
  'head title script style template noscript svg iframe object canvas audio video select textarea dialog nav footer rp rt'.split(
    ' ',
  ),
);
/** Of the site, unless they are within an article. */
const outerElements: ReadonlySet<string> = new Set(['header', 'aside']);
/** None of them may have `main` in it: one that does has no end tag. */
const withoutMain: ReadonlySet<string> = new Set(['nav', 'footer', 'header', 'aside']);
const excludedRoles: ReadonlySet<string> = new Set(
  'navigation search contentinfo menu menubar tooltip'.split(' '),
);
const outerRoles: ReadonlySet<string> = new Set(['banner', 'complementary']);
/** Of DocBook, Sphinx and SQLite, whose pages have no `main` or no `nav`. */
const excludedClasses: ReadonlySet<string> = new Set('navheader navfooter sphinxsidebar nosearch'.split(' '));
/** Their end tags may be omitted, so that their ends are not known here. */
const unendedElements: ReadonlySet<string> = new Set(
  'p li dt dd tr td th thead tbody tfoot colgroup option optgroup body html'.split(' '),
);
const voidElements: ReadonlySet<string> = new Set(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr'.split(
    ' ',
  ),
);

interface Region {
  readonly tagName: string;
  /** Open elements of that name, the region's own included. */
  depth: number;
}

/** @param keeps number of an element that is not left out, because it does not end */
export function createScopeReader(keeps?: number): ScopeReader {
  let main: Region | undefined;
  let article: Region | undefined;
  let excluded: Region | undefined;
  let mainArticles = 0;
  let exclusions = 0;

  const leave = (region: Region | undefined, tagName: string): Region | undefined => {
    if (region?.tagName !== tagName) return region;
    region.depth -= 1;
    return region.depth === 0 ? undefined : region;
  };
  const start = (tag: TagToken, isOpen: boolean): void => {
    const { tagName } = tag;
    if (!isOpen || voidElements.has(tagName)) return;
    if (excluded?.tagName === 'head' && tagName === 'body') excluded = undefined;
    if (excluded !== undefined && withoutMain.has(excluded.tagName) && isMain(tag)) excluded = undefined;
    if (excluded !== undefined) {
      if (excluded.tagName === tagName) excluded.depth += 1;
      return;
    }
    if (isExcluded(tag, main !== undefined || article !== undefined)) {
      exclusions += 1;
      if (exclusions !== keeps) {
        excluded = { tagName, depth: 1 };
        return;
      }
    }
    if (main?.tagName === tagName) main.depth += 1;
    if (article?.tagName === tagName) article.depth += 1;
    if (main === undefined && isMain(tag)) {
      main = { tagName, depth: 1 };
    } else if (article === undefined && tagName === 'article') {
      article = { tagName, depth: 1 };
      if (main !== undefined) mainArticles += 1;
    }
  };
  const end = ({ tagName }: TagToken): void => {
    if (excluded !== undefined) {
      // The element around it ends, and so what is left out does too.
      const isAround = ['main', 'article', 'body'].includes(tagName) && excluded.tagName !== tagName;
      if (!isAround) {
        excluded = leave(excluded, tagName);
        return;
      }
      if (excluded.tagName !== 'head') excluded = undefined;
    }
    main = leave(main, tagName);
    article = leave(article, tagName);
  };
  return {
    start,
    end,
    get scope() {
      if (excluded !== undefined) return undefined;
      if (main === undefined) return article === undefined ? 'body' : 'article';
      return article === undefined ? 'main' : 'mainArticle';
    },
    get mainArticles() {
      return mainArticles;
    },
    get unended() {
      return excluded === undefined ? undefined : exclusions;
    },
  };
}

function isMain({ tagName, attrs }: TagToken): boolean {
  if (tagName === 'main') return true;
  for (const { name, value } of attrs) if (name === 'role' && value === 'main') return true;
  return false;
}

/** @param isInner within `main` or an article */
function isExcluded({ tagName, attrs }: TagToken, isInner: boolean): boolean {
  if (excludedElements.has(tagName)) return true;
  if (unendedElements.has(tagName)) return false;
  if (!isInner && outerElements.has(tagName)) return true;
  let isHidden = false;
  for (const { name, value } of attrs) {
    switch (name) {
      case 'role':
        // What a tab hides is content of another tab.
        if (value === 'tabpanel') return false;
        isHidden ||= excludedRoles.has(value) || (!isInner && outerRoles.has(value));
        break;
      case 'hidden':
        isHidden ||= value !== 'until-found';
        break;
      case 'aria-hidden':
        isHidden ||= value === 'true';
        break;
      case 'data-pagefind-ignore':
        isHidden ||= value !== 'index';
        break;
      case 'id':
        isHidden ||= value === 'footer' && !isInner;
        break;
      case 'class':
        isHidden ||= namesExcluded(value);
        break;
    }
  }
  return isHidden;
}

function namesExcluded(classes: string): boolean {
  if (!classes.includes(' ')) return excludedClasses.has(classes);
  return classes.split(/\s+/, maxClasses).some((one) => excludedClasses.has(one));
}

const maxClasses = 20;

/** The value of an attribute as tokens have it. */
export function attributeOf(attrs: TagToken['attrs'], name: string): string | undefined {
  for (const attr of attrs) if (attr.name === name) return attr.value;
  return undefined;
}
