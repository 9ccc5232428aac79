import assert from 'node:assert/strict';
import { test } from 'node:test';
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
