// The root file systems that test images stand on: the product's own base for either platform, and the same with a shell, npm
// and what unpacks Debian's archives, as a builder. Cached.

import { createHash } from 'node:crypto';
import { chmod, copyFile, cp, mkdir, readdir, readFile, realpath, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { findNode, type Platform, platforms } from '../../../packaging/base/base-lock.ts';
import { makeBaseRoot } from '../../../packaging/base/base-root.ts';
import { releaseEnvironment } from '../../../packaging/release/tool.ts';
import { mustRun } from '../command.ts';
import { cachedFolder } from '../tool-cache.ts';

const project = resolve(import.meta.dirname, '../../..');
const certificates = '/etc/ssl/certs/ca-certificates.crt';

/** The base of the product's image. Read it, and write nothing there. */
export async function findBaseRoot(platform: Platform): Promise<string> {
  const npmLock = await readFile(join(project, 'package-lock.json'), 'utf8');
  const made = createHash('sha256').update(JSON.stringify(findNode(npmLock, platform)));
  const sources = join(project, 'packaging/base');
  for (const name of (await readdir(sources)).sort()) made.update(await readFile(join(sources, name)));
  const place = { cwd: project, env: releaseEnvironment(process.env, 0) };
  const name = `base-${platform.replace('/', '-')}-${made.digest('hex').slice(0, 16)}`;
  return cachedFolder(name, async (to) => {
    await makeBaseRoot({ platform, to, mirror: undefined, place });
  });
}

/** Of the machine, where images of either platform are built. */
export const ownPlatform: Platform = process.arch === 'arm64' ? 'linux/arm64' : 'linux/amd64';

export async function findBaseRoots(): Promise<void> {
  for (const platform of platforms) await findBaseRoot(platform);
}

/**
 * Fills `root` as a builder's: this machine's Node, a shell, npm at the places where the public image of Node has them, and
 * `dpkg-deb`. Only the stages that build run on it.
 */
export async function fillBuilderRoot(root: string): Promise<void> {
  await place(process.execPath, join(root, 'usr/local/bin/node'));
  await place('/usr/bin/dpkg-deb', join(root, 'usr/bin/dpkg-deb'));
  for (const program of [process.execPath, '/usr/bin/dpkg-deb']) {
    for (const library of librariesOf(await mustRun(['ldd', program])))
      await place(library, join(root, library));
  }
  await place(certificates, join(root, certificates));
  for (const folder of ['bin', 'etc', 'root', 'tmp']) await mkdir(join(root, folder), { recursive: true });
  await chmod(join(root, 'tmp'), 0o1777);
  await copyFile('/bin/busybox', join(root, 'bin/busybox'));
  for (const applet of ['bin/sh', 'usr/bin/env']) await symlink('/bin/busybox', join(root, applet));
  const npm = await realpath((await mustRun(['sh', '-c', 'command -v npm'])).trim());
  await cp(dirname(dirname(npm)), join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
}

/** Paths in the answer of `ldd`, the loader among them. */
export function librariesOf(answer: string): readonly string[] {
  return [...answer.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].flatMap((match) => match[1] ?? []);
}

async function place(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to);
}
