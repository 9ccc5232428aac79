// Changes every place that names the version, for one commit that a tag then names. Refuses a tree with changes that are not
// committed, because they would become a part of that commit unseen.
//
//   npm run release:prepare X.Y.Z [-- --date YYYY-MM-DD]     the date defaults to today, in UTC

import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CommandRefusal, readCommandLine, runCommandLine, seeHelp } from './command-line.ts';
import { currentVersion, planRelease } from './release-plan.ts';
import { readSurface } from './sources-surface.ts';
import { otherMentions } from './version-places.ts';
import { projectRoot, readVersionTree } from './version-tree.ts';

const name = 'release:prepare';
const usage = `Usage: npm run release:prepare X.Y.Z [-- --date YYYY-MM-DD]

Changes each place that names the version, and prints it. Commits nothing. The working tree must not have changes.

  --date YYYY-MM-DD  of the release; default: today in UTC
`;

function readArguments(): { readonly version: string; readonly date: string } | undefined {
  const options = { date: { type: 'string' }, help: { type: 'boolean', default: false } } as const;
  const { values, positionals } = readCommandLine(name, { options, allowPositionals: true });
  if (values.help) return undefined;
  const [version = '', ...more] = positionals;
  if (version === '' || more.length > 0)
    throw new CommandRefusal(`one version is needed; ${seeHelp(name)}`, 2);
  return { version, date: values.date ?? new Date().toISOString().slice(0, 10) };
}

await runCommandLine(name, async () => {
  const write = (text: string): boolean => process.stdout.write(`${text}\n`);
  const order = readArguments();
  if (order === undefined) {
    process.stdout.write(usage);
    return;
  }
  const { version, date } = order;
  const tree = await readVersionTree(projectRoot);
  const plan = planRelease(tree, { version, date, surface: readSurface(tree) });
  if (plan.outcome === 'refuse') throw new CommandRefusal(plan.reason, 1);
  if (plan.changes.size === 0) {
    write(`${version} is prepared already; nothing to change.`);
    return;
  }
  const status = execFileSync('git', ['status', '--porcelain'], { cwd: projectRoot, encoding: 'utf8' });
  if (status !== '')
    throw new CommandRefusal(`these files have changes; commit or stash them first:\n${status.trimEnd()}`, 1);
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
});
