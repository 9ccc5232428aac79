// What the search says, in the languages that documentation is written in most. One table. Pure. A page in another language gets
// English. Refuses sentences whose grammar depends on a number: "Results: 5" is right in each language.

export interface Phrases {
  /** Of this table, for the `lang` of the element. */
  readonly language: string;
  readonly search: string;
  readonly results: string;
  readonly noResults: string;
  readonly failed: string;
  readonly close: string;
  readonly open: string;
  readonly move: string;
}

type Row = readonly [
  search: string,
  results: string,
  noResults: string,
  failed: string,
  close: string,
  open: string,
  move: string,
];

const rows: Readonly<Record<string, Row>> = {
  en: [
    'Search',
    'Results',
    'No results for',
    'The search did not load. Reload the page.',
    'Close',
    'Open',
    'Move',
  ],
  de: [
    'Suchen',
    'Ergebnisse',
    'Keine Ergebnisse für',
    'Die Suche wurde nicht geladen. Laden Sie die Seite neu.',
    'Schließen',
    'Öffnen',
    'Bewegen',
  ],
  fr: [
    'Rechercher',
    'Résultats',
    'Aucun résultat pour',
    'La recherche n’a pas pu être chargée. Rechargez la page.',
    'Fermer',
    'Ouvrir',
    'Naviguer',
  ],
  es: [
    'Buscar',
    'Resultados',
    'Sin resultados para',
    'No se pudo cargar la búsqueda. Recargue la página.',
    'Cerrar',
    'Abrir',
    'Mover',
  ],
  pt: [
    'Pesquisar',
    'Resultados',
    'Nenhum resultado para',
    'Não foi possível carregar a pesquisa. Recarregue a página.',
    'Fechar',
    'Abrir',
    'Mover',
  ],
  it: [
    'Cerca',
    'Risultati',
    'Nessun risultato per',
    'Impossibile caricare la ricerca. Ricaricare la pagina.',
    'Chiudi',
    'Apri',
    'Sposta',
  ],
  nl: [
    'Zoeken',
    'Resultaten',
    'Geen resultaten voor',
    'De zoekfunctie is niet geladen. Laad de pagina opnieuw.',
    'Sluiten',
    'Openen',
    'Verplaatsen',
  ],
  pl: [
    'Szukaj',
    'Wyniki',
    'Brak wyników dla',
    'Nie udało się wczytać wyszukiwarki. Odśwież stronę.',
    'Zamknij',
    'Otwórz',
    'Przejdź',
  ],
  ru: [
    'Поиск',
    'Результаты',
    'Ничего не найдено по запросу',
    'Не удалось загрузить поиск. Обновите страницу.',
    'Закрыть',
    'Открыть',
    'Перейти',
  ],
  ja: [
    '検索',
    '結果',
    '結果が見つかりません:',
    '検索を読み込めませんでした。ページを再読み込みしてください。',
    '閉じる',
    '開く',
    '移動',
  ],
  ko: [
    '검색',
    '결과',
    '결과 없음:',
    '검색을 불러오지 못했습니다. 페이지를 새로 고치세요.',
    '닫기',
    '열기',
    '이동',
  ],
  zh: ['搜索', '结果', '没有找到结果:', '无法加载搜索。请重新加载页面。', '关闭', '打开', '移动'],
  'zh-hant': ['搜尋', '結果', '找不到結果:', '無法載入搜尋。請重新載入頁面。', '關閉', '開啟', '移動'],
  ar: ['بحث', 'النتائج', 'لا توجد نتائج لـ', 'تعذّر تحميل البحث. أعد تحميل الصفحة.', 'إغلاق', 'فتح', 'تنقّل'],
  he: [
    'חיפוש',
    'תוצאות',
    'אין תוצאות עבור',
    'טעינת החיפוש נכשלה. יש לטעון מחדש את הדף.',
    'סגירה',
    'פתיחה',
    'מעבר',
  ],
  fa: [
    'جستجو',
    'نتایج',
    'نتیجه‌ای یافت نشد برای',
    'جستجو بارگذاری نشد. صفحه را دوباره بارگذاری کنید.',
    'بستن',
    'باز کردن',
    'جابه‌جایی',
  ],
};

const english = 'en';

/** @param language of the page, as its `lang` says; any text */
export function phrasesFor(language: string): Phrases {
  const lower = language.trim().toLowerCase().replaceAll('_', '-');
  const [primary = ''] = lower.split('-');
  const isTraditional = primary === 'zh' && /-(?:hant|tw|hk|mo)\b/.test(lower);
  const known = Object.hasOwn(rows, primary) ? primary : english;
  const key = isTraditional ? 'zh-hant' : known;
  const row = rows[key] ?? rows[english] ?? [];
  const [search = '', results = '', noResults = '', failed = '', close = ''] = row;
  const [open = '', move = ''] = row.slice(5);
  return { language: key, search, results, noResults, failed, close, open, move };
}

/** The texts of all languages, for what must hold for each. */
export const phraseLanguages: readonly string[] = Object.keys(rows);
