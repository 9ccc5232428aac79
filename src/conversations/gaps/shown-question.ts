// A visitor's question as a report shows it: one line, short, printable, and without what names a person or opens a door.
// Refuses: e-mail and IP addresses, long numbers, keys, and what follows a "?" in an address. Masks are a net, not a proof.

import { printable } from '#platform/wire/printable-text.ts';

const longestQuestion = 160;
/** Masks read no more of a question than this. */
const longestRead = 400;

const masks: readonly (readonly [RegExp, string])[] = [
  [/[^\s@<>()"']{1,64}(?:@|%40)[^\s@<>()"',]{1,255}/g, '[e-mail]'],
  [/(https?:\/\/[^\s?#]{1,200})[?#]\S{0,400}/gi, '$1'],
  [/\b(?:sk|pk|svc|ghp|gho|xox[a-z]|key|token|secret|bearer)[_-][\w-]{8,200}/gi, '[key]'],
  // Letters with digits, too long for a word or a version.
  [/\b(?=[\w-]{0,200}\d)(?=[\w-]{0,200}[a-z])[\w-]{24,200}/gi, '[key]'],
  [/(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)/g, '[address]'],
  [/(?<![\w:])(?:[\da-f]{1,4}(?::[\da-f]{0,4}){3,7}|[\da-f]{1,4}::[\da-f]{1,4})(?![\w:])/gi, '[address]'],
  [/\+?\d(?:[\s().-]?\d){6,30}/g, '[number]'],
];

export function shownQuestion(question: string): string {
  const line = question.slice(0, longestRead).replace(/\s+/g, ' ').trim();
  const masked = masks.reduce((text, [pattern, mask]) => text.replace(pattern, mask), line);
  // A copy: a slice would keep the whole question in memory.
  return Buffer.from(printable(masked, longestQuestion)).toString();
}
