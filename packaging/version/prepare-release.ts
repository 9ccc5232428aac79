// Changes every place that names the version, for one commit that a tag then names. Refuses a tree with changes that are not
// committed, because they would become a part of that commit unseen.
//
//   npm run release:prepare X.Y.Z [-- --date YYYY-MM-DD]     the date defaults to today, in UTC

import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { currentVersion, planRelease } from './release-plan.ts';
import { readSurface } from './sources-surface.ts';
import { otherMentions } from './version-places.ts';
import { projectRoot, readVersionTree } from './version-tree.ts';

function fail(reason: string, exitCode: number): never {
  process.stderr.write(`release:prepare: ${reason}\n`);
  process.exit(exitCode);
}

function readArguments(): { readonly version: string; readonly date: string } {
  try {
    const options = { date: { type: 'string' } } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [version = '', ...more] = positionals;
    if (version === '' || more.length > 0) throw new Error('one version is needed');
    return { version, date: values.date ?? new Date().toISOString().slice(0, 10) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return fail(`${reason}. Usage: npm run release:prepare X.Y.Z [-- --date YYYY-MM-DD]`, 2);
  }
}

const { version, date } = readArguments();
const tree = await readVersionTree(projectRoot);
const plan = planRelease(tree, { version, date, surface: readSurface(tree) });
if (plan.outcome === 'refuse') fail(plan.reason, 1);
const write = (text: string): boolean => process.stdout.write(`${text}\n`);
if (plan.changes.size === 0) {
  write(`${version} is prepared already; nothing to change.`);
} else {
  const status = execFileSync('git', ['status', '--porcelain'], { cwd: projectRoot, encoding: 'utf8' });
  if (status !== '') fail(`these files have changes; commit or stash them first:\n${status.trimEnd()}`, 1);
  for (const [path, text] of plan.changes) {
    await mkdir(dirname(join(projectRoot, path)), { recursive: true });
    await writeFile(join(projectRoot, path), text);
    write(`changed  ${path}`);
  }
  const before = currentVersion(tree);
  for (const [path, text] of before === version ? [] : [...tree].filter(([file]) => !file.endsWith('.ts')))
    for (const { line } of otherMentions(path, plan.changes.get(path) ?? text, before))
      write(`kept     ${path}:${line} names ${before} in another form; read it`);
  write(`\nNext: npm run check, commit, and tag the commit v${version}.`);
}
