// Man pages and the Markdown reference describe every command, in text that no formatter takes for a request.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { commands } from '#bin/static-export-commands.ts';
import { exitCodes } from '#cli/exit-code.ts';
import { tapHelp } from '#conversations/commands/tap-arguments.ts';
import { type CommandReference, referenceOf } from '../../../packaging/command-reference.ts';
import { manPageOfHelp, manPages, readExitCodes } from '../../../packaging/man-pages.ts';
import { markdownReference } from '../../../packaging/markdown-reference.ts';

const readme = readFileSync(new URL('../../../src/cli/README.md', import.meta.url), 'utf8');
const references = commands.map(referenceOf);

test('every command has its page with its flags, and every group has one', () => {
  const pages = manPages(references, readExitCodes(readme), '1.2.3');
  for (const { words, flags } of references) {
    const page = pages.get(`static-export-${words.replaceAll(' ', '-')}.1`) ?? '';
    for (const { names, variable } of flags) {
      assert.ok(page.includes(`\\fB${names.at(-1)?.replaceAll('-', '\\-')}\\fR`), `${words} ${names}`);
      assert.ok(page.includes(variable), `${words} ${variable}`);
    }
  }
  assert.ok(pages.has('static-export-bundle.1'));
  assert.match(pages.get('static-export.1') ?? '', /^\.TH "STATIC-EXPORT" "1" "" "static-export 1\.2\.3"/);
});

test('the page of the Singer tap has each line of its help', () => {
  const [name, page] = manPageOfHelp('tap-static-export', 'a Singer tap', tapHelp, '1.2.3');
  assert.equal(name, 'tap-static-export.1');
  const words = (text: string): readonly string[] =>
    text
      .replaceAll('\\-', '-')
      .replaceAll('\\e', '\\')
      .match(/[\w$-]{3,}/g) ?? [];
  const shown = new Set(words(page));
  for (const word of words(tapHelp)) assert.ok(shown.has(word) || word === 'Usage', word);
});

test('the exit codes of a page are those of the README', () => {
  const codes = readExitCodes(readme).flatMap((one) => one.codes.split(', ').map(Number));
  assert.deepEqual(codes, Object.values(exitCodes));
});

test('text that a formatter would take for a request stays text', () => {
  const hostile: CommandReference = {
    words: 'get',
    summary: '.so /etc/passwd',
    usage: "'ignore",
    args: [{ placeholder: 'X', describe: '.de' }],
    flags: [],
    examples: ['.x', String.raw`a \ b`, 'déjà'],
  };
  const page = manPages([hostile], [], '1').get('static-export-get.1') ?? '';
  const requests = page.split('\n').filter((line) => /^[.']/.test(line));
  assert.deepEqual([...new Set(requests.map((line) => line.split(' ')[0]))].sort(), [
    ...['.EE', '.EX', '.SH', '.TH', '.TP', '.ad', '.nh'],
  ]);
  assert.match(page, /\n\\&'ignore\n/);
  assert.match(page, /\na \\e b\nd\\\[u00E9\]j\\\[u00E0\]\n/);
});

test('the reference names every flag of every command', () => {
  const page = markdownReference(references);
  const shared = page.split('\n## Shared flags\n')[1]?.split('\n## ')[0] ?? '';
  for (const { words, flags } of references) {
    const section = page.split(`\n## ${words}\n`)[1]?.split('\n## ')[0] ?? '';
    for (const { names } of flags) {
      const flag = new RegExp(`${names.at(-1)}[\` ]`);
      assert.match(section + shared, flag, words);
    }
  }
});
