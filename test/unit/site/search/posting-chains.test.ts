import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLanguageIndex } from '#site/search/language-index.ts';
import { createPostingChains, noPostings } from '#site/search/posting-chains.ts';
import * as fc from '../../../support/properties.ts';

test('each chain reads as it was appended, whatever was appended to others', () => {
  const step = fc.record({ chain: fc.nat(5), posting: fc.nat(2 ** 31 - 1) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const chains = createPostingChains();
      const names = Array.from({ length: 6 }, () => noPostings);
      const wanted = names.map((): number[] => []);
      for (const { chain, posting } of steps) {
        names[chain] = chains.append(names[chain] ?? noPostings, posting);
        wanted[chain]?.push(posting);
        assert.equal(chains.last(names[chain] ?? noPostings), posting);
      }
      assert.deepEqual(
        names.map((name) => chains.read(name)),
        wanted,
      );
    }),
  );
});

test('a chain is as long as a site has pages, over many blocks', () => {
  const chains = createPostingChains();
  const postings = Array.from({ length: 100_000 }, (_, at) => 3 * at);
  const name = postings.reduce((chain, posting) => chains.append(chain, posting), noPostings);
  assert.deepEqual(chains.read(name), postings);
  assert.equal(chains.last(noPostings), undefined);
});

test('chains hold 128 MB and refuse more, because no limit of a heap counts them', () => {
  const chains = createPostingChains();
  const most = 16 * 1024 * 1024;
  for (let posting = 0; posting < most; posting += 1) chains.append(noPostings, posting);
  assert.throws(() => chains.append(noPostings, 0), { code: 'SearchTooLarge' });
});

test('the languages of a site share the limit of its postings', () => {
  const postings = createPostingChains(5);
  const page = (text: string) => ({
    ...{ title: '', description: '', language: undefined, direction: undefined, isIndexed: true },
    ...{ links: [], main: [], isCut: false, sections: [{ heading: '', level: 1, id: undefined, text }] },
  });
  const [first, second] = ['en', 'de'].map((language) => createLanguageIndex(language, 2, postings));
  first?.add('a.html', page('one two three'));
  first?.finish();
  second?.add('b.html', page('eins zwei'));
  second?.finish();
  second?.add('c.html', page('drei'));
  assert.throws(() => second?.finish(), { code: 'SearchTooLarge' });
});
