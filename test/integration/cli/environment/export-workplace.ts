// What every test of `export` needs: a scripted vendor, a folder, and the command. Each file that it wrote is searched for
// secrets.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { runInProcess } from '../../../support/cli-in-process.ts';
import type { CommandResult } from '../../../support/command.ts';
import { programFile } from '../../../support/program-file.ts';
import { seeText } from '../../../support/secret-watch.ts';
import { tarOf } from '../../../support/tar-builder.ts';
import { filesIn } from './files-in.ts';
import { key, type ScriptedVendor, startVendor } from './scripted-vendor.ts';

export const pages = { 'index.html': '<h1>home</h1>', 'a/index.html': '<h1>a</h1>', 'b.html': '<h1>b</h1>' };
export const site = gzipSync(tarOf(pages));
export const program = programFile('static-export');

export interface ExportWorkplace {
  readonly vendor: ScriptedVendor;
  readonly folder: string;
  /** Of a process of its own: the program, and what follows it. */
  readonly args: (...more: readonly string[]) => readonly string[];
  /** In the process of the test. */
  readonly run: (...more: readonly string[]) => Promise<CommandResult>;
  /** With a clock that was set forward, or back. */
  readonly runAt: (clockMs: number, ...more: readonly string[]) => Promise<CommandResult>;
  readonly runWithout: (flag: string, ...more: readonly string[]) => Promise<CommandResult>;
}

export async function exportWorkplace(t: TestContext): Promise<ExportWorkplace> {
  const vendor = await startVendor(site);
  t.after(() => vendor.close());
  const folder = mkdtempSync(join(tmpdir(), 'cli-export-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'key'), `${key}\n`);
  const words = (...more: readonly string[]): readonly string[] => [
    ...['export', 'docs.example.com'],
    ...['--api-base-url', vendor.url, '--key-file', join(folder, 'key'), '--state', join(folder, 'state')],
    ...['--allow-private-links', '-o', 'json'],
    ...more,
  ];
  const runWords = async (given: readonly string[], clockMs = 0): Promise<CommandResult> => {
    const result = await runInProcess(given, { clockMs });
    if (result.stdout !== '') assert.ok(JSON.parse(result.stdout));
    seeFiles(folder);
    return result;
  };
  return {
    ...{ vendor, folder },
    args: (...more) => [program, ...words(...more)],
    run: (...more) => runWords(words(...more)),
    runAt: (clockMs, ...more) => runWords(words(...more), clockMs),
    runWithout: (flag, ...more) => runWords(words(...more).filter((one) => one !== flag)),
  };
}

/** All but those that are for their owner alone. */
export function seeFiles(folder: string): void {
  for (const { name, text } of filesIn(folder, ['key', 'bundle.json'])) seeText(name, text);
}
