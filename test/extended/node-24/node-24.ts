// Node 24, the oldest line on which the programs run: its binary of the registry, installed once outside of the project.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { runCommand } from '../../support/command.ts';
import { cachedFolder } from '../../support/tool-cache.ts';

/** The newest of its line in the registry. */
export const version = '24.21.0';

/** @returns the path of its binary */
export async function findNode24(): Promise<string> {
  const name = `node-linux-${process.arch}`;
  const folder = await cachedFolder(`${name}-${version}`, async (empty) => {
    const install = ['npm', 'install', '--no-save', '--ignore-scripts', '--prefix', empty];
    const { code, stderr } = await runCommand([...install, `${name}@${version}`]);
    assert.equal(code, 0, stderr);
  });
  return join(folder, 'node_modules', name, 'bin/node');
}
