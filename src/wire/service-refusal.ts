// What a storage service says of a refusal, made safe: its code is shown, its text is compared and never shown. Registries
// and buckets share it, because vendors name the same faults in both. Refuses codes that may be a credential or a sentence.
// Invariant: no kind follows from a status alone, apart from 507.

import { tokenForms } from './token-forms.ts';

export interface ServiceRefusal {
  readonly status: number;
  /** Of {@link codeShown}. */
  readonly code: string | undefined;
  /** The service's own words, code included. May hold anything. */
  readonly text: string;
}

/**
 * `Full`: a quota or the disk. `Protected`: a rule keeps this content as it is. `ReadOnly`: the service takes no writes.
 * `Key`: a key of encryption cannot be used.
 */
export type RefusalKind = 'Full' | 'Protected' | 'ReadOnly' | 'Key';

const longestText = 2048;
const longestCode = 64;
/** Words in capitals, or in camel case, with dots and underscores between. */
const codeForm = /^(?:[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)*|[a-z]+(?:_[a-z]+)+|(?:[A-Z][a-z]*\d{0,3}\.?)+)$/;

/** @returns the code of a service, safe to publish; `undefined` for other text */
export function codeShown(code: unknown): string | undefined {
  if (typeof code !== 'string' || code.length > longestCode || !codeForm.test(code)) return undefined;
  const isToken = tokenForms.some((form) =>
    [...code.matchAll(form.pattern)].some(([match]) => form.isToken(match)),
  );
  return isToken ? undefined : code;
}

/** For messages: ` (DENIED)`, or nothing. */
export const codeInBrackets = (code: string | undefined): string => (code === undefined ? '' : ` (${code})`);

const rates = /\brate\b|\bthrottl|too ?many ?requests|requests? per |pull limit|slow ?down/i;
const full =
  /quota|upper limit|storage ?full|cap ?exceeded|(?:storage|capacity|space|project) (?:[\w']+ ){0,5}(?:limit|exceed|reached|full)|limit ?exceeded|no ?space ?left|enospc|insufficient ?(?:storage|space|capacity)|disk (?:usage|is full)/i;
/** A disk that is full stays so, whatever the status is. Other words of 5xx are about the moment. */
const diskFull = /storage ?full|no ?space ?left|enospc|disk (?:usage|is full)/i;
/** What a rule may keep; an account or a page is locked or protected for other reasons. */
const kept = '\\b(?:tag|object|version|artifact|blob|image|manifest|repository|bucket)s?\\b';
const byRule = '\\b(?:locked|protected)\\b';
const protectedWords = new RegExp(
  `\\bimmutab|\\bobject ?lock|\\bworm\\b|\\bretention\\b|legal hold|cannot be overwritten|${kept}[^.]{0,60}${byRule}|${byRule}[^.]{0,60}${kept}`,
  'i',
);
const kinds: readonly (readonly [RefusalKind, RegExp])[] = [
  ['Key', /\bkms\b|kms[.:A-Z]|encryption key/i],
  ['ReadOnly', /read[-_ ]?only/i],
  ['Protected', protectedWords],
];
/** Paths, links, ARNs and media types: names that people chose. */
const pathWords = /\S*\/\S*|\barn:\S+/gi;
const page = /<(?:!doctype|html|head|body)\b/i;

/**
 * @param names of the caller's own, which may stand in the text
 * @returns `undefined` where nothing more is known than status and code
 */
export function kindOfRefusal(
  { status, text }: Pick<ServiceRefusal, 'status' | 'text'>,
  names: readonly string[] = [],
): RefusalKind | undefined {
  if (status === 507) return 'Full';
  const start = text.slice(0, longestText);
  // 401 is about the credentials.
  if (status === 401 || status === 429 || page.test(start)) return undefined;
  const words = names
    .filter((name) => name !== '')
    .reduce((left, name) => left.replaceAll(name, ' '), start.replaceAll(pathWords, ' '));
  if (rates.test(words)) return undefined;
  if (status >= 500) return diskFull.test(words) ? 'Full' : undefined;
  if (full.test(words)) return 'Full';
  return kinds.find(([, form]) => form.test(words))?.[0];
}
