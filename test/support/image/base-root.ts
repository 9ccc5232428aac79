// The root file system that stands in for the public base image: this machine's Node and the libraries it names,
// certificates, and the same paths and user. Refuses to grow a shell: what works here works on the real base.

import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { mustRun } from '../command.ts';

const certificates = '/etc/ssl/certs/ca-certificates.crt';

/** Fills `root` from the Node that runs this. */
export async function fillBaseRoot(root: string): Promise<void> {
  const node = process.execPath;
  await place(node, join(root, 'nodejs/bin/node'));
  for (const library of librariesOf(await mustRun(['ldd', node]))) await place(library, join(root, library));
  await place(certificates, join(root, certificates));
  await mkdir(join(root, 'tmp'));
  // Not as an option of mkdir: the process's mask would take the write bits away.
  await chmod(join(root, 'tmp'), 0o1777);
  await mkdir(join(root, 'home/nonroot'), { recursive: true });
  const users = [
    'root:x:0:0:root:/root:/sbin/nologin',
    'nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin',
  ];
  await writeFile(join(root, 'etc/passwd'), `${users.join('\n')}\n`);
  await writeFile(join(root, 'etc/group'), 'root:x:0:\nnonroot:x:65532:\n');
  await writeFile(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n');
}

/** Paths in the answer of `ldd`, the loader among them. */
export function librariesOf(answer: string): readonly string[] {
  return [...answer.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].flatMap((match) => match[1] ?? []);
}

async function place(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to);
}
