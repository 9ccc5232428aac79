// Canonical and OpenGraph addresses whose host was not known when a page was built: `https://undefined.docs.example.com/a`,
// `https://undefined/a`, `null`. Sets the host, or takes the element out. Works on text with one character for each byte. Refuses
// addresses of any other element, because a reader may follow those.

import { attributeSpan } from '#platform/html/attribute-span.ts';
import { readHtmlTokens, type TagToken } from '#platform/html/html-tokens.ts';
import type { SourceEdit } from '#platform/html/source-edits.ts';
import type { RuleMode } from './rule-modes.ts';

/** Any page with such an address has it; the rest is not read. */
const hint = /(?:["'=]\s{0,99}|\/\/)(?:undefined|null)\b/i;
/** The scheme; the host or what stands for it; a lookahead that nothing of a longer name is taken. */
const brokenHost =
  /^\s{0,99}(?:(https?:)?\/\/(?:undefined(?:\.[a-z0-9.-]{1,253})?|null)(?::\d{1,5})?|undefined|null)(?=[/?#"']|\s|$)/i;

/** Names of `meta` elements and words of `rel` that say where the page itself is. */
const pageNames: ReadonlySet<string> = new Set(['og:url', 'twitter:url']);
const pageRels: ReadonlySet<string> = new Set(['canonical']);
/** The same of a picture, a video, a sound or another page, which the address of this page can never be. */
const otherNames: ReadonlySet<string> = new Set([
  ...['og:image', 'og:image:url', 'og:image:secure_url', 'og:video', 'og:video:url', 'og:audio'],
  ...['twitter:image', 'twitter:image:src'],
]);
const otherRels: ReadonlySet<string> = new Set(['alternate', 'image_src']);

interface AddressAttribute {
  readonly name: string;
  readonly isOfPage: boolean;
}

/**
 * What `set` cannot tell is taken out: the address of anything but the page, where only its host or a word for nothing is there.
 *
 * @param served address of the page, which stands in for its own address without a host and a path
 */
export function canonicalEdits(
  source: string,
  served: string,
  { word, host }: RuleMode,
): readonly SourceEdit[] {
  const body = source.search(/<body[\s>]/i);
  // Search engines read these elements in the head alone, and the body of a page is most of it.
  const head = body < 0 ? source : source.slice(0, body);
  if (!hint.test(head)) return [];
  const edits: SourceEdit[] = [];
  const start = (tag: TagToken): void => {
    const attribute = addressAttribute(tag);
    const span = attribute === undefined ? undefined : attributeSpan(source, tag, attribute.name);
    const { location } = tag;
    if (attribute === undefined || span === undefined || location === null || location === undefined) return;
    const raw = source.slice(span.from, span.to);
    const broken = brokenHost.exec(raw);
    if (broken === null) return;
    const [written, scheme = 'https:'] = broken;
    const hasPath = raw[written.length] === '/';
    if (word !== 'set' || host === undefined || !(hasPath || attribute.isOfPage)) {
      // A blank where the characters around the element would become a tag.
      const insert = source[location.startOffset - 1] === '<' ? ' ' : '';
      edits.push({ at: location.startOffset, drop: location.endOffset - location.startOffset, insert });
      return;
    }
    const path = hasPath || written.includes('//') ? '' : served;
    edits.push({ at: span.from, drop: written.length, insert: `${scheme}//${host}${path}` });
  };
  readHtmlTokens(head, { start, end: () => {}, text: () => {} }, undefined, true);
  return edits;
}

/** The attribute that holds the address for search engines or for other sites; `undefined` for every other element. */
function addressAttribute({ tagName, attrs }: TagToken): AddressAttribute | undefined {
  const attributeText = (wanted: string): string =>
    attrs
      .find(({ name }) => name === wanted)
      ?.value.trim()
      .toLowerCase() ?? '';
  if (tagName === 'meta') {
    const name = attributeText('property') || attributeText('name');
    const isOfPage = pageNames.has(name);
    return isOfPage || otherNames.has(name) ? { name: 'content', isOfPage } : undefined;
  }
  if (tagName !== 'link') return undefined;
  const rels = attributeText('rel').split(/\s+/);
  const isOfPage = rels.some((rel) => pageRels.has(rel));
  return isOfPage || rels.some((rel) => otherRels.has(rel)) ? { name: 'href', isOfPage } : undefined;
}
