// Every program on a Node that is too old, each as a process that is given an older version's number: what an older
// Node then lacks is not shown here.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import manifest from '../../../package.json' with { type: 'json' };

const bin = join(import.meta.dirname, '../../../src/bin');
const programs = readdirSync(bin).filter((name) => !/-(?:worker|commands)\.ts$/.test(name));

function startOn(node: string, program: string): { status: number | null; stdout: string; stderr: string } {
  const preload = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } })`;
  const args = [
    '--import',
    `data:text/javascript,${encodeURIComponent(preload)}`,
    join(bin, program),
    '--help',
  ];
  return spawnSync(process.execPath, args, { encoding: 'utf8' });
}

for (const program of programs) {
  test(`${program} refuses a Node that is older than package.json allows, and names the version`, () => {
    const { status, stdout, stderr } = startOn('20.20.2', program);
    assert.equal(stderr, 'This program needs Node 24 or newer, and this is Node 20.20.2. Install Node 24.\n');
    assert.deepEqual([status, stdout], [2, '']);
    assert.equal(manifest.engines.node, '>=24');
  });
}

test('the oldest allowed Node and a later major version are not refused', () => {
  for (const node of ['24.0.0', '100.1.0']) assert.equal(startOn(node, 'entrypoint.ts').status, 0, node);
});
