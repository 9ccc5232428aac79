import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markText } from '#site/search/excerpts.ts';
import { eachWord, termsOfWord } from '#site/search/terms.ts';
import * as fc from '../../../support/properties.ts';

test('the words that are marked are those with a wanted term, however they are written', () => {
  const word = fc.constantFrom(
    ...'key Keys max_size json.dumps createServer clé ﬁle FILE 更新キー İstanbul ısı ISI a.b 1.5 -—'.split(
      ' ',
    ),
  );
  const text = fc.array(fc.tuple(word, fc.constantFrom(' ', ' ', '.', ', ', '—', '')), { maxLength: 12 });
  const terms = fc.uniqueArray(
    fc.oneof(
      word.map((one) => termsOfWord(one, 'en').at(-1) ?? 'x'),
      fc.string({ unit: fc.constantFrom(...'aekz1.'), minLength: 1, maxLength: 3 }),
    ),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(text, terms, fc.constantFrom('en', 'tr', 'ja'), (pieces, wanted, language) => {
      const whole = pieces.flat().join('');
      const marks: (readonly [number, number])[] = [];
      eachWord(whole, language, (one, at) => {
        if (termsOfWord(one, language).some((term) => wanted.includes(term)))
          marks.push([at, at + one.length]);
      });
      assert.deepEqual(markText(whole, new Set(wanted), language).marks, marks);
    }),
    { numRuns: 1000 },
  );
});
