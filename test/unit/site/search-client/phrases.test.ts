// What the search says in the language of a page, and in English where it knows no better.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { phraseLanguages, phrasesFor } from '#site/search-client/phrases.ts';

test('every language has every text', () => {
  for (const language of ['en', 'de', 'fr', 'es', 'ja', 'zh', 'ar', 'pt']) {
    assert.ok(phraseLanguages.includes(language), language);
  }
  for (const language of phraseLanguages) {
    const texts = Object.entries(phrasesFor(language));
    assert.equal(phrasesFor(language).language, language);
    assert.deepEqual(
      texts.filter(([, text]) => text.trim() === ''),
      [],
      language,
    );
  }
});

for (const [page, language] of [
  ['de-AT', 'de'],
  ['PT_br', 'pt'],
  ['zh-CN', 'zh'],
  ['zh-TW', 'zh-hant'],
  ['zh-Hant-HK', 'zh-hant'],
  ['tlh', 'en'],
  ['', 'en'],
  ['constructor', 'en'],
] as const) {
  test(`a page whose language is "${page}" gets the texts of ${language}`, () => {
    assert.equal(phrasesFor(page).language, language);
  });
}
