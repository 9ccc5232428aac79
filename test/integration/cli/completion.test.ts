// Completion in the real bash, zsh, fish and kubectl, with names from a real API server: what the tab key makes of a line
// is run, and a stand-in of the program prints its arguments.

import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { runInProcess } from '../../support/cli-in-process.ts';
import { startControlPlane, type TestCluster } from '../../support/cluster.ts';
import { findClusterTools } from '../../support/cluster-tools.ts';
import { mustRun, runCommand } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { maySkip } from '../../support/may-skip.ts';
import { programFile } from '../../support/program-file.ts';
import { openTerminal } from '../../support/terminal.ts';

const root = resolve(import.meta.dirname, '../../..');
const program = programFile('static-export');
const bashCompletion = '/usr/share/bash-completion/bash_completion';
const commands = ['script', 'bash', 'zsh', 'fish'];
const missing = [
  ...(await Promise.all(
    commands.map(async (name) =>
      (await runCommand(['sh', '-c', `command -v ${name}`])).code === 0 ? [] : [name],
    ),
  )),
  existsSync(bashCompletion) ? [] : ['bash-completion'],
].flat();
const skip = maySkip('shells', missing.length > 0 && `${missing.join(', ')}: not installed`);

const namespace = 'team-a';
const versions = ['20261122-192123-6836c104', '20261121-030000-1234abcd'];
const held = '20261123-030000-abcd1234';
let cluster: TestCluster;
let folder: string;
let env: Readonly<Record<string, string>>;

before(async () => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), 'completion-'));
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'empty'));
  writeFileSync(join(folder, 'site one.tar.gz'), '');
  // The words that ask for completion reach the program; of any other command only its words are shown.
  const standIn = [
    '#!/bin/sh',
    `case $1 in complete|completion) exec '${process.execPath}' '${program}' "$@" ;; esac`,
    'printf "RAN:%s\\n" "$(printf "%s|" "$@")"',
  ];
  for (const name of ['static-export', 'kubectl-static_export'])
    writeFileSync(join(folder, 'bin', name), `${standIn.join('\n')}\n`, { mode: 0o755 });
  const helper = 'kubectl_complete-static_export';
  copyFileSync(join(root, 'packaging', helper), join(folder, 'bin', helper));
  symlinkSync((await findClusterTools()).kubectl, join(folder, 'bin', 'kubectl'));
  const contexts = join(folder, 'contexts');
  writeFileSync(
    contexts,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      contexts: ['kind@kube:1', 'arn:aws:eks:eu/docs'].map((name) => ({
        name,
        context: { cluster: 'c', user: 'u' },
      })),
    }),
  );
  cluster = await startControlPlane();
  env = {
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    HOME: folder,
    KUBECONFIG: `${cluster.kubeconfig}:${contexts}`,
    NODE_COMPILE_CACHE: join(folder, 'compiled'),
  };
  const apply = (input: string) => cluster.kubectl(['apply', '--server-side', '-f', '-'], { input });
  await apply(readFileSync(join(root, 'crds/staticexports.staticexport.dev.yaml'), 'utf8'));
  await cluster.awaitDefinitions();
  await cluster.kubectl(['create', 'namespace', namespace]);
  for (const [of, name] of [
    [namespace, 'handbook'],
    ['default', 'docs'],
  ] as const) {
    const spec = { domain: 'docs.example.com', api: { keySecretRef: { name: 'export-api' } } };
    const metadata = { name, namespace: of };
    const made = await apply(
      JSON.stringify({ apiVersion: 'staticexport.dev/v1alpha1', kind: 'StaticExport', metadata, spec }),
    );
    assert.equal(made.code, 0, made.stderr);
    const history = versions.map((version, at) => ({
      version,
      digest: String(at).repeat(64),
      jobId: `job-${at}`,
    }));
    const candidate = { version: held, digest: '2'.repeat(64), jobId: 'job-2', reason: 'AwaitingPromotion' };
    const patch = JSON.stringify({ status: { history, candidate } });
    const patched = await cluster.kubectl([
      ...['patch', 'staticexport', name, '-n', of, '--subresource=status', '--type=merge', '-p', patch],
    ]);
    assert.equal(patched.code, 0, patched.stderr);
  }
});
after(async () => {
  await cluster?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** What is typed before the tab key, and the words that then run. */
const lines: readonly (readonly [typed: string, words: readonly string[]])[] = [
  ['bundle insp', ['bundle', 'inspect']],
  ['bundle inspect --fi', ['bundle', 'inspect', '--files']],
  ['bundle inspect si', ['bundle', 'inspect', 'site one.tar.gz']],
  ['export --to=si', ['export', '--to=site one.tar.gz']],
  ['get -o ya', ['get', '-o', 'yaml']],
  ['get --output=ya', ['get', '--output=yaml']],
  ['status do', ['status', 'docs']],
  ['status -n team-a ha', ['status', '-n', namespace, 'handbook']],
  ['get --namespace te', ['get', '--namespace', namespace]],
  ['rollback docs 20261121', ['rollback', 'docs', versions[1] ?? '']],
  ['promote docs 2', ['promote', 'docs', held]],
  ['get --context kin', ['get', '--context', 'kind@kube:1']],
  ['get --context kind@kube:', ['get', '--context', 'kind@kube:1']],
  ['get --context=arn:aws:', ['get', '--context=arn:aws:eks:eu/docs']],
];

async function completeOn(
  shell: string,
  load: readonly string[],
  name: string,
  rows: readonly (readonly [string, readonly string[]])[],
): Promise<void> {
  const terminal = openTerminal(shell, { cwd: folder, env });
  try {
    terminal.type(`${load.join('; ')}; echo load''ed\r`);
    await terminal.awaitText(/^loaded/m);
    for (const [typed, words] of rows) {
      terminal.type(`${name} ${typed}`);
      const completed = new RegExp(words.at(-1)?.replaceAll(/[^\w]/g, '\\W+') ?? '');
      // On a machine with much else to do, a cluster may answer after the deadline: a user presses the key again. A key
      // that comes while the first completion still runs would act on the completed line.
      await eventually(
        `${typed} is completed`,
        () => {
          terminal.press('\t');
          return terminal.awaitText(completed, 30_000);
        },
        { timeoutMs: 180_000 },
      );
      // The return key follows when the line is complete: zsh takes a tab before waiting keys as text.
      terminal.type('\r');
      const ran = await terminal.awaitText(/^RAN:.*(?=\r?\n)/m);
      assert.equal(ran.trim(), `RAN:${words.map((word) => `${word}|`).join('')}`, typed);
    }
  } finally {
    terminal.close();
  }
}

test('bash completes commands, flags, values, files and names of a cluster', { skip }, async () => {
  const load = ['source <(static-export completion bash)'];
  await completeOn('bash --norc --noprofile', load, 'static-export', lines);
});

test('bash-completion loads the script when it is needed', { skip }, async () => {
  const place = join(folder, '.local/share/bash-completion/completions');
  mkdirSync(place, { recursive: true });
  await mustRun(['sh', '-c', `static-export completion bash > ${place}/static-export`], { env });
  await completeOn(
    'bash --norc --noprofile',
    [`source ${bashCompletion}`],
    'static-export',
    lines.slice(0, 3),
  );
});

test('zsh completes commands, flags, values, files and names of a cluster', { skip }, async () => {
  const load = ['autoload -Uz compinit', 'compinit -u', 'source <(static-export completion zsh)'];
  await completeOn('zsh -f', load, 'static-export', lines);
});

test('the script of zsh quotes what was typed before a value, because it evaluates it', async () => {
  const { stdout } = await runInProcess(['completion', 'zsh']);
  assert.match(stdout, /flagPrefix="-P \$\{\(q\)BASH_REMATCH\}"/);
  assert.doesNotMatch(stdout, /-P \$\{BASH_REMATCH\}/);
});

test('fish completes commands, flags, values, files and names of a cluster', { skip }, async () => {
  for (const [typed, words] of lines) {
    const ask = 'static-export completion fish | source; complete --do-complete "$argv"';
    const command = ['fish', '--no-config', '--command', `cd ${folder}; ${ask}`, `static-export ${typed}`];
    await eventually(`fish completes ${typed}`, async () => {
      const found = await mustRun(command, { env });
      const candidates = found.split('\n').map((line) => line.split('\t')[0]);
      assert.equal(candidates[0], words.at(-1));
      return true;
    });
  }
});

test('kubectl completes the plugin', { skip }, async () => {
  const load = [`source ${bashCompletion}`, 'source <(kubectl completion bash)'];
  const rows = lines.filter(([typed]) => !/=|: *$|@| si$/.test(typed));
  await completeOn('bash --norc --noprofile', load, 'kubectl static-export', rows);
});

test('a cluster that does not answer gives no names, and no error', { skip }, async () => {
  const silent = createServer(() => {});
  await new Promise<void>((listening) => void silent.listen(0, '127.0.0.1', listening));
  try {
    const address = silent.address();
    assert.ok(address !== null && typeof address === 'object');
    const file = join(folder, 'silent');
    const raw = readFileSync(cluster.kubeconfig, 'utf8');
    writeFileSync(file, raw.replace(cluster.server, `https://127.0.0.1:${address.port}`));
    const words = ['static-export', 'complete', '--', 'status', ''];
    const answer = await runCommand(words, { env: { ...env, KUBECONFIG: file }, timeoutMs: 60_000 });
    assert.deepEqual(answer, { code: 0, stdout: ':36\n', stderr: '' });
  } finally {
    silent.close();
  }
});
