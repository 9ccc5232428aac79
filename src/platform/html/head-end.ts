// Where a page can take one more element at the end of its head, so that all that the page itself declares stands before it, but
// before a base, which would lead the element's own address elsewhere. Works on text with one character for each byte. Refuses fragments, and pages whose own policy refuses scripts of the site. Never
// throws; one pass.

import { readHtmlTokens, type TagToken } from './html-tokens.ts';

const ofHead: ReadonlySet<string> = new Set([
  'html',
  'head',
  'title',
  'meta',
  'link',
  'base',
  'script',
  'style',
  'noscript',
  'template',
]);
/** What they hold is not of the head: to a browser that runs scripts it is text, or a fragment. */
const closed: ReadonlySet<string> = new Set(['title', 'script', 'style', 'noscript', 'template']);
const ofDocument: ReadonlySet<string> = new Set(['html', 'head', 'body', 'frameset']);

/** Comments and a declaration of XML may stand before it. */
const doctype = /<!doctype\s+html/i;
const longestBeforeDoctype = 1024;

/**
 * @param html a page as latin1, or as text
 * @param isForScript false for an element that no policy refuses
 * @returns the position before which a script of the page's own site can stand, and runs; `undefined` where there is none
 */
export function findHeadEnd(html: string, isForScript = true): number | undefined {
  let isDocument = doctype.test(html.slice(0, longestBeforeDoctype));
  /** Behind the last element of the head so far. */
  let declaredEnd: number | undefined;
  let place: number | undefined;
  let baseAt: number | undefined;
  let isRefused = false;
  let open: { readonly name: string; depth: number } | undefined;

  const endHead = (at: number | undefined): void => {
    place ??= at;
  };
  const start = (tag: TagToken, isOpen: boolean): void => {
    const { tagName, location } = tag;
    if (place !== undefined) return;
    if (open !== undefined) {
      if (isOpen && open.name === tagName) open.depth += 1;
      return;
    }
    if (ofDocument.has(tagName)) isDocument = true;
    if (!ofHead.has(tagName)) {
      endHead(tagName === 'body' ? location?.startOffset : (declaredEnd ?? location?.startOffset));
      return;
    }
    if (isOpen && closed.has(tagName)) open = { name: tagName, depth: 1 };
    else declaredEnd = location?.endOffset;
    if (tagName === 'meta' && isForScript && !isAllowedBy(tag)) isRefused = true;
    if (tagName === 'base' && tag.attrs.some(({ name }) => name === 'href')) baseAt ??= location?.startOffset;
  };
  const end = ({ tagName, location }: TagToken): void => {
    if (place !== undefined) return;
    if (open?.name === tagName) {
      open.depth -= 1;
      if (open.depth === 0) {
        open = undefined;
        declaredEnd = location?.endOffset;
      }
    } else if (open === undefined && tagName === 'head') {
      isDocument = true;
      endHead(location?.startOffset);
    }
  };
  // The text of a body without a tag.
  const text = (): void => {
    if (open === undefined) endHead(declaredEnd);
  };
  const isRead = readHtmlTokens(
    html,
    { start, end, text, isDone: () => place !== undefined },
    undefined,
    true,
  );
  if (isRead) endHead(open === undefined ? declaredEnd : undefined);
  return isDocument && !isRefused && place !== undefined ? (baseAt ?? place) : undefined;
}

/** Whether a `meta` element lets scripts of the site run: one that is no policy does. */
function isAllowedBy({ attrs }: TagToken): boolean {
  const textOf = (wanted: string): string => attrs.find(({ name }) => name === wanted)?.value ?? '';
  if (textOf('http-equiv').trim().toLowerCase() !== 'content-security-policy') return true;
  // Of several policies in one value, all hold.
  return textOf('content').split(',').every(allowsOwnScripts);
}

function allowsOwnScripts(policy: string): boolean {
  const directives = new Map<string, readonly string[]>();
  for (const text of policy.split(';')) {
    const [name = '', ...sources] = text.trim().toLowerCase().split(/\s+/);
    if (!directives.has(name)) directives.set(name, sources);
  }
  const sources = ['script-src-elem', 'script-src', 'default-src']
    .map((name) => directives.get(name))
    .find((one) => one !== undefined);
  if (sources === undefined) return true;
  const namesSite = sources.includes("'self'") || sources.includes('*');
  return namesSite && !sources.includes("'strict-dynamic'");
}
