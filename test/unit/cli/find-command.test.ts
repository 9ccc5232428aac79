// Which command a command line names, and what is printed where it names none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandSections, commands } from '#bin/static-export-commands.ts';
import { calledName } from '#cli/command.ts';
import { findCommand } from '#cli/find-command.ts';
import { readBasePath } from '#server/http/request-path.ts';

const find = (...args: string[]) => findCommand(args, commandSections, '1.2.3');

for (const [args, words, rest] of [
  [['export', 'docs.example.com', '--to', 'x'], 'export', ['docs.example.com', '--to', 'x']],
  [['bundle', 'inspect', 'site.tar'], 'bundle inspect', ['site.tar']],
  [['bundle', 'pack', 'public', 'site.tar'], 'bundle pack', ['public', 'site.tar']],
  [['bundle', 'repair', 'site.tar', '--dry-run'], 'bundle repair', ['site.tar', '--dry-run']],
  [['bundle', 'verify', '--help'], 'bundle verify', ['--help']],
  [['help', 'export'], 'export', ['--help']],
  [['help', 'bundle', 'verify'], 'bundle verify', ['--help']],
] as const) {
  test(`"${args.join(' ')}" is the command ${words}`, () => {
    const found = find(...args);
    assert.ok(found.kind === 'command');
    assert.deepEqual([found.command.words, found.args], [words, rest]);
  });
}

const printed: readonly (readonly [readonly string[], 'print' | 'refuse', RegExp, RegExp])[] = [
  [[], 'refuse', /a command is missing/, /bundle inspect/],
  [['--help'], 'print', /^Usage: static-export COMMAND/, /export +exports/],
  [['help', 'bundle'], 'print', /^Usage: static-export bundle COMMAND/, /bundle pack/],
  [['bundle', '--help'], 'print', /^Usage: static-export bundle COMMAND/, /bundle diff/],
  [['bundle'], 'refuse', /a command is missing/, /Usage: static-export bundle COMMAND/],
  [
    ['bundle', 'inpsect', 'x.tar'],
    'refuse',
    /did you mean "bundle inspect"\?/,
    /Run "static-export bundle --help" for/,
  ],
  [['bundle', '-o', 'json'], 'refuse', /^static-export bundle: a command is missing/, /bundle COMMAND/],
  [['bundel'], 'refuse', /did you mean "bundle"\?/, /Run "static-export --help" for/],
  [['bundle', 'frobnicate'], 'refuse', /no such command\n/, /Run "static-export bundle --help" for/],
  [['xyz'], 'refuse', /there is no such command\n/, /Run "static-export --help" for/],
  [['exprot'], 'refuse', /did you mean "export"\?/, /Run "static-export --help" for/],
  [['-o', 'json', 'get'], 'refuse', /: flags follow the command\n/, /Run "static-export --help" for/],
  [['diff', 'a.tar'], 'refuse', /did you mean "bundle diff"\?\n/, /Run "static-export --help" for/],
  [['gaps'], 'refuse', /did you mean "conversations gaps"\?\n/, /./],
  [['inspect'], 'refuse', /did you mean "bundle inspect" or "kit inspect"\?\n/, /./],
  [['list'], 'refuse', /use "get", which lists StaticExports\n/, /./],
  [['install'], 'refuse', /"helm upgrade --install" with its chart; "doctor --pre"/, /./],
  [['init'], 'refuse', /use "export DOMAIN --to FOLDER"/, /./],
  [['keygen'], 'refuse', /"minisign -G -p kit\.pub -s kit\.key"/, /./],
  [['kit', 'keygen'], 'refuse', /"minisign -G/, /Run "static-export kit --help" for/],
  [['bundle', 'list', 'x.tar'], 'refuse', /use "bundle inspect ARCHIVE --files"/, /./],
  [['-v'], 'print', /^static-export 1\.2\.3\n$/, /./],
  [['--version'], 'print', /^static-export 1\.2\.3\n$/, /./],
];
for (const [args, kind, first, second] of printed) {
  test(`"static-export ${args.join(' ')}" prints ${kind === 'refuse' ? 'an error' : 'help'}`, () => {
    const found = find(...args);
    assert.ok(found.kind === kind);
    assert.match(found.text, first);
    assert.match(found.text, second);
    if (found.kind === 'refuse') assert.ok(found.text.startsWith(`${found.command}: ${found.reason}\n`));
  });
}

test('a word that is not a command is not repeated, because it may be a key or a link', () => {
  for (const secret of ['svc_secret', 'https://storage.example.com/x?signature=secret', 'secretword']) {
    const found = find(secret);
    assert.ok(found.kind === 'refuse');
    assert.doesNotMatch(found.text, /secret/);
  }
});

test('every command that a hint names is one', () => {
  const words = [
    ...'list ls show describe info watch create add apply delete remove rm edit install upgrade uninstall deploy'.split(
      ' ',
    ),
    ...'init new keygen login auth publish sync trigger start refresh renew pause stop unpause approve undo'.split(
      ' ',
    ),
    ...'check validate lint test download versions verify pack serve prune import'.split(' '),
  ];
  for (const word of words) {
    const found = find(word);
    assert.ok(found.kind === 'refuse', word);
    const named = [...found.reason.matchAll(/"([a-z][^"]*)"/g)].map(([, text = '']) => text);
    assert.ok(named.length > 0 || found.reason.includes('--key-file'), word);
    for (const text of named) {
      const isOther = /^(?:kubectl|helm|minisign|tar) /.test(text);
      assert.ok(isOther || find(...text.split(' ')).kind === 'command', text);
    }
  }
});

test('each command explains itself, and its examples are its own command lines', () => {
  for (const command of commands) {
    const line = command.read(['--help'], {});
    assert.ok(line.outcome === 'print');
    assert.match(line.text, new RegExp(`^Usage: static-export ${command.words} `));
    for (const example of command.description.examples ?? []) {
      const words = example
        .replaceAll(/\\\n/g, ' ')
        .replaceAll('"$DIGEST"', 'a'.repeat(64))
        .split(/ +/)
        .slice(1);
      const found = find(...words);
      assert.ok(found.kind === 'command' && found.command === command, example);
      assert.equal(found.command.read(found.args, {}).outcome, 'run', example);
    }
  }
});

test('no line of help is wider than a terminal of 80 columns', () => {
  const texts = [[], ['bundle']].map((words) => find(...words, '--help'));
  const helps = commands.map((command) => command.read(['--help'], {}));
  for (const text of [...texts, ...helps].map((one) => ('text' in one ? one.text : assert.fail()))) {
    for (const line of text.split('\n')) assert.ok(line.length <= 80, line);
  }
});

test('as a plugin of kubectl, texts name it as it is called', () => {
  const called = calledName('/usr/local/bin/kubectl-static_export');
  assert.equal(calledName('/usr/local/bin/static-export'), 'static-export');
  const help = findCommand(['--help'], commandSections, '1.2.3', called);
  assert.ok(help.kind === 'print');
  assert.match(help.text, /^Usage: kubectl static-export COMMAND/);
  assert.doesNotMatch(help.text, /(?<!kubectl )static-export [a-z]*COMMAND/);
  for (const command of commands) {
    const line = command.read(['--help'], {}, undefined, called);
    assert.ok(line.outcome === 'print');
    const bare = line.text.match(/(?<!kubectl )\bstatic-export [a-z]+/g);
    assert.deepEqual(bare, null, command.words);
  }
});

test('a base path that bundle serve accepts is one that the server accepts', () => {
  const serve = commands.find((one) => one.words === 'bundle serve') ?? assert.fail();
  const paths = [
    '/',
    '',
    'docs',
    '/docs/',
    '/a/b',
    '/a.b/..c',
    '/ä',
    '../x',
    '/a/../b',
    '/./a',
    '/a//b',
    '//',
  ];
  const accepted = paths.filter(
    (path) => serve.read(['site.tar', '--base-path', path], {}).outcome === 'run',
  );
  assert.deepEqual(accepted, ['/', '', 'docs', '/docs/', '/a/b', '/a.b/..c', '/ä', '//']);
  for (const path of accepted) assert.notEqual(readBasePath(path), undefined, path);
  for (const path of ['a?b', 'a#b', 'a\\b', 'a b', '/a/..'])
    assert.equal(serve.read(['site.tar', '--base-path', path], {}).outcome, 'refuse', path);
});
