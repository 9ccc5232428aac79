import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachWord, foldWord, isOwnTerm, maxTermLength, termsOfWord } from '#site/search/terms.ts';
import * as fc from '../../../support/properties.ts';

const wordsOf = (text: string, language = 'en'): readonly string[] => {
  const words: string[] = [];
  eachWord(text, language, (word, at) => {
    assert.equal(text.slice(at, at + word.length), word);
    words.push(word);
  });
  return words;
};

for (const [text, words] of [
  ["It's a well-known fact: C++ 3.11!", ['It', 's', 'a', 'well', 'known', 'fact', 'C', '3.11']],
  ['json.dumps(max_size) and docs.example.com.', ['json.dumps', 'max_size', 'and', 'docs.example.com']],
  ['東京都に行く', ['東京', '都', 'に', '行く']],
  ['APIキーを更新', ['API', 'キー', 'を', '更新']],
  ['更新 keys 更新', ['更新', 'keys', '更新']],
  ['สวัสดีชาวโลก', ['สวัสดี', 'ชาว', 'โลก']],
  ['문서를 검색', ['문서를', '검색']],
] as const) {
  test(`the words of ${text}`, () => {
    assert.deepEqual(wordsOf(text, 'ja'), words);
  });
}

test('letters of any script, digits and dots make the same words as one expression does', () => {
  const expression = /[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*(?:\.[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*)*/gu;
  const letter = fc.constantFrom(...'aZ9_.., -é\u{301}Жب𝒳’—\u{d835}\u{dcb3}', '\u{1f600}');
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: letter }), fc.string({ unit: 'grapheme-ascii' })), (text) => {
      assert.deepEqual(
        wordsOf(text),
        [...text.matchAll(expression)].map(([word]) => word),
      );
    }),
    { numRuns: 2000 },
  );
});

test('a word that is its own term has no other', () => {
  const word = fc.string({ unit: fc.constantFrom(...'ab9_.Aé'), maxLength: maxTermLength + 2 });
  fc.assert(
    fc.property(word, (text) => {
      if (isOwnTerm(text)) assert.deepEqual(termsOfWord(text, 'tr'), [text]);
    }),
  );
  assert.ok(isOwnTerm('index2'));
});

for (const [word, folded] of [
  ['Élève', 'eleve'],
  ['HÄUSER', 'hauser'],
  ['Straße', 'strasse'],
  ['Øresund', 'oresund'],
  ['ﬁle', 'file'],
  ['ＡＰＩ', 'api'],
  ['ｶﾞｲﾄﾞ', 'ガイド'],
  ['がいど', 'がいど'],
  ['검색', '검색'],
  ['مُسْتَخْدِم', 'مستخدم'],
  ['المستخدم', 'مستخدم'],
  ['إعدادات', 'اعدادات'],
  ['مكتبة', 'مكتبه'],
  ['٢٠٢٦', '2026'],
  ['שָׁלוֹם', 'שלום'],
  ['Ёлка', 'елка'],
  ['so\u{ad}ft', 'soft'],
] as const) {
  test(`${word} is folded to ${folded}`, () => {
    assert.equal(foldWord(word, 'en'), folded);
  });
}

test('Turkish has a letter of its own for a capital I', () => {
  assert.equal(foldWord('IŞIK', 'tr'), foldWord('ışık', 'tr'));
});

for (const [word, terms] of [
  ['json.dumps', ['json.dumps', 'json', 'dumps']],
  ['max_size', ['max_size', 'max', 'size']],
  ['createHTTPServer', ['createhttpserver', 'create', 'http', 'server']],
  ['3.11', ['3.11', '3', '11']],
  ['plain', ['plain']],
  ['データベース', ['データベース', 'ータベース', 'タベース', 'ベース', 'ース']],
  ['東京', ['東京']],
] as const) {
  test(`${word} is found under ${terms.join(', ')}`, () => {
    assert.deepEqual(termsOfWord(word, 'en'), terms);
  });
}

test('words lie where they are said to be, and no term is longer than its bound', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 60 });
  fc.assert(
    fc.property(text, fc.constantFrom('en', 'ja', 'tr', 'not a language'), (drawn, language) => {
      for (const word of wordsOf(drawn, language)) {
        for (const term of termsOfWord(word, language)) assert.ok(term.length <= 40);
      }
    }),
    { numRuns: 1000 },
  );
});
