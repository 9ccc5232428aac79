// What may follow the words that were typed, by tables over the real commands.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commands } from '#bin/static-export-commands.ts';
import { sourceNames } from '#cli/completion/answer.ts';
import { offerFor } from '#cli/completion/offer.ts';

const offer = (line: string) => offerFor(line.split(' '), commands);
const fitting = (line: string): readonly string[] => {
  const { candidates, typed } = offer(line);
  assert.ok(Array.isArray(candidates), line);
  return candidates.filter((value: string) => value.startsWith(typed));
};

const values: readonly (readonly [line: string, expected: readonly string[]])[] = [
  ['bund', ['bundle']],
  ['bundle ver', ['verify']],
  ['help bundle d', ['diff']],
  ['xyz ', []],
  ['--ver', ['--version']],
  ['bundle --h', ['--help']],
  ['get --all', ['--all-namespaces']],
  ['get -o ', ['text', 'json', 'yaml']],
  ['get --output y', ['yaml']],
  ['get --output=y', ['yaml']],
  ['get --quiet=', ['true', 'false']],
  ['bundle serve --listen ', []],
  ['run --publish ', ['dir=', 'archive=']],
  ['completion ', ['bash', 'zsh', 'fish']],
  ['completion bash ', []],
  ['get docs --unknown ', []],
];
for (const [line, expected] of values) {
  test(`after "${line}" come: ${expected.join(', ') || 'nothing'}`, () => {
    const found = fitting(line);
    // A command may have formats of its own.
    const isPart = line.startsWith('get -o') || line.startsWith('get --output');
    assert.deepEqual(isPart ? found.filter((one) => expected.includes(one)) : found, expected);
  });
}

test('every command and every group can be completed from its first letter', () => {
  for (const { words } of commands) {
    const parts = words.split(' ');
    for (const [at, word] of parts.entries()) {
      const line = [...parts.slice(0, at), word.slice(0, 1)].join(' ');
      assert.ok(fitting(line).includes(word), `${word} after "${line}"`);
    }
  }
});

for (const line of [
  'bundle inspect ',
  'bundle pack public ',
  'run --file ',
  'run -f ',
  'export --to=',
  'get --kubeconfig ',
  'kit verify ',
  'kit verify docs.sxkit.001 docs.sxkit.002 ',
  'kit create --bundle ',
]) {
  test(`after "${line}" come files`, () => assert.equal(offer(line).candidates, 'files'));
}

for (const [line, source] of [
  ['get ', 'names'],
  ['pin -n team --yes ', 'names'],
  ['pin docs ', 'versions'],
  ['rollback --dry-run=client docs 2', 'versions'],
  ['promote docs ', 'candidates'],
  ['get -n ', 'namespaces'],
  ['status docs --namespace=t', 'namespaces'],
  ['get --context ', 'contexts'],
] as const) {
  test(`after "${line}" come ${source} of a cluster`, () => {
    assert.deepEqual(offer(line).candidates, { source });
  });
}

test('a source gets the flags and arguments that were typed before', () => {
  const { given, args, typed } = offer('pin --context=a --kubeconfig b -nteam docs 2026');
  assert.deepEqual(Object.fromEntries(given), { context: 'a', kubeconfig: 'b', namespace: 'team' });
  assert.deepEqual([args, typed], [['docs'], '2026']);
});

test('a flag is offered once, unless it may be repeated', () => {
  assert.deepEqual(fitting('run --once --on'), []);
  assert.deepEqual(fitting('run --publish dir=a --pub'), ['--publish']);
});

test('after -- there are no flags', () => {
  assert.deepEqual(offer('status -- --o').candidates, { source: 'names' });
});

test('every source that a command names is known', () => {
  const candidates = commands.flatMap(({ description: { flags, arguments: args = [] } }) =>
    [...Object.values(flags), ...args].map((one) => one.candidates),
  );
  const named = candidates.flatMap((one) => (typeof one === 'object' && 'source' in one ? [one.source] : []));
  assert.deepEqual([...new Set(named)].sort(), [...sourceNames].sort());
});
