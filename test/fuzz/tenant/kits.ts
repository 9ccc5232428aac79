// Kits that a hostile courier changed, checked by the command line as a process: it refuses or accepts each, within its
// memory, and never fails in a way that it does not name.

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProgram } from '../../support/child-program.ts';
import { buildKit } from '../../support/kit-builder.ts';
import { minisignKeys } from '../../support/minisign-keys.ts';
import { programFile } from '../../support/program-file.ts';
import { changeBytes, diceOf } from '../mutation.ts';
import { Tally } from './choice.ts';

const mostBytes = 300 * 1024 * 1024;

export interface KitFigures {
  /** By what the command said. */
  readonly verdicts: Tally;
  readonly mostResidentBytes: number;
  readonly broken: readonly string[];
}

/** @param folder for the kits, which are removed */
export async function checkChangedKits(folder: string, seed: number, count: number): Promise<KitFigures> {
  const keys = await minisignKeys();
  const site = { 'index.html': '<h1>home</h1>', 'a.html': 'a'.repeat(5_000), 'b.css': 'b{}' };
  const next = { ...site, 'index.html': '<h1>next</h1>' };
  const kit = await buildKit(
    [
      { site, version: 'v1' },
      { site: next, base: site, version: 'v2' },
    ],
    keys.key,
  );
  const verdicts = new Tally();
  const broken: string[] = [];
  let mostResidentBytes = 0;
  for (let at = 0; at < count; at += 1) {
    const dice = diceOf(Math.imul(seed, 0x85ebca6b) + at);
    const file = join(folder, `${at}.sxkit`);
    const changed = at === 0 ? kit : changeBytes(kit, dice);
    await writeFile(file, changed);
    const child = startProgram(process.execPath, {
      args: [programFile('static-export'), 'kit', 'verify', file, '--key-text', keys.publicText],
    });
    while (!child.hasExited()) {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
      mostResidentBytes = Math.max(
        mostResidentBytes,
        Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024,
      );
      await sleep(5);
    }
    const said = child.tail();
    const isAccepted = (await child.exited) === 0;
    verdicts.add(isAccepted ? 'accepted' : (/\(([A-Z][A-Za-z]+)\)/.exec(said)?.[1] ?? 'no code'));
    if (isAccepted !== changed.equals(kit)) broken.push(`kit ${at} was judged wrongly: ${said.slice(-300)}`);
    if (/unexpected|\n\s+at /i.test(said)) broken.push(`kit ${at}: ${said.slice(-300)}`);
    await rm(file);
  }
  if (mostResidentBytes > mostBytes) broken.push(`kit verify came to ${mostResidentBytes} bytes`);
  return { verdicts, mostResidentBytes, broken };
}
