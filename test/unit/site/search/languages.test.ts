// What readers of each language type, and which page they mean: forms of a word, diacritics, umlauts, text without blanks, harakat.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MemorySite } from '../../../support/memory-bundle.ts';
import { builtSearch } from './built-search.ts';

const page = (language: string, title: string, text: string): string =>
  `<html lang="${language}"><title>${title}</title><main><h1>${title}</h1><p>${text}</p></main>`;
const sites: Readonly<Record<string, MemorySite>> = {
  en: {
    'exports.html': page(
      'en',
      'Exporting a site',
      'An export copies each page. Exports are kept for a week.',
    ),
    'policies.html': page('en', 'Retention policies', 'Old copies are deleted.'),
    'cafe.html': page('en', 'The café example', 'A naïve résumé of the shop.'),
    'config.html': page('en', 'Reference', 'Set maxReplicaCount and pool.min_size before createServer runs.'),
    'house.html': page('en', 'Houses', 'A home.'),
  },
  de: {
    'haus.html': page('de', 'Häuser verwalten', 'Jedes Haus hat einen Schlüssel.'),
    'strasse.html': page('de', 'Straßen und Maße', 'Größenangaben in Metern.'),
    'einstellung.html': page('de', 'Einstellungen', 'Die Verbindung wird gespeichert.'),
    'export.html': page('de', 'Exporte planen', 'Der Export läuft nachts.'),
  },
  ja: {
    'key.html': page('ja', 'APIキーの更新', '古いキーは一週間後に無効になります。'),
    'search.html': page('ja', '全文検索の設定', 'データベース接続を確認してください。'),
    'tokyo.html': page('ja', '東京リージョン', '東京都のデータセンターを使います。'),
    'guide.html': page('ja', 'ガイド', '半角ｶﾅも検索できます。'),
  },
  ar: {
    'settings.html': page('ar', 'إعدادات المستخدم', 'يمكن للمستخدمين تغيير كلمة المرور.'),
    'library.html': page('ar', 'المكتبة', 'مَكْتَبَةٌ فيها كُتُبٌ كثيرة.'),
    'search.html': page('ar', 'البحث في الموقع', 'ابحث عن الصفحات والملفات.'),
  },
};

for (const [language, query, path] of [
  ['en', 'export', 'exports.html'],
  ['en', 'exported pages', 'exports.html'],
  ['en', 'policy', 'policies.html'],
  ['en', 'deleting', 'policies.html'],
  ['en', 'cafe', 'cafe.html'],
  ['en', 'RESUME naive', 'cafe.html'],
  ['en', 'replica count', 'config.html'],
  ['en', 'pool.min_size', 'config.html'],
  ['en', 'min size', 'config.html'],
  ['en', 'createserver', 'config.html'],
  ['en', 'retnetion', 'policies.html'],
  ['en', 'house', 'house.html'],
  ['de', 'Haus', 'haus.html'],
  ['de', 'haeuser', 'haus.html'],
  ['de', 'hauser', 'haus.html'],
  ['de', 'schluessel', 'haus.html'],
  ['de', 'strasse', 'strasse.html'],
  ['de', 'Straße', 'strasse.html'],
  ['de', 'Masse', 'strasse.html'],
  ['de', 'groesse', 'strasse.html'],
  ['de', 'Einstellung', 'einstellung.html'],
  ['de', 'Verbindungen', 'einstellung.html'],
  ['de', 'Exporten', 'export.html'],
  ['ja', '更新', 'key.html'],
  ['ja', 'APIキー', 'key.html'],
  ['ja', '無効', 'key.html'],
  ['ja', '検索設定', 'search.html'],
  ['ja', 'データベース', 'search.html'],
  ['ja', 'ベース', 'search.html'],
  ['ja', '接続', 'search.html'],
  ['ja', '東京', 'tokyo.html'],
  ['ja', 'センター', 'tokyo.html'],
  ['ja', 'ｶﾞｲﾄﾞ', 'guide.html'],
  ['ja', 'カナ', 'guide.html'],
  ['ar', 'مستخدم', 'settings.html'],
  ['ar', 'المستخدمين', 'settings.html'],
  ['ar', 'اعدادات', 'settings.html'],
  ['ar', 'مكتبة', 'library.html'],
  ['ar', 'مكتبه', 'library.html'],
  ['ar', 'كُتُب', 'library.html'],
  ['ar', 'كتب', 'library.html'],
  ['ar', 'بحث', 'search.html'],
  ['ar', 'ملفات', 'search.html'],
] as const) {
  test(`${query} finds ${path} (${language})`, async () => {
    const { results } = await (await builtSearch(sites[language] ?? {})).find(query, language);
    assert.equal(results[0]?.path, path);
    const [{ title, heading, excerpt }] = results;
    const marked = [title, heading, excerpt].flatMap(({ marks }) => marks);
    assert.ok(marked.length > 0, 'the result shows what was found');
  });
}
