// The index of one language in memory: MiniSearch, filled from the files of a search instead of documents. Postings stay as text until a
// query meets their term, because to decode all of them would take longer than the first answer may. Refuses ordinals of pages that
// the site does not have.

import MiniSearch, { type SearchOptions } from 'minisearch';
import { decodeFrequencies, decodeNumbers, decodePages, type Posting } from './postings.ts';
import type { TermsFile, TitlesFile } from './search-format.ts';

export const searchFields = ['title', 'headings', 'text'] as const;
type Frequencies = Map<number, number>;

/** Of one term: its postings by field, each decoded when it is first asked for. */
class TermPostings extends Map<number, Frequencies> {
  readonly #encoded = new Map<number, () => readonly Posting[]>();
  readonly #pages: number;

  constructor(pages: number) {
    super();
    this.#pages = pages;
  }

  addField(field: number, postings: () => readonly Posting[]): void {
    this.#encoded.set(field, postings);
  }

  override get(field: number): Frequencies | undefined {
    const known = super.get(field);
    const encoded = this.#encoded.get(field);
    if (known !== undefined || encoded === undefined) return known;
    const decoded: Frequencies = new Map();
    for (const { page, frequency } of encoded()) if (page < this.#pages) decoded.set(page, frequency);
    this.set(field, decoded);
    return decoded;
  }
}

const titleField = 0;
const headingsField = 1;
const textField = 2;

/** Documents are pages, and their ids are the ordinals. */
export class PageIndex extends MiniSearch<{ readonly id: number }> {
  readonly #pages: number;
  readonly #titleTerms = new Set<string>();

  constructor(titles: TitlesFile) {
    super({ fields: [...searchFields], tokenize: (term) => [term], processTerm: (term) => term });
    const pages = titles.paths.length;
    this.#pages = pages;
    const lengths = [new Uint16Array(pages), new Uint16Array(pages)] as const;
    for (const [at, term] of titles.terms.entries()) {
      const inTitle = titles.inTitle[at] ?? '';
      const inHeadings = titles.inHeadings[at] ?? '';
      this.#titleTerms.add(term);
      const postings = this.#postingsOf(term);
      if (inTitle !== '') {
        postings.addField(titleField, () => decodePages(inTitle));
        // Titles are short, and how much of one a query covers decides its place.
        for (const { page } of decodePages(inTitle)) lengths[0][page] = (lengths[0][page] ?? 0) + 1;
      }
      if (inHeadings !== '') postings.addField(headingsField, () => decodePages(inHeadings));
    }
    this.#describePages(lengths[0], decodeNumbers(titles.lengths));
  }

  addTexts({ terms, inText }: TermsFile): void {
    for (const [at, term] of terms.entries()) {
      const encoded = inText[at] ?? '';
      this.#postingsOf(term).addField(textField, () => decodeFrequencies(encoded));
    }
  }

  /** Whether a title or a heading has the term. */
  hasTitleTerm(term: string): boolean {
    return this.#titleTerms.has(term);
  }

  termsWithPrefix(prefix: string): Iterable<string> {
    return this._index.atPrefix(prefix).keys();
  }

  /** Different terms of a page's title. */
  titleLength(page: number): number {
    return this._fieldLength.get(page)?.[titleField] ?? 0;
  }

  find(query: Parameters<MiniSearch['search']>[0], options: SearchOptions) {
    return this.search(query, options);
  }

  #postingsOf(term: string): TermPostings {
    const known = this._index.get(term);
    if (known instanceof TermPostings) return known;
    const made = new TermPostings(this.#pages);
    this._index.set(term, made);
    return made;
  }

  #describePages(titleLengths: Uint16Array, textLengths: readonly number[]): void {
    const sums = [0, 0, 0];
    for (let page = 0; page < this.#pages; page += 1) {
      const lengths = [titleLengths[page] ?? 0, 1, textLengths[page] ?? 0];
      this._documentIds.set(page, page);
      this._fieldLength.set(page, lengths);
      for (const [field, length] of lengths.entries()) sums[field] = (sums[field] ?? 0) + length;
    }
    this._documentCount = this.#pages;
    this._avgFieldLength = sums.map((sum) => Math.max(1, sum / Math.max(1, this.#pages)));
  }
}
