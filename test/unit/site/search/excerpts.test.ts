import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseSection, createReadBudget, markText } from '#site/search/excerpts.ts';
import type { StoredSection } from '#site/search/search-format.ts';
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

test('headings are read of the same budget as texts', () => {
  const rows = { ja: '設定を変更する方法について説明します', en: 'install the thing now ' };
  for (const [language, words] of Object.entries(rows)) {
    const heading = words.repeat(12).slice(0, 200);
    const sections = Array.from(
      { length: 1000 },
      (_, at): StoredSection => [heading, `a${at}`, at === 999 ? '方法 install' : ''],
    );
    const budget = createReadBudget();
    const whole = budget.left;
    const terms = new Set(['方法', 'install']);
    for (let page = 0; page < 4; page += 1) chooseSection(sections, terms, '', language, budget);
    assert.ok(budget.left < 0.3 * whole, `${language}: ${budget.left} of ${whole} left`);
    for (let page = 0; page < 6; page += 1) {
      const { anchor } = chooseSection(sections, terms, '', language, budget);
      assert.equal(anchor, 'a0');
    }
    assert.ok(budget.left >= 0);
  }
});

test('a page that nothing is left for shows its beginning', () => {
  const sections: readonly StoredSection[] = [
    ['First', 'first', 'One key.'],
    ['Key', 'key', 'Key.'],
  ];
  const { anchor, excerpt } = chooseSection(sections, new Set(['key']), '', 'en', { left: 0 });
  assert.deepEqual({ anchor, excerpt }, { anchor: 'first', excerpt: { text: 'One key.', marks: [] } });
});
