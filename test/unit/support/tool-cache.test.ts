// What is in the cache of tools is made once, however many processes ask for it, and a killed maker stops nobody.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type ChildProgram, startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const cache = pathToFileURL(join(import.meta.dirname, '../../support/tool-cache.ts')).href;

/** A process that asks for a tool. It makes it once the file `go` is there, and prints what it got. */
function tools(t: TestContext) {
  const folder = temporaryFolder(t);
  const go = join(folder, 'go');
  const program = `
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { cachedFolder } from '${cache}';
const found = await cachedFolder('tool', async (draft, show) => {
  show('making it in ' + process.pid);
  while (!existsSync('${go}')) await sleep(20);
  writeFileSync(draft + '/tool', String(process.pid));
});
console.log('made by ' + readFileSync(found + '/tool', 'utf8'));`;
  const file = join(folder, 'ask.mjs');
  writeFileSync(file, program);
  const ask = (): { readonly child: ChildProgram; readonly lines: string[] } => {
    const lines: string[] = [];
    const env = { XDG_CACHE_HOME: folder };
    const child = startProgram(process.execPath, { args: [file], env, onLine: (line) => lines.push(line) });
    t.after(() => child.stop('SIGKILL'));
    return { child, lines };
  };
  const shown = (lines: readonly string[], line: string) =>
    eventually(line, async () => lines.includes(line) || undefined);
  return { ask, shown, letGo: () => writeFileSync(go, ''), root: join(folder, 'static-export-operator') };
}

test('one process makes a tool; another shows its progress and gets the same', async (t) => {
  const { ask, shown, letGo } = tools(t);
  const first = ask();
  await shown(first.lines, `making it in ${first.child.pid}`);
  const second = ask();
  await shown(second.lines, `Waiting for another process: making it in ${first.child.pid}`);
  letGo();
  assert.deepEqual(await Promise.all([first.child.exited, second.child.exited]), [0, 0]);
  const made = `made by ${first.child.pid}`;
  assert.deepEqual([first.lines.at(-1), second.lines.at(-1)], [made, made]);
});

test('where the maker is killed, the process that waits makes the tool, and no draft stays', async (t) => {
  const { ask, shown, letGo, root } = tools(t);
  const first = ask();
  await shown(first.lines, `making it in ${first.child.pid}`);
  const second = ask();
  await shown(second.lines, `Waiting for another process: making it in ${first.child.pid}`);
  await first.child.stop('SIGKILL');
  await shown(second.lines, `making it in ${second.child.pid}`);
  letGo();
  assert.equal(await second.child.exited, 0);
  assert.equal(second.lines.at(-1), `made by ${second.child.pid}`);
  assert.deepEqual(readdirSync(root).sort(), ['tool', 'tool.lock']);
  assert.equal(readFileSync(join(root, 'tool/tool'), 'utf8'), `${second.child.pid}`);
});
