// The root file system that stands in for the public base image: this machine's Node and the libraries it names,
// certificates, and the same paths and user. Refuses to grow a shell: what works here works on the real base.

import { chmod, copyFile, cp, mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { mustRun } from '../command.ts';

const certificates = '/etc/ssl/certs/ca-certificates.crt';

/** Fills `root` from the Node that runs this. */
export async function fillBaseRoot(root: string): Promise<void> {
  const node = process.execPath;
  await place(node, join(root, 'nodejs/bin/node'));
  for (const library of librariesOf(await mustRun(['ldd', node]))) await place(library, join(root, library));
  await fillAccounts(root);
}

/** Certificates, a folder for temporary files, and the accounts. */
export async function fillAccounts(root: string): Promise<void> {
  await place(certificates, join(root, certificates));
  await mkdir(join(root, 'tmp'));
  // Not as an option of mkdir: the process's mask would take the write bits away.
  await chmod(join(root, 'tmp'), 0o1777);
  await mkdir(join(root, 'home/nonroot'), { recursive: true });
  await mkdir(join(root, 'etc'), { recursive: true });
  const users = [
    'root:x:0:0:root:/root:/sbin/nologin',
    'nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin',
  ];
  await writeFile(join(root, 'etc/passwd'), `${users.join('\n')}\n`);
  await writeFile(join(root, 'etc/group'), 'root:x:0:\nnonroot:x:65532:\n');
  await writeFile(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n');
}

/**
 * Fills `root` as a builder's: the base, a shell, and this machine's npm at the places where the public image of Node
 * has them. Only the stage that builds runs on it.
 */
export async function fillBuilderRoot(root: string): Promise<void> {
  await fillBaseRoot(root);
  for (const folder of ['bin', 'usr/bin', 'usr/local/bin', 'root']) {
    await mkdir(join(root, folder), { recursive: true });
  }
  await copyFile('/bin/busybox', join(root, 'bin/busybox'));
  for (const applet of ['bin/sh', 'usr/bin/env']) await symlink('/bin/busybox', join(root, applet));
  await symlink('/nodejs/bin/node', join(root, 'usr/local/bin/node'));
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
