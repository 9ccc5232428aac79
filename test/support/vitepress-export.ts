// A real VitePress site, built anew for each version from `vitepress-site` with the project's own VitePress.

import { execFile } from 'node:child_process';
import { cp, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const source = join(import.meta.dirname, 'vitepress-site');
const packages = join(import.meta.dirname, '../../node_modules');

/**
 * Writes the built site of that version to `target`, which must not be there yet.
 *
 * @param edit changes the sources before the build
 */
export async function buildVitepressSite(
  version: string,
  target: string,
  edit: (sources: string) => Promise<void> = async () => {},
): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'vitepress-site-'));
  try {
    await cp(source, work, { recursive: true });
    await writeFile(join(work, 'package.json'), '{ "private": true, "type": "module" }\n');
    await symlink(packages, join(work, 'node_modules'));
    await edit(work);
    const env = { ...process.env, SITE_VERSION: version };
    await promisify(execFile)(process.execPath, [join(packages, 'vitepress/bin/vitepress.js'), 'build'], {
      cwd: work,
      env,
      timeout: 180_000,
    });
    await rename(join(work, 'out'), target);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
