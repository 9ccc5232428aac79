// CONTRIBUTING.md's table of words as a check: phrases that readers stumbled over stay out of every text that a user
// reads. Phrases and not words, because "turn", "place" and "gate" are right elsewhere.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(import.meta.dirname, '../..');

/** Each with the text to write in its place. */
const banned: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\banew\b/i, 'again'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix'],
  [/\blook(?:s|ed|ing)? after\b/i, 'manage or watch'],
  [/\b(?:is|are|was|were) told\b/i, 'is reported'],
  [/\b(?:whoever|somebody|nobody|anybody)\b/i, 'the actor'],
  [/\bbe had\b/i, 'be obtained'],
  [/\b(?:dead link|link (?:is dead|dies|lives))\b/i, 'an expired link, the link expires, the link is valid'],
  [/\bits life\b/i, 'its lifetime'],
  [/\bmint(?:s|ed|ing)?\b/i, 'issue'],
  [/\b(?:its|an|unknown|own) authorit(?:y|ies)\b/i, 'CA certificate'],
  [/\bnext try\b|\bis tried again\b/i, 'retry'],
  [/\bneeds a person\b|\bonly a person can\b/i, 'needs manual action'],
  [/\bthe API forbids\b|\bforbids this to the key\b/i, 'the export API returned 403'],
];

const documents = [
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'crds/README.md',
  'crds/staticexports.staticexport.dev.yaml',
  'src/operator/staticexport/reasons.ts',
  'src/operator/reconcile/status/reason-details.ts',
  'src/operator/reconcile/status/failure-words.ts',
  'src/operator/reconcile/status/ready-words.ts',
  'src/operator/flags.ts',
  'src/server/server-flags.ts',
];
const ofCharts = readdirSync(join(root, 'charts'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /(?:README|docs\/[a-z-]+)\.md$|values\.yaml$|NOTES\.txt$|_alerts\.tpl$/.test(name))
  .map((name) => join('charts', name));

for (const name of [...documents, ...ofCharts]) {
  test(`${name} has no phrase that CONTRIBUTING.md replaces`, () => {
    const lines = readFileSync(join(root, name), 'utf8').split('\n');
    const found = lines.flatMap((line, index) =>
      banned
        .filter(([phrase]) => phrase.test(line))
        .map(([phrase, instead]) => `${name}:${index + 1} ${phrase.source}: write ${instead}`),
    );
    assert.deepEqual(found, []);
  });
}
