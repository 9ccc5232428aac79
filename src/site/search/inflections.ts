// What a reader's word has in common with its other forms, so that a search finds these as words with the same beginning. Imports
// nothing. Refuses dictionaries: a few endings of each language, taken off only where enough of the word remains. The index holds
// words as pages write them.

/** Endings in folded form, longest first. */
const endingsOf: Readonly<Record<string, string>> = {
  en: 'izations ization ations ation ingly ments ment ings ing edly ied ies ers est er ed es ly s y e',
  de: 'ungen ung erinnen innen ern ers en er es em est te ten n e s',
  fr: 'issements issement ements ement ations ation euses euse eaux aux ables able ees ee es er ez ent ait ant s e x',
  es: 'aciones acion amientos amiento adoras adores ando iendo ados adas ado ada idos idas ido ida ar er ir es os as s o a e',
  pt: 'acoes acao amentos amento ando endo indo ados adas ado ada idos idas ido ida ar er ir es os as s o a e',
  it: 'azioni azione amenti amento ando endo ati ate ato ata iti ite ito ita are ere ire i e o a',
  nl: 'ingen ing heden heid eren en er s e',
  sv: 'ningar ningen ning arna erna orna ar er or en et n a',
  da: 'ninger ningen ning erne ene er en et e',
  no: 'ninger ningen ning ene er en et e',
  fi: 'ssa sta lla lta lle ksi ina na t n a',
  pl: 'ania anie ami ach owi om ow ie y i a e o u',
  cs: 'ami ach ovi um y i a e u',
  ru: 'иями ями ами иях ях ах ого его ому ему ыми ими ение ения ать ить ой ей ом ем ов ев ая яя ое ее ые ие ый ий ы и а я о е у ю ь',
  uk: 'ями ами ях ах ого ому ими ення ати ити ої ою ом ів ій а я и і у ю о е ь',
  el: 'ους ων ος ης ας ες οι ου α η ο ι',
  ar: 'هما هم هن كم نا ها ات ون ين ان وه يه ه ي ك ا',
  he: 'ים ות ה',
  tr: 'larin lerin lari leri lar ler nin nun in un i u e a',
  ko: '에서는 에서 으로 에게 까지 부터 하는 하기 은 는 이 가 을 를 에 의 로 와 과 도',
  hu: 'okat eket ban ben nak nek val vel ok ek ot et at t k',
};
const listOfEndings: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(endingsOf).map(([language, endings]) => [language, endings.split(' ')]),
);
/** What has to remain: in alphabets enough letters to mean something. */
const shortestStem = 3;
const shortestKoreanStem = 2;

/**
 * The beginning that the other forms of a word share with it; `undefined` for a word without a known ending.
 *
 * @param term folded
 */
export function stemOf(term: string, language: string): string | undefined {
  const shortest = language === 'ko' ? shortestKoreanStem : shortestStem;
  const ending = listOfEndings
    .get(language)
    ?.find((one) => term.endsWith(one) && term.length - one.length >= shortest);
  return ending === undefined ? undefined : term.slice(0, term.length - ending.length);
}

/** Other spellings of a German word: `ae` stands for `ä`, which is folded to `a`. @param word as it is written */
export function spellingsOf(word: string, language: string): readonly string[] {
  if (language !== 'de') return [];
  const lower = word.toLowerCase();
  const found = new Set([
    lower.replaceAll('ä', 'ae').replaceAll('ö', 'oe').replaceAll('ü', 'ue'),
    lower.replace(/([aou])e/g, '$1'),
  ]);
  found.delete(lower);
  return [...found];
}
