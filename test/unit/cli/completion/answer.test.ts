// The answer to a shell: its form, what it leaves out, and that it never fails. Contexts come from files, and a cluster
// that is not there gives no names. Also: what is loaded for an answer.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { commands } from '#bin/static-export-commands.ts';
import { answerShell } from '#cli/completion/answer.ts';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { importedPath } from '../../../support/import-graph.ts';

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'completion-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** A limit that never comes: on a busy machine, loading the sources may take as long as the real one. */
const endless: Clock = {
  ...systemClock,
  after: () => new Promise(() => {}),
  deadline: () => new AbortController().signal,
};

const ask = (line: string, env: Readonly<Record<string, string>> = {}): Promise<string> =>
  answerShell(['--', ...line.split(' ')], commands, {
    clock: endless,
    env: { HOME: folder, ...env },
    cwd: folder,
    userId: process.getuid?.(),
  });

function kubeconfig(name: string, ...contexts: readonly string[]): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify({ contexts: contexts.map((one) => ({ name: one, context: {} })) }));
  return file;
}

test('an answer is a line for each candidate with its description, and a number', async () => {
  assert.match(await ask('bundle ins'), /^inspect\t[a-z ,]+\n:4\n$/);
  assert.equal(await ask('completion '), 'bash\nzsh\nfish\n:4\n');
});

test('files are left to the shell, and a candidate that ends in = gets no blank', async () => {
  assert.equal(await ask('bundle inspect '), ':0\n');
  assert.equal(await ask('run --publish d'), 'dir=\n:6\n');
});

test('contexts come from every file of KUBECONFIG, or from the flag', async () => {
  const [one, other] = [kubeconfig('one', 'a', 'b'), kubeconfig('other', 'b', 'arn:aws:eks:eu/c')];
  const env = { KUBECONFIG: [one, join(folder, 'absent'), other].join(delimiter) };
  assert.equal(await ask('get --context ', env), 'a\nb\narn:aws:eks:eu/c\n:36\n');
  assert.equal(await ask('get --context=a', env), 'a\narn:aws:eks:eu/c\n:36\n');
  assert.equal(await ask('get --kubeconfig ~/one --context ', env), 'a\nb\n:36\n');
  assert.equal(await ask('get --context ', { STATIC_EXPORT_KUBECONFIG: one }), 'a\nb\n:36\n');
});

test('a profile of the user names the kubeconfig', async () => {
  mkdirSync(join(folder, '.config/static-export'), { recursive: true, mode: 0o700 });
  const profiles = {
    work: { kubeconfig: kubeconfig('work', 'w') },
    home: { kubeconfig: kubeconfig('home', 'h') },
  };
  const file = join(folder, '.config/static-export/config.yaml');
  writeFileSync(file, JSON.stringify({ currentProfile: 'work', profiles }), { mode: 0o600 });
  assert.equal(await ask('get --context '), 'w\n:36\n');
  assert.equal(await ask('get --profile home --context '), 'h\n:36\n');
  assert.equal(await ask('get --profile gone --context '), ':36\n');
  rmSync(file);
});

test('a context that a shell would evaluate is left out', async () => {
  const file = kubeconfig('hostile', '$(touch x)', 'a;b', '`id`', 'two words', '-', '%active', 'plain');
  assert.equal(await ask('get --context ', { KUBECONFIG: file }), 'plain\n:36\n');
});

test('what cannot be read gives no candidates, and no error', async () => {
  const file = join(folder, 'garbage');
  writeFileSync(file, '{[');
  for (const line of ['get --context ', 'get ', 'get -n ', 'pin docs ', 'pin --context gone docs '])
    assert.equal(await ask(line, { KUBECONFIG: file }), ':36\n', line);
});

/** Every file that is loaded with one, and the packages of all of them. Types and dynamic imports do not count. */
function loadedWith(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type\b)[^;]*?from '([^']+)';/gm);
  for (const [, target = ''] of imports) {
    if (/^[.#]/.test(target)) loadedWith(importedPath(file, target), seen);
    else seen.add(target);
  }
  return seen;
}

test('an answer loads no client of the cluster and no YAML, unless names are asked for', () => {
  const root = resolve(import.meta.dirname, '../../../../src/cli/completion');
  const packages = [...loadedWith(join(root, 'answer.ts'))].filter((one) => !/^\/|^node:/.test(one));
  assert.deepEqual(packages.sort(), ['@bomb.sh/tab', 'commander']);
  assert.ok(loadedWith(join(root, 'cluster-names.ts')).has('@kubernetes/client-node'));
});
