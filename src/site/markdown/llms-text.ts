// `llms.txt` and `llms-full.txt`: which pages a site has, for agents, and their text in one file. Follows the proposal of llmstxt.org:
// title, summary, sections with links, and pages that can be skipped at the end. Pure. Invariant: a link's text and address cannot
// end it, and the full text says what it leaves out.

export interface ListedPage {
  /** Of its file in the bundle. */
  readonly path: string;
  /** Of its Markdown, as a link. */
  readonly address: string;
  readonly title: string;
  readonly description: string;
  readonly language: string | undefined;
}

export interface ListedSite {
  readonly title: string;
  readonly summary: string;
  /** Of its start page. */
  readonly language: string | undefined;
}

/** Of `llms-full.txt`, in bytes. */
export const maxFullBytes: number = 5 * 1000 * 1000;
/** Pages that `llms.txt` lists. */
export const maxLlmsPages = 20_000;
const maxTitle = 200;
const maxSummary = 500;
const optionalSection = 'Optional';
/** Folders and pages that answer no question about the product. */
const optionalNames =
  /(?:^|\/)(?:change-?logs?|changes|release-?notes|releases|history|blog|news|whatsnew|legal|licen[cs]es?|privacy|terms|imprint|credits|contributors|genindex[^/]*|general-index|tags)(?:\/|\.html?$)/i;

/** @param unlisted pages beyond {@link maxLlmsPages} */
export function llmsText(site: ListedSite, pages: readonly ListedPage[], unlisted: number): string {
  const sections = new Map<string, string[]>();
  const optional: string[] = [];
  for (const page of pages) {
    const line = linkLine(page);
    if (isOptional(page, site)) optional.push(line);
    else {
      const name = sectionOf(page.path);
      const lines = sections.get(name);
      if (lines === undefined) sections.set(name, [line]);
      else lines.push(line);
    }
  }
  const titles = new Map(pages.map(({ path, title }) => [path, title]));
  const blocks = [...sections].map(
    ([name, lines]) => `## ${sectionTitle(name, titles)}\n\n${lines.join('\n')}`,
  );
  if (optional.length > 0) blocks.push(`## ${optionalSection}\n\n${optional.join('\n')}`);
  const summary = shortText(site.summary, maxSummary);
  const head = [
    `# ${escapedWords(shortText(site.title, maxTitle))}`,
    ...(summary === '' ? [] : [`> ${escapedWords(summary)}`]),
    ...(unlisted === 0 ? [] : [`This list leaves out ${unlisted} of ${pages.length + unlisted} pages.`]),
  ];
  return `${[...head, ...blocks].join('\n\n')}\n`;
}

/** Whether an agent may skip it: by its name, or because it is not in the language of the site. */
export function isOptional(
  page: Pick<ListedPage, 'path' | 'language'>,
  site: Pick<ListedSite, 'language'>,
): boolean {
  if (optionalNames.test(page.path)) return true;
  if (page.language === undefined || site.language === undefined) return false;
  return primary(page.language) !== primary(site.language);
}

/** Without its region. */
const primary = (language: string): string => language.split('-', 1)[0] ?? '';

export interface FullText {
  /** In the order of calls. */
  add(page: ListedPage, markdown: string): void;
  /** Of a page that was not added. */
  leaveOut(page: ListedPage): void;
  text(site: ListedSite): string;
}

/** Holds the texts of at most `maxBytes`. */
export function createFullText(maxBytes: number = maxFullBytes): FullText {
  const texts: string[] = [];
  const leftOut: ListedPage[] = [];
  // Room for the head, which names what is left out.
  let room = maxBytes - headBytes;
  return {
    add: (page, markdown) => {
      const text = `${markdown.trimEnd()}\n\nSource: ${page.address}\n`;
      const bytes = Buffer.byteLength(text) + divider.length;
      if (bytes > room) {
        leftOut.push(page);
        return;
      }
      room -= bytes;
      texts.push(text);
    },
    leaveOut: (page) => void leftOut.push(page),
    text: (site) => [`${headText(site, texts.length, leftOut)}\n`, ...texts].join(divider),
  };
}

const divider = '\n---\n\n';
const headBytes = 64 * 1024;
const mostNamed = 100;

function headText(site: ListedSite, added: number, leftOut: readonly ListedPage[]): string {
  const summary = shortText(site.summary, maxSummary);
  const lines = [`# ${escapedWords(shortText(site.title, maxTitle))}`];
  if (summary !== '') lines.push(`> ${escapedWords(summary)}`);
  if (leftOut.length > 0) {
    const all = added + leftOut.length;
    const named = leftOut.slice(0, mostNamed).map(({ address }) => `- ${address.slice(0, maxNamed)}`);
    const rest = leftOut.length - named.length;
    lines.push(
      `This file has ${added} of ${all} pages. It leaves out optional pages, and those for which 5 MB have no room:`,
      [...named, ...(rest > 0 ? [`- and ${rest} more, which llms.txt lists`] : [])].join('\n'),
    );
  }
  return lines.join('\n\n');
}

const maxNamed = 500;

/** The folder at the top, or the empty text for pages of the root. */
function sectionOf(path: string): string {
  const slash = path.indexOf('/');
  return slash < 0 ? '' : path.slice(0, slash);
}

function sectionTitle(name: string, titles: ReadonlyMap<string, string>): string {
  if (name === '') return 'Pages';
  const own = titles.get(`${name}/index.html`) ?? titles.get(`${name}.html`);
  const words = name.replace(/[-_]+/g, ' ').trim();
  const title = shortText(own ?? words.charAt(0).toUpperCase() + words.slice(1), maxTitle);
  // The proposal gives this name a meaning.
  return escapedWords(title.toLowerCase() === optionalSection.toLowerCase() ? name : title);
}

function linkLine({ title, address, description }: ListedPage): string {
  const words = shortText(description, maxSummary);
  const name = escapedWords(shortText(title === '' ? address : title, maxTitle));
  return `- [${name}](${address})${words === '' ? '' : `: ${escapedWords(words)}`}`;
}

function shortText(text: string, longest: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= longest ? line : `${line.slice(0, longest - 1).toWellFormed()}…`;
}

const escapedWords = (text: string): string => text.replace(/[\\[\]<>`*_]/g, '\\$&');
