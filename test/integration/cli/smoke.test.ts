// Each command of the built program once, in a process: its work is there and loads, and it prints what a pipeline reads.
// Everything else about commands is tested in the process of the test, from the sources.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { commands } from '#bin/static-export-commands.ts';
import { runCommand } from '../../support/command.ts';
import { minisignKeys } from '../../support/minisign-keys.ts';
import { programFile } from '../../support/program-file.ts';
import { sampleTurn } from '../../support/sample-turn.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);
const none = at('none');
const keys = await minisignKeys();
writeFileSync(at('kit.key'), keys.secretText);
writeFileSync(at('site.tar'), tarOf({ 'index.html': '<h1>home</h1>' }));
writeFileSync(at('turns.ndjson'), `${JSON.stringify(sampleTurn())}\n`);

type Row = readonly [words: string, args: readonly string[], exitCode: number, printed: RegExp];
const withoutCluster: readonly Row[] = [
  ['bundle inspect', [at('site.tar')], 0, /"kind": "ArchiveSummary"/],
  ['bundle verify', [at('site.tar')], 0, /"kind": "ArchiveVerdict"/],
  ['bundle diff', [at('site.tar'), at('site.tar')], 0, /"kind": "ArchiveDiff"/],
  ['bundle check', [at('site.tar')], 0, /"selfContained": true/],
  ['bundle markdown', [at('site.tar'), '--to', at('markdown.tar')], 0, /"kind": "MarkdownArchive"/],
  ['bundle pack', [none, at('packed.tar')], 2, /"code": "SourceUnreadable"/],
  ['bundle portable', [at('site.tar'), '--to', at('portable.tar')], 0, /"kind": "PortableArchive"/],
  ['bundle search', [at('site.tar'), '--to', at('search.tar')], 0, /"kind": "SearchableArchive"/],
  ['bundle repair', [at('site.tar'), '--to', at('repaired.tar')], 0, /"kind": "RepairedArchive"/],
  [
    'kit create',
    ['--to', at('docs.sxkit'), '--sign-key', at('kit.key'), '--bundle', at('site.tar')],
    0,
    /"kind": "CreatedKit"/,
  ],
  ['kit inspect', [at('docs.sxkit')], 0, /"kind": "KitSummary"/],
  ['kit verify', [at('docs.sxkit'), '--key-text', keys.publicLine], 0, /"kind": "KitVerdict"/],
  ['report', ['--server', 'http://127.0.0.1:1'], 5, /"code": "NoServerRead"/],
  ['conversations gaps', ['--from', at('turns.ndjson')], 0, /"kind": "GapReport"/],
  [
    'conversations prune',
    ['--api-base-url', 'http://127.0.0.1', '--project', 'docs', '--to', none, '--older-than', '60d', '--yes'],
    2,
    /"kind": "Error"/,
  ],
  ['version', [], 0, /"kind": "ProgramVersion"/],
  ['completion', ['bash'], 0, /"kind": "CompletionScript"/],
];
const onCluster: readonly Row[] = [
  ['get', [], 8, /"code": "UnreadableKubeconfig"/],
  ...[
    ...['status', 'history', 'tree', 'events', 'logs', 'request', 'reject', 'unpin', 'rollback'],
    ...['promote', 'suspend', 'resume', 'refresh-link'],
  ].map((words): Row => [words, ['docs'], 8, /"code": "UnreadableKubeconfig"/]),
  ['pin', ['docs', '20261121-030000-1234abcd'], 8, /"code": "UnreadableKubeconfig"/],
  ['doctor', [], 1, /"kind": "DoctorReport"/],
];

/** Each has tests with a process of its own. */
const elsewhere = ['export', 'run', 'demo', 'bundle serve', 'kit import', 'conversations export'];

test('the table has each command', () => {
  const named = [...withoutCluster, ...onCluster].map(([words]) => words);
  assert.deepEqual([...named, ...elsewhere].sort(), commands.map(({ words }) => words).sort());
});

for (const [words, args, exitCode, printed] of [
  ...withoutCluster,
  ...onCluster.map(([words, args, ...rest]): Row => [words, [...args, '--kubeconfig', none], ...rest]),
]) {
  test(`${words} starts from its program, and ends with ${exitCode}`, async () => {
    const command = [process.execPath, programFile('static-export'), ...words.split(' '), ...args];
    const { code, stdout, stderr } = await runCommand([...command, '-o', 'json']);
    assert.equal(code, exitCode, stderr);
    assert.match(stdout, printed);
  });
}
