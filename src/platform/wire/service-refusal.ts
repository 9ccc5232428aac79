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
const rateCodes = /rate_?limit|throttl|too_?many|request_?limit|slow_?down/i;
/** What is absent or damaged is neither full nor protected. */
const otherCodes = /_UNKNOWN$|^(?:DIGEST|SIZE|NAME)_INVALID$/;
const codeKinds: readonly (readonly [RefusalKind, RegExp])[] = [
  [
    'Full',
    /quota|storage_?full|cap_?exceeded|limit_?exceeded|enospc|(?:no|insufficient)_?(?:space|storage|capacity)/i,
  ],
  ['Key', /(?:^|[._])kms/i],
  ['ReadOnly', /read_?only/i],
  ['Protected', /immutab|object_?lock|retention|legal_?hold|(?:^|_)worm(?:$|_)/i],
];

/** Whole words: a hyphen, a dot or a sign of an account's name makes a longer one. */
const whole = (words: string): RegExp =>
  new RegExp(String.raw`(?<![\w.$@+-])(?:${words})(?![\w$@+-]|\.\w)`, 'i');
/** A disk that is full stays so, whatever the status is. Other words of 5xx are about the moment. */
const diskWords = 'storage full|no space left|enospc|disk (?:usage|is full)';
const diskFull = whole(diskWords);
const full = whole(
  String.raw`${diskWords}|(?:over[- ]?)?quotas?|quota[-_]exceeded|upper limit|cap exceeded|limit exceeded|insufficient (?:storage|space|capacity)|(?:storage|capacity|space|project) (?:[\w']+ ){0,5}(?:limits?|exceed(?:s|ed)?|reached|full)`,
);
/** What a rule may keep; an account or a page is locked or protected for other reasons. */
const kept = String.raw`\b(?:tag|object|version|artifact|blob|image|manifest|repository|bucket)s?\b`;
const byRule = String.raw`(?<![\w.-])(?:locked|protected)(?![\w-])`;
const kinds: readonly (readonly [RefusalKind, RegExp])[] = [
  ['Full', full],
  ['Key', whole(String.raw`kms(?::\w+)?|encryption key`)],
  ['ReadOnly', whole('read[-_ ]?only')],
  [
    'Protected',
    whole(
      String.raw`immutab\w*|object[- ]?lock(?:ed|ing)?|worm(?:-protected)?|retention|legal hold|cannot be overwritten|${kept}[^.]{0,60}${byRule}|${byRule}[^.]{0,60}${kept}`,
    ),
  ],
];
/** Paths, links, ARNs, media types, and single words in quotes: names that people chose. */
const chosenNames = /\S*\/\S*|\barn:\S+|(["'`])[^\s"'`]+\1/gi;
const page = /<(?:!doctype|html|head|title|body|h[1-6]|p|div|center|script|style|br)\b/i;

/**
 * The code decides where it is specific, and otherwise the words.
 *
 * @param names of the caller's own, which may stand in the text
 * @returns `undefined` where nothing more is known than status and code
 */
export function kindOfRefusal(
  {
    status,
    code = '',
    text,
  }: Pick<ServiceRefusal, 'status' | 'text'> & { readonly code?: string | undefined },
  names: readonly string[] = [],
): RefusalKind | undefined {
  if (status === 507) return 'Full';
  if (status === 429 || rateCodes.test(code) || otherCodes.test(code)) return undefined;
  const ofCode = codeKinds.find(([, form]) => form.test(code))?.[0];
  // A key or a mode may fail for a moment.
  if (ofCode !== undefined && (status < 500 || ofCode === 'Full')) return ofCode;
  const start = text.slice(0, longestText);
  // 401 is about the credentials.
  if (status === 401 || page.test(start)) return undefined;
  const words = names
    .filter((name) => name !== '')
    .map((name) => new RegExp(String.raw`(?<![\w-])${RegExp.escape(name)}(?![\w-])`, 'gi'))
    .reduce((left, name) => left.replaceAll(name, ' '), start.replaceAll(chosenNames, ' '));
  if (rates.test(words)) return undefined;
  if (status >= 500) return diskFull.test(words) ? 'Full' : undefined;
  return kinds.find(([, form]) => form.test(words))?.[0];
}
