// Builds the site of a corpus once, from the sources in its recipe, into the tool cache. The key is a hash of the recipe. Packages
// come into a folder of the draft. Only what the origin serves is kept, unless a program of the packages serves it.

import { createHash } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { mustRun } from '../../support/command.ts';
import { cachedFolder, type ShowProgress } from '../../support/tool-cache.ts';
import type { Corpus } from './corpus.ts';

/** @returns the folder that its origin serves @throws Error with what a command wrote, when it cannot be built here */
export async function findCorpus(corpus: Corpus): Promise<string> {
  const folder = await cachedFolder(`corpus-${corpus.name}-${hashRecipe(corpus)}`, (draft, onProgress) =>
    build(corpus, draft, onProgress),
  );
  return corpus.serve === undefined ? join(folder, 'site') : folder;
}

/** Of what decides the built site. */
function hashRecipe({ packages, pythonPackages, files, commands, env, serve, output }: Corpus): string {
  const hash = createHash('sha256');
  hash.update(
    JSON.stringify({ packages, pythonPackages, commands, env, isServed: serve !== undefined, output }),
  );
  for (const [path, content] of Object.entries(files)) hash.update(`\0${path}\0`).update(content);
  return hash.digest('hex').slice(0, 16);
}

async function build(corpus: Corpus, draft: string, onProgress: ShowProgress): Promise<void> {
  const work = corpus.serve === undefined ? join(draft, 'source') : draft;
  for (const [path, content] of Object.entries(corpus.files)) {
    await mkdir(dirname(join(work, path)), { recursive: true });
    await writeFile(join(work, path), content);
  }
  const programs = [
    ...(await installNode(corpus, work, onProgress)),
    ...(await installPython(corpus, draft, onProgress)),
  ];
  const env = {
    CI: '1',
    NODE_ENV: 'production',
    PATH: [...programs, dirname(process.execPath), process.env['PATH'] ?? ''].join(':'),
    ...corpus.env,
  };
  for (const command of corpus.commands) {
    onProgress(`corpus ${corpus.name}: ${command.slice(0, 2).join(' ')}`);
    await mustRun(['sh', '-c', 'cd "$0" && exec "$@"', work, ...command], { env });
  }
  if (corpus.serve !== undefined) return;
  await rename(join(work, corpus.output), join(draft, 'site'));
  await rm(work, { recursive: true });
  await rm(join(draft, 'python'), { recursive: true, force: true });
}

async function installNode(
  { name, packages }: Corpus,
  work: string,
  onProgress: ShowProgress,
): Promise<readonly string[]> {
  if (packages === undefined) return [];
  onProgress(`corpus ${name}: installing packages of npm, once`);
  const manifest = { name: 'corpus', version: '0.0.0', private: true, dependencies: packages };
  await writeFile(join(work, 'package.json'), JSON.stringify(manifest));
  const install = [
    'npm',
    'install',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--prefer-offline',
    '--no-package-lock',
  ];
  await mustRun([...install, '--prefix', work]);
  return [join(work, 'node_modules/.bin')];
}

async function installPython(
  { name, pythonPackages }: Corpus,
  draft: string,
  onProgress: ShowProgress,
): Promise<readonly string[]> {
  if (pythonPackages === undefined) return [];
  onProgress(`corpus ${name}: installing packages of Python, once`);
  const folder = join(draft, 'python');
  await mustRun(['python3', '-m', 'venv', folder]);
  await mustRun([
    join(folder, 'bin/pip'),
    'install',
    '--quiet',
    '--disable-pip-version-check',
    ...pythonPackages,
  ]);
  return [join(folder, 'bin')];
}
