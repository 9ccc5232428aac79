// A real Next.js static export, in two versions and two layouts. Built once from the package in `next-site` with
// visible progress, and cached by a hash of its files. Next.js is no dependency of the project: it is 350 MB, so it is
// installed from that package's own lock file into a draft, and only what it exported is kept.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cachedFolder, type ShowProgress } from './tool-cache.ts';

export interface NextLayout {
  /** `guides/index.html` for `/guides/`, in place of `guides.html` for `/guides`. */
  readonly hasTrailingSlash: boolean;
}

const run = promisify(execFile);
const source = join(import.meta.dirname, 'next-site');
const versions = ['v1', 'v2'] as const;
export type NextVersion = (typeof versions)[number];

/**
 * The folder that holds the export of that version. A build shows its progress.
 *
 * @throws Error with what npm or Next.js wrote last, when it cannot be built here
 */
export async function findNextExport(): Promise<(version: NextVersion, layout: NextLayout) => string> {
  const folder = await cachedFolder(`next-site-${hashSource()}`, buildAll);
  return (version, layout) => join(folder, exportName(version, layout));
}

function exportName(version: NextVersion, { hasTrailingSlash }: NextLayout): string {
  return hasTrailingSlash ? `${version}-folders` : version;
}

function hashSource(): string {
  const hash = createHash('sha256');
  for (const file of sourceFiles()) hash.update(`\0${file}\0`).update(readFileSync(join(source, file)));
  return hash.digest('hex').slice(0, 16);
}

function sourceFiles(): readonly string[] {
  return globSync(['*.{json,mjs}', 'app/**/*.jsx'], { cwd: source }).sort();
}

async function buildAll(draft: string, onProgress: ShowProgress): Promise<void> {
  const work = join(draft, 'source');
  for (const file of sourceFiles()) await cp(join(source, file), join(work, file));
  onProgress('Next.js site: installing Next.js (once; about 350 MB, removed afterwards)');
  // Not `npm ci`: that wants the compilers of all systems in the lock file, and registries hold only some of them.
  await mustRun('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], work, {});
  const wanted = [true, false].flatMap((hasTrailingSlash) =>
    versions.map((version) => ({ version, layout: { hasTrailingSlash } })),
  );
  for (const [at, { version, layout }] of wanted.entries()) {
    onProgress(`Next.js site: building export ${at + 1} of ${wanted.length}`);
    await mustRun(process.execPath, ['node_modules/next/dist/bin/next', 'build'], work, {
      NEXT_TELEMETRY_DISABLED: '1',
      NODE_ENV: 'production',
      SITE_VERSION: version,
      SITE_TRAILING_SLASH: `${layout.hasTrailingSlash}`,
    });
    await rename(join(work, 'out'), join(draft, exportName(version, layout)));
  }
  await rm(work, { recursive: true });
}

async function mustRun(
  file: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 16 * 1024 * 1024, timeout: 600_000 };
  await run(file, args, options).catch((cause: unknown) => {
    const hasWords = cause instanceof Error && 'stdout' in cause && 'stderr' in cause;
    const words = (hasWords ? `${cause.stdout}\n${cause.stderr}` : String(cause)).trim();
    throw new Error(`the Next.js site could not be built: ${words.slice(0, 2000)}`, { cause });
  });
}
