// Where the addresses of one body stand in its source, for a site that moves below another path. The readers of references
// find them; this adds positions. Works on text with one character for each byte, so nothing that is not an address changes,
// whatever the encoding. Refuses scripts' guesses: what may be an address and what is one, its caller decides by `isGuess`.

import { readLlmsPositions, readSitemapPositions } from '../sitemap.ts';
import { type BodyKind, readableBytes } from './body-links.ts';
import { readCssPositions } from './css-references.ts';
import { type ConnectionPosition, readHtmlPositions } from './html-positions.ts';
import { readMemberPositions } from './member-positions.ts';
import { isStream } from './next-payload.ts';
import { type CountedText, pushedSpans, readCountedTexts, type Span } from './next-stream.ts';
import { type AddressPosition, addReferences, type IntegrityPosition } from './reference.ts';
import { readScriptPositions } from './script-references.ts';

export interface BodyPositions {
  /** In no order; one position may be there twice. */
  readonly positions: readonly AddressPosition[];
  /** Of the first `<base href>`. */
  readonly base?: string | undefined;
  /** Where that one is written. */
  readonly baseSpan?: Span | undefined;
  /** Texts that say their length in front. */
  readonly counted: readonly CountedText[];
  /** Scripts of a page. */
  readonly scripts: readonly Span[];
  /** Hashes of files that the body loads. */
  readonly integrity: readonly IntegrityPosition[];
  /** Attributes of a page that are data. */
  readonly data: readonly Span[];
  readonly connections: readonly ConnectionPosition[];
  readonly policies: readonly Span[];
}

const none: BodyPositions = {
  positions: [],
  counted: [],
  scripts: [],
  integrity: [],
  data: [],
  connections: [],
  policies: [],
};
/** Members of a web app manifest that are addresses, its own and those of its parts. */
const manifestMembers = ['src', 'url', 'start_url', 'scope', 'action'];

/** Whether a body of this kind and size is read as a whole. Of a longer one the crawl does not know all addresses. */
export function hasPositions(kind: BodyKind, sizeBytes: number): boolean {
  return kind !== 'index' && kind !== 'other' && sizeBytes <= readableBytes(kind);
}

/** @param source one character for each byte */
export function readPositions(kind: BodyKind, source: string): BodyPositions {
  switch (kind) {
    case 'document':
    case 'picture':
      return positionsInHtml(source);
    case 'style':
      return { ...none, positions: readCssPositions(source) };
    case 'script':
      return { ...none, positions: readScriptPositions(source) };
    case 'manifest':
      return { ...none, positions: readMemberPositions(source, manifestMembers) };
    case 'payload': {
      if (!isStream(source)) return none;
      const counted = readCountedTexts(source, [{ from: 0, to: source.length }], false);
      return {
        ...none,
        positions: [...readScriptPositions(source), ...readMemberPositions(source)],
        counted,
      };
    }
    case 'contents':
      return { ...none, positions: readLlmsPositions(source) };
    case 'sitemap':
      return { ...none, positions: readSitemapPositions(source) };
    case 'index':
    case 'other':
      return none;
    default:
      return kind satisfies never;
  }
}

function positionsInHtml(source: string): BodyPositions {
  const { positions, ofScripts, scripts, ...others } = readHtmlPositions(source);
  const found = [...positions];
  const spans = scripts.flatMap(({ from, to }) => pushedSpans(source, from, to));
  for (const { from, to } of scripts) {
    const inScript = readScriptPositions(source.slice(from, to));
    addReferences(
      found,
      inScript.values().map((position) => ({ ...position, at: position.at + from })),
    );
  }
  addReferences(found, pushedPositions(source, spans));
  return { ...others, positions: found, counted: readCountedTexts(source, spans, true), scripts };
}

/** In the stream as a whole: an address may begin in one piece and end in the next. */
function* pushedPositions(source: string, spans: readonly Span[]): Generator<AddressPosition> {
  const rest = spans.values();
  let span = rest.next().value;
  let passed = 0;
  for (const position of readMemberPositions(spans.map(({ from, to }) => source.slice(from, to)).join(''))) {
    while (span !== undefined && position.at >= passed + span.to - span.from) {
      passed += span.to - span.from;
      span = rest.next().value;
    }
    if (span !== undefined) yield { ...position, at: span.from + position.at - passed };
  }
}
