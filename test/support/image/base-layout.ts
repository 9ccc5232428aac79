// The local base of a release: one layout of OCI with linux/amd64 and linux/arm64, as a registry would give it. Nothing is
// pulled. Both hold a Node that runs on its platform.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fillBaseRoot } from './base-root.ts';
import { fillForeignRoot } from './foreign-root.ts';
import { createImageBuilder } from './image-builder.ts';

/**
 * @param folder existing and empty
 * @returns the reference for `--base`
 */
export async function buildBaseLayout(folder: string): Promise<string> {
  const builder = await createImageBuilder(folder);
  const dockerfile = join(folder, 'base.dockerfile');
  await writeFile(dockerfile, 'FROM scratch\nCOPY . /\n');
  const name = 'localhost/bases:1';
  for (const [platform, fill] of [
    ['linux/amd64', fillBaseRoot],
    ['linux/arm64', fillForeignRoot],
  ] as const) {
    const context = join(folder, platform.replace('/', '-'));
    await mkdir(context);
    await fill(context);
    await builder.build({ name, context, dockerfile, platform, isListed: true });
  }
  const layout = join(folder, 'layout');
  await builder.saveLayout(name, layout);
  return `oci:${layout}`;
}
