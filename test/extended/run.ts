// Runs groups of the extended tests, and records what each green one depended on. Nothing is skipped: a group that cannot run
// on this machine fails, whatever TESTS_MAY_SKIP says.
//
//   npm run test:extended                      lists the groups, and which are due
//   npm run test:extended -- tables krew       these
//   npm run test:extended -- --due             those whose folders differ from those of their last green run
//   npm run test:extended -- --all

import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { changedSince, readRecords, writeRecord } from './contents.ts';
import { contentsFor, testFilesOf } from './dependencies.ts';
import { type Group, groups } from './groups.ts';

const root = resolve(import.meta.dirname, '../..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { due: { type: 'boolean', default: false }, all: { type: 'boolean', default: false } },
});
const known: ReadonlyMap<string, Group> = new Map(Object.entries(groups));
const unknown = positionals.filter((name) => !known.has(name));
if (unknown.length > 0) {
  process.stderr.write(
    `no such group: ${unknown.join(', ')}. The groups are ${[...known.keys()].join(', ')}.\n`,
  );
  process.exit(2);
}

const records = readRecords();
const changedOf = (name: string, group: Group): readonly string[] =>
  changedSince(records[name], contentsFor(name, group));

/** Each part of a group: a command of Node with its arguments. */
function partsOf(name: string, group: Group): readonly (readonly string[])[] {
  const all = testFilesOf(name, group);
  const runner = ['test/support/run-tests.ts', '--timeout-seconds', '1800', '--programs', 'dist'];
  return [...(all.length > 0 ? [[...runner, ...all]] : []), ...(group.commands ?? [])];
}

function isGreen(name: string, group: Group): boolean {
  const env = { ...process.env, TESTS_MAY_SKIP: '', ...group.env };
  return partsOf(name, group).every(
    (args) => spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' }).status === 0,
  );
}

const isAsked = (name: string, group: Group): boolean =>
  values.all || positionals.includes(name) || (values.due && changedOf(name, group).length > 0);
const asked = [...known].filter(([name, group]) => isAsked(name, group));
if (asked.length === 0) {
  for (const [name, group] of known) {
    const changed = changedOf(name, group);
    const state = changed.length === 0 ? 'green' : `due (${changed.join(', ')})`;
    process.stdout.write(`${name.padEnd(16)}${group.shows}\n${' '.repeat(16)}${state}\n`);
  }
}
if (asked.length > 0) {
  const build = spawnSync(process.execPath, ['test/support/build-once.ts'], { cwd: root, stdio: 'inherit' });
  if (build.status !== 0) process.exit(1);
}
const failed: string[] = [];
for (const [name, group] of asked) {
  // Before the run: what changes in between was not tested.
  const contents = contentsFor(name, group);
  process.stdout.write(`extended tests, group ${name}: ${group.shows}\n`);
  const start = performance.now();
  if (isGreen(name, group)) writeRecord(name, contents);
  else failed.push(name);
  const seconds = Math.round((performance.now() - start) / 1_000);
  process.stdout.write(`group ${name}: ${failed.includes(name) ? 'FAILED' : 'green'}, ${seconds} s\n`);
}
if (asked.length > 0) {
  const summary = failed.length === 0 ? 'all green' : `failed: ${failed.join(', ')}`;
  process.stdout.write(`${asked.length} of ${known.size} groups ran, ${summary}\n`);
}
process.exitCode = failed.length === 0 ? 0 : 1;
