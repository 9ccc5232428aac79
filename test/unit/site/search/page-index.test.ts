// The pages that the index finds, and their scores, against MiniSearch over the same words.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import MiniSearch from 'minisearch';
import { createPageIndex } from '#site/search/page-index.ts';
import { encodeFrequencies, encodeNumbers, encodePages, frequencyClass } from '#site/search/postings.ts';
import type { TermsFile, TitlesFile } from '#site/search/search-format.ts';
import * as fc from '../../../support/properties.ts';

interface Words {
  readonly title: readonly string[];
  readonly headings: readonly string[];
  readonly text: readonly string[];
}

const words = 'key keys log login token tokens'.split(' ');
const someWords = fc.uniqueArray(fc.constantFrom(...words), { maxLength: 4 });
/** MiniSearch takes an empty text for one word. */
const fewWords = fc.uniqueArray(fc.constantFrom(...words), { minLength: 1, maxLength: 4 });
/** Each number of times is one that the files keep as it is. */
const text = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...words), fc.constantFrom(1, 2, 4, 8)), {
    selector: ([word]) => word,
    minLength: 1,
  })
  .map((counted) => counted.flatMap(([word, count]) => Array.from({ length: count }, () => word)));
const site = fc.array(fc.record({ title: fewWords, headings: someWords, text }), {
  minLength: 1,
  maxLength: 12,
});

function filesOf(pages: readonly Words[]): { readonly titles: TitlesFile; readonly terms: TermsFile } {
  const pagesWith = (term: string, field: keyof Words): readonly number[] =>
    pages.flatMap((page, at) => (page[field].includes(term) ? [at] : []));
  const countOf = (page: number, term: string): number =>
    pages[page]?.text.filter((one) => one === term).length ?? 0;
  return {
    titles: {
      paths: pages.map((_, at) => `${at}.html`),
      titles: pages.map(({ title }) => title.join(' ')),
      terms: words,
      inTitle: words.map((term) => encodePages(pagesWith(term, 'title'))),
      inHeadings: words.map((term) => encodePages(pagesWith(term, 'headings'))),
      lengths: encodeNumbers(pages.map((page) => new Set(page.text).size)),
    },
    terms: {
      terms: words,
      inText: words.map((term) =>
        encodeFrequencies(
          pagesWith(term, 'text').map((page) => page * 4 + frequencyClass(countOf(page, term))),
        ),
      ),
    },
  };
}

test('a page scores as MiniSearch scores it', () => {
  fc.assert(
    fc.property(
      site,
      fc.uniqueArray(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }),
      (pages, asked) => {
        const { titles, terms } = filesOf(pages);
        const index = createPageIndex(titles);
        const { pages: found, termsOf } = index
          .withTexts([terms])
          .find(asked.map((term, at) => ({ term, weight: 1 / (at + 1), units: 1 << at })));
        // A heading counts once however many there are, which is a length of one for each page.
        const peer = new MiniSearch<{ readonly id: number }>({
          fields: ['title', 'text'],
          extractField: (page, field) =>
            field === 'id'
              ? page.id
              : field === 'title'
                ? pages[page.id]?.title.join(' ')
                : pages[page.id]?.text.join(' '),
        });
        peer.addAll(pages.map((_, id) => ({ id })));
        const wanted = peer.search(asked.join(' '), {
          boost: { title: 5, text: 1 },
          boostTerm: (_, at) => 1 / (at + 1),
        });
        for (const { id, score, queryTerms, match } of wanted) {
          const own = found.find(({ page }) => page === id);
          const inHeadings = new Set(asked.filter((term) => pages[id]?.headings.includes(term)));
          assert.ok(own !== undefined);
          assert.deepEqual([...termsOf(id)].sort(), [...new Set([...queryTerms, ...inHeadings])].sort());
          assert.equal(own.inTitle, Object.values(match).filter((fields) => fields.includes('title')).length);
          if (inHeadings.size > 0) assert.ok(own.score > score / queryTerms.length);
          else assert.ok(Math.abs(own.score - score / queryTerms.length) < 1e-9);
        }
        for (const { page } of found) {
          const isOfHeadings = asked.some((term) => pages[page]?.headings.includes(term));
          assert.ok(isOfHeadings || wanted.some(({ id }) => id === page));
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('files of texts may come in any order, and name pages that the site does not have', () => {
  const { titles } = filesOf([{ title: ['log'], headings: [], text: ['key'] }]);
  const first: TermsFile = {
    terms: ['key', 'log'],
    inText: [encodeFrequencies([0]), encodeFrequencies([400])],
  };
  const second: TermsFile = { terms: ['token'], inText: [encodeFrequencies([3])] };
  const find = (files: readonly TermsFile[]) => {
    const index = createPageIndex(titles).withTexts(files);
    return index.find(words.map((term) => ({ term, weight: 1, units: 1 }))).pages;
  };
  assert.deepEqual(find([first, second]), find([second, first]));
  assert.deepEqual(
    find([first, second]).map(({ page }) => page),
    [0],
  );
});

test('a query reads its own words and then the rarest, and not all that a letter begins', () => {
  const pages = 4000;
  const first = (count: number): string => encodePages(Array.from({ length: count }, (_, page) => page));
  const begun = Array.from({ length: 1000 }, (_, at) => `a${String(at).padStart(4, '0')}`);
  /** The rarest last. */
  const inTitle = begun.map((_, at) => first(1000 - at));
  const titles: TitlesFile = {
    ...{ paths: Array.from({ length: pages }, (_, at) => `${at}`), titles: [], lengths: '' },
    ...{ terms: ['a', ...begun], inTitle: [first(pages), ...inTitle], inHeadings: [] },
  };
  const wanted = ['a', ...begun].map((term) => ({ term, weight: term === 'a' ? 1 : 0.3, units: 1 }));
  for (const asked of [wanted, wanted.toReversed()]) {
    const found = createPageIndex(titles).withTexts([]).find(asked);
    const terms = found.termsOf(0);
    assert.equal(found.pages.length, pages);
    assert.ok(terms.has('a') && terms.has('a0999') && !terms.has('a0000'));
    // 435 lists of 1 to 435 pages, with the word itself.
    assert.ok(terms.size > 400 && terms.size < 450, `${terms.size} lists were read`);
  }
});
