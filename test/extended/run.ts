// Runs groups of the extended tests, and records what each green one depended on. Nothing is skipped: a group that cannot run
// on this machine fails, unless TESTS_MAY_SKIP names what is missing.
//
//   npm run test:extended                      lists the groups, and which are due
//   npm run test:extended -- tables krew       these
//   npm run test:extended -- --due             those whose folders differ from those of their last green run
//   npm run test:extended -- --all

import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { changedSince, contentsOf, readRecords, writeRecord } from './contents.ts';
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

const pathsOf = (name: string, group: Group): readonly string[] => {
  const own = join('test/extended', name);
  return [...(existsSync(join(root, own)) ? [own] : []), ...group.dependsOn];
};
const records = readRecords();
const changedOf = (name: string, group: Group): readonly string[] =>
  changedSince(records[name], contentsOf(pathsOf(name, group)));

/** Each part of a group: a command of Node with its arguments. */
function partsOf(name: string, { commands = [], files = [] }: Group): readonly (readonly string[])[] {
  const own = globSync(`test/extended/${name}/**/*.test.ts`, { cwd: root });
  const all = [...own, ...files];
  const runner = ['test/support/run-tests.ts', '--timeout-seconds', '1800', '--programs', 'dist'];
  return [...(all.length > 0 ? [[...runner, ...all]] : []), ...commands];
}

function isGreen(name: string, group: Group): boolean {
  const env = { ...process.env, TESTS_MAY_SKIP: process.env['TESTS_MAY_SKIP'] ?? '', ...group.env };
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
const failed: string[] = [];
for (const [name, group] of asked) {
  // Before the run: what changes in between was not tested.
  const contents = contentsOf(pathsOf(name, group));
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
