// The one reader of pages: title, language, sections of text, links, and where the content stands in the source. One pass over tokens;
// never throws and never recurses. Refuses what goes beyond its bounds. Invariant: the text holds no markup, and it comes from the
// ranges of `main` alone.

import { readHtmlTokens, type TagToken } from '#platform/html/html-tokens.ts';
import { attributeOf, type ContentScope, createScopeReader, type ScopeReader } from './content-scope.ts';
import { createSectionWriter, type PageSection, partsWords, type SectionBounds } from './section-writer.ts';

/** `[from, to)` in characters of the source. */
export interface SourceRange {
  readonly from: number;
  readonly to: number;
}

export interface PageText {
  /** Of `<title>`, often with the name of the site; may be empty. See {@link shownTitle}. */
  readonly title: string;
  readonly description: string;
  /** As the page declares it, in lower case: `en-us`. */
  readonly language: string | undefined;
  readonly direction: 'ltr' | 'rtl' | undefined;
  /** False where the page asks search engines to leave it out, and where it only leads elsewhere. */
  readonly isIndexed: boolean;
  readonly sections: readonly PageSection[];
  /** Addresses of `a` and `area` in the whole page, as written, each once. */
  readonly links: readonly string[];
  /** The source of the content, without navigation and what is hidden; in order and apart. */
  readonly main: readonly SourceRange[];
  /** Whether bounds cut the text, the sections or the links off. */
  readonly isCut: boolean;
}

export interface PageBounds extends SectionBounds {
  /** 0 where no caller needs `links`. */
  readonly maxLinks: number;
  /** 0 where no caller needs `main`, which takes an eighth of the time. */
  readonly maxRanges: number;
}

export const usualPageBounds: PageBounds = {
  maxText: 400_000,
  maxSections: 2000,
  maxHeading: 300,
  maxLinks: 5000,
  maxRanges: 5000,
};

export interface PageContent {
  /** Whether the text has what pictures say in `alt`. */
  readonly pictures: boolean;
  /** Whether the text has the content of `time`, which many generators write new with each build. */
  readonly times: boolean;
}

const usualContent: PageContent = { pictures: false, times: true };

/** Elements that say something of the whole page. */
const ofHead: ReadonlySet<string> = new Set(['title', 'meta', 'html', 'body']);
const maxTitle = 500;
const maxDescription = 1000;
const maxAddress = 2048;
const maxLanguage = 35;

/** The title that names the page alone: the heading with which `<title>` begins, else the first of the first level, else `<title>`. */
export function shownTitle({ title, sections }: Pick<PageText, 'title' | 'sections'>): string {
  const heading =
    sections.find(({ level, heading: text }) => level > 0 && level < 3 && title.startsWith(text)) ??
    sections.find(({ level }) => level === 1);
  return heading?.heading ?? title;
}

/** @param html the page as text */
export function readPageText(
  html: string,
  bounds: PageBounds = usualPageBounds,
  content: PageContent = usualContent,
): PageText {
  const read = readOnce(html, bounds, content);
  return read.unended === undefined ? read.page : readOnce(html, bounds, content, read.unended).page;
}

interface ReadPage {
  readonly page: PageText;
  readonly unended: number | undefined;
}

/** @param keeps see {@link createScopeReader} */
function readOnce(html: string, bounds: PageBounds, content: PageContent, keeps?: number): ReadPage {
  const scopes = createScopeReader(keeps);
  const writer = createSectionWriter(bounds);
  const ranges = createRangeRecord(bounds.maxRanges);
  const head = createHeadReader();
  const links = new Set<string>();
  let isCut = false;
  const times = createTimeRecord();
  ranges.change(undefined, 0, 0);
  const followRange = (tag: TagToken, before: ContentScope | undefined): void => {
    const isBody = tag.tagName === 'body';
    if (before === scopes.scope && !isBody) return;
    const { startOffset = 0, endOffset = 0 } = tag.location ?? {};
    ranges.change(before, startOffset, endOffset);
    if (partsWords(tag.tagName)) writer.space();
  };
  const addLink = (href: string): void => {
    if (links.size < bounds.maxLinks) links.add(href.slice(0, maxAddress));
    else if (bounds.maxLinks > 0 && !links.has(href)) isCut = true;
  };
  const addPicture = (attrs: TagToken['attrs'], scope: ContentScope): void => {
    const text = singleBlanks((attributeOf(attrs, 'alt') ?? '').trim());
    if (text === '') return;
    writer.text(text, scope);
    writer.space();
  };
  const isWhole = readHtmlTokens(
    html,
    {
      start: (tag, isOpen) => {
        const { tagName } = tag;
        const before = scopes.scope;
        scopes.start(tag, isOpen);
        followRange(tag, before);
        if (tagName === 'a' || tagName === 'area') {
          const href = attributeOf(tag.attrs, 'href');
          if (href !== undefined) addLink(href);
        } else if (ofHead.has(tagName)) {
          head.start(tag);
        }
        const { scope } = scopes;
        if (scope === undefined) return;
        if (isOpen) times.start(tagName);
        writer.start(tag, isOpen, scope);
        if (content.pictures && tagName === 'img') addPicture(tag.attrs, scope);
      },
      end: (tag) => {
        if (tag.tagName === 'title') head.end(tag);
        const before = scopes.scope;
        scopes.end(tag);
        followRange(tag, before);
        if (before === undefined) return;
        times.end(tag.tagName);
        writer.end(tag);
      },
      text: (chars) => {
        const { scope } = scopes;
        if (scope === undefined) head.text(chars);
        else if (content.times || !times.isOpen) writer.text(chars, scope);
      },
      space: () => {
        if (scopes.scope === undefined) head.space();
        else writer.space();
      },
    },
    undefined,
    bounds.maxRanges > 0,
  );
  ranges.change(scopes.scope, html.length, html.length);
  const chosen = chooseScopes(writer.lengthOf, scopes);
  return {
    page: {
      ...head.result(),
      sections: writer.sections(chosen),
      links: [...links],
      main: ranges.of(chosen),
      isCut: isCut || writer.isCut || (bounds.maxRanges > 0 && ranges.isCut) || !isWhole,
    },
    unended: scopes.unended,
  };
}

interface TimeRecord {
  start(tagName: string): void;
  end(tagName: string): void;
  readonly isOpen: boolean;
}

/** Whether a text is within `time`. One without an end tag would hide the rest of the page: the block around it ends it too. */
function createTimeRecord(): TimeRecord {
  let open = 0;
  let blocks: string[] = [];
  const close = (): void => {
    open = 0;
    blocks = [];
  };
  return {
    start: (tagName) => {
      if (tagName === 'time') open += 1;
      else if (open === 0) return;
      else if (/^(?:h[1-6]|main)$/.test(tagName)) close();
      else if (partsWords(tagName)) blocks.push(tagName);
    },
    end: (tagName) => {
      if (open === 0) return;
      if (tagName === 'time') {
        open -= 1;
        if (open === 0) close();
      } else if (partsWords(tagName)) {
        const at = blocks.lastIndexOf(tagName);
        if (at < 0) close();
        else blocks.length = at;
      }
    },
    get isOpen() {
      return open > 0;
    },
  };
}

/** The innermost part that is the content: an article of its own within `main`, `main`, articles, or the body. */
function chooseScopes(
  lengthOf: (scope: ContentScope) => number,
  { mainArticles }: ScopeReader,
): ReadonlySet<ContentScope> {
  const inArticle = lengthOf('mainArticle');
  const inMain = lengthOf('main');
  // Next to the article of a page, `main` holds the contents of the page; next to many it holds a list of them.
  if (mainArticles <= 1 && inArticle > inMain) return new Set(['mainArticle']);
  if (inArticle + inMain > 0) return new Set(['main', 'mainArticle']);
  return lengthOf('article') > 0 ? new Set(['article']) : new Set(['body']);
}

interface RangeRecord {
  /** @param before scope up to `from`; the next begins at `to` */
  change(before: ContentScope | undefined, from: number, to: number): void;
  of(scopes: ReadonlySet<ContentScope>): readonly SourceRange[];
  readonly isCut: boolean;
}

function createRangeRecord(maxRanges: number): RangeRecord {
  const ranges: (SourceRange & { readonly scope: ContentScope })[] = [];
  let openedAt = 0;
  let isCut = false;
  return {
    change: (before, from, to) => {
      if (before !== undefined && from > openedAt) {
        if (ranges.length < maxRanges) ranges.push({ scope: before, from: openedAt, to: from });
        else isCut = true;
      }
      openedAt = to;
    },
    of: (scopes) => ranges.filter(({ scope }) => scopes.has(scope)).map(({ from, to }) => ({ from, to })),
    get isCut() {
      return isCut;
    },
  };
}

interface HeadReader {
  start(tag: TagToken): void;
  end(tag: TagToken): void;
  text(chars: string): void;
  space(): void;
  result(): Pick<PageText, 'title' | 'description' | 'language' | 'direction' | 'isIndexed'>;
}

function createHeadReader(): HeadReader {
  let title: string | undefined;
  let isInTitle = false;
  let needsSpace = false;
  let description = '';
  let language: string | undefined;
  let direction: 'ltr' | 'rtl' | undefined;
  let isIndexed = true;
  const readMeta = (attrs: TagToken['attrs']): void => {
    const name = (attributeOf(attrs, 'name') ?? attributeOf(attrs, 'property') ?? '').toLowerCase();
    const content = (attributeOf(attrs, 'content') ?? '').slice(0, maxDescription).trim();
    if (name === 'description' || name === 'og:description') description ||= singleBlanks(content);
    if (name === 'robots' && /\b(?:noindex|none)\b/i.test(content)) isIndexed = false;
    const isRefresh = attributeOf(attrs, 'http-equiv')?.toLowerCase() === 'refresh';
    if (isRefresh && /^\s*\d{1,2}(?:\.\d{1,9})?\s*[;,]\s*\S/.test(content)) isIndexed = false;
  };
  return {
    start: ({ tagName, attrs }) => {
      if (tagName === 'title' && title === undefined) {
        isInTitle = true;
        title = '';
      } else if (tagName === 'meta') {
        readMeta(attrs);
      } else if (tagName === 'html' || tagName === 'body') {
        const named = attributeOf(attrs, 'lang') || attributeOf(attrs, 'xml:lang');
        language ??= named?.trim().slice(0, maxLanguage).toLowerCase() || undefined;
        const dir = attributeOf(attrs, 'dir')?.toLowerCase();
        if (dir === 'ltr' || dir === 'rtl') direction ??= dir;
      }
    },
    end: ({ tagName }) => {
      if (tagName === 'title') isInTitle = false;
    },
    text: (chars) => {
      if (!isInTitle || title === undefined || title.length >= maxTitle) return;
      title = `${title}${needsSpace && title !== '' ? ' ' : ''}${chars}`.slice(0, maxTitle);
      needsSpace = false;
    },
    space: () => {
      needsSpace = true;
    },
    result: () => ({ title: title ?? '', description, language, direction, isIndexed }),
  };
}

const singleBlanks = (text: string): string => text.split(/\s+/).join(' ');
