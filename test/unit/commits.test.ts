// Subjects of commits: `folder: verb what`, imperative, 72 characters at most. Earlier commits are older than the rule.
// Skipped where there is no git or no such history: in a shallow clone, an archive of the sources, an image's build.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { words } from '../support/words.ts';

/** The last commit before the rule. */
const base = '5fb7c0ccc327';
const longestSubject = 72;
/** Imperative verbs that end like other forms of a verb. */
const imperatives = new Set(words('bring embed exceed feed focus need proceed seed speed'));

/** What is wrong with a subject, or `undefined`. */
function faultOf(subject: string): string | undefined {
  if (subject.length > longestSubject) return `${subject.length} characters, at most ${longestSubject}`;
  if (/^Revert "/.test(subject)) return undefined;
  const verb = /^[a-z0-9][a-z0-9./-]*: ([a-z]+)\b/.exec(subject)?.[1];
  if (verb === undefined) return 'not of the form "folder: verb what"';
  const isImperative = imperatives.has(verb) || verb.endsWith('ss') || !/(?:ed|ing|s)$/.test(verb);
  return isImperative ? undefined : `"${verb}" is not an imperative`;
}

const rows: readonly (readonly [subject: string, fault: RegExp | undefined])[] = [
  ['operator: retry lost status writes', undefined],
  ['site/http: pass ranges on', undefined],
  ['site: process ranges', undefined],
  ['site: bring ranges back', undefined],
  ['Revert "site: bring ranges back"', undefined],
  [`site: ${'x'.repeat(66)}`, undefined],
  [`site: ${'x'.repeat(67)}`, /^73 characters, at most 72/],
  ['Retry lost status writes', /"folder: verb what"/],
  ['operator: Retry lost status writes', /"folder: verb what"/],
  ['operator: retries lost status writes', /"retries" is not an imperative/],
  ['operator: retried lost status writes', /"retried" is not an imperative/],
  ['operator: retrying lost status writes', /"retrying" is not an imperative/],
];
for (const [subject, fault] of rows) {
  test(`the subject "${subject}" is ${fault === undefined ? 'accepted' : 'refused'}`, () => {
    if (fault === undefined) assert.equal(faultOf(subject), undefined);
    else assert.match(faultOf(subject) ?? '', fault);
  });
}

test('the subject of every new commit follows the rule', (t) => {
  const args = ['log', '--no-merges', '--format=%h %s', `${base}..HEAD`];
  const { status, stdout } = spawnSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' });
  if (status !== 0) {
    t.skip(`no git here, or no history back to ${base}`);
    return;
  }
  const faults = stdout
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const fault = faultOf(line.slice(line.indexOf(' ') + 1));
      return fault === undefined ? [] : [`${line}: ${fault}`];
    });
  assert.deepEqual(faults, []);
});
