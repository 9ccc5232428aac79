// The permissions that doctor asks for are those of the commands.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { workSections } from '#cli/commands.ts';
import { checkBlocks, checkCodes, countStates, passed, warned } from '#cli/doctor/check.ts';
import { commandPermissions } from '#cli/doctor/permissions.ts';
import { plainScreen, renderBlocks, screenOf } from '#cli/output/screen.ts';

test('every command with a cluster is among those that a permission is needed by', () => {
  const named = new Set(commandPermissions.flatMap(({ neededBy }) => neededBy));
  const section = workSections.find(({ title }) => title === 'With a cluster');
  for (const { words } of section?.commands ?? assert.fail()) assert.ok(named.has(words), words);
});

test('every code has its row in the README', () => {
  const readme = readFileSync(join(import.meta.dirname, '../../../../src/cli/README.md'), 'utf8');
  const section = readme.split('\n## Doctor\n')[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, code = '']) => code),
  );
  assert.deepEqual(rows.sort(), [...checkCodes].sort());
});

test('a result for a person fits into 80 columns, and its remedy stands below it', () => {
  const checks = [
    passed('NodeVersion', 'Node 24.'),
    {
      ...warned('Server', `Pod site-0 ${'serves an older version '.repeat(5)}.`, 'Wait.'),
      subject: 'StaticExport a/b',
    },
  ];
  const lines = renderBlocks(checkBlocks(checks), screenOf({ isTTY: true, columns: 80 }, false, Number.NaN));
  for (const line of lines) assert.ok(line.length <= 80, line);
  assert.deepEqual(lines.slice(0, 4), ['Cluster', '  ok      NodeVersion: Node 24.', '', 'StaticExport a/b']);
  assert.deepEqual(lines.slice(-3), ['          → Wait.', '', '1 warning, 1 ok.']);
  assert.deepEqual(countStates(checks), { ok: 1, warning: 1, error: 0, skipped: 0 });
});

test('a remedy that several results share stands once, below the last', () => {
  const shared = [warned('Permissions', 'One.', 'Ask.'), warned('Permissions', 'Two.', 'Ask.')];
  const lines = renderBlocks(checkBlocks(shared), plainScreen);
  assert.deepEqual(lines.slice(1, 4), [
    '  warning Permissions: One.',
    '  warning Permissions: Two.',
    '          → Ask.',
  ]);
  assert.equal(lines.at(-1), '2 warnings, 0 ok.');
});
