// A Go program of ours that tests stand on: built once from its module with visible progress, and cached by a hash
// of the module's files. Invariant: what is in the cache was built from exactly those files.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { killAfterUs } from './reaper.ts';
import { cachedFolder, type ShowProgress, showLine } from './tool-cache.ts';

/** Called while a program is being built; never when it is cached. */
export type BuildProgress = (builtPackages: number, allPackages: number) => void;

export interface GoModule {
  /** The module's folder; its name becomes the program's. */
  readonly folder: string;
  /** The main package, where it is another module's that this one requires. */
  readonly mainPackage?: string;
  /** Given to the linker beside what makes the program small. */
  readonly linkerFlags?: readonly string[];
  /** What the standard library adds to the packages that can be counted before. */
  readonly standardPackages: number;
}

/** A line for so many packages, so that a log of CI shows that the build goes on. */
const packagesPerLine = 100;

/**
 * The path of the program. A build shows lines on standard error, unless `onProgress` shows it another way.
 * @throws Error saying what to install when it must be built and there is no Go
 */
export async function findGoProgram(module: GoModule, onProgress?: BuildProgress): Promise<string> {
  const name = basename(module.folder);
  const fill = (draft: string, show: ShowProgress): Promise<void> =>
    build(module, join(draft, name), draft, (built, all) => {
      onProgress?.(built, all);
      if (built % packagesPerLine === 1) show(`building ${name} (once): ${built} of about ${all} packages`);
    });
  const folder = await cachedFolder(
    `${name}-${hashModule(module.folder)}`,
    fill,
    ...(onProgress === undefined ? [] : [() => {}, showLine]),
  );
  return join(folder, name);
}

function hashModule(folder: string): string {
  const hash = createHash('sha256').update(`${process.platform}-${process.arch}`);
  for (const name of readdirSync(folder).sort()) {
    hash.update(`\0${name}\0`).update(readFileSync(join(folder, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

async function build(
  module: GoModule,
  output: string,
  draft: string,
  onProgress: BuildProgress,
): Promise<void> {
  const source = join(draft, 'source');
  const mainPackage = module.mainPackage ?? '.';
  await cp(module.folder, source, { recursive: true });
  const list = await runGo(
    ['list', '-deps', '-f', '{{if not .Standard}}{{.ImportPath}}{{end}}', mainPackage],
    source,
  );
  const all = list.split('\n').filter((line) => line !== '').length + module.standardPackages;
  const ldflags = ['-s', '-w', ...(module.linkerFlags ?? [])].join(' ');
  let built = 0;
  const args = ['build', '-v', '-trimpath', '-ldflags', ldflags, '-o', output, mainPackage];
  await runGo(args, source, (line) => {
    if (line.startsWith('go: ')) return;
    built += 1;
    onProgress(built, all);
  });
}

/**
 * What a `go` command prints on its standard output.
 * @param onLine gets each line of its standard error
 * @throws Error with the last lines where it fails, and saying what to install where there is no Go
 */
export function runGo(
  args: readonly string[],
  cwd: string,
  onLine: (line: string) => void = () => {},
): Promise<string> {
  const env = {
    ...process.env,
    // The test runner raises it, and a compiler of a thousand packages would need several times the memory.
    GOGC: '100',
    PATH: `${process.env['PATH'] ?? ''}${delimiter}/usr/local/go/bin`,
    CGO_ENABLED: '0',
    GOFLAGS: '-mod=readonly',
  };
  return new Promise((resolve, reject) => {
    const child = spawn('go', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const spare = killAfterUs(child.pid);
    let stdout = '';
    let tail: string[] = [];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      const lines = text.split('\n').filter((line) => line !== '');
      tail = [...tail, ...lines].slice(-15);
      lines.forEach(onLine);
    });
    child.on('error', (cause) => {
      reject(
        new Error(
          'A program of the tests is built with Go, and "go" is not on PATH. Install Go 1.25 or newer.',
          { cause },
        ),
      );
    });
    child.on('close', (code) => {
      spare();
      if (code === 0) resolve(stdout);
      else
        reject(
          new Error(
            `go ${args[0]} failed with code ${code}. Go 1.25 or newer is needed.\n${tail.join('\n')}`,
          ),
        );
    });
  });
}
