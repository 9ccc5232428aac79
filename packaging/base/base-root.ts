// The root file system that the image stands on, made of what the locks name and of nothing else: Node without its debug
// information, the libraries that it links, their notices, two accounts. Has no shell and no package manager.

import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unpackGzip } from '../release/fixed-tar.ts';
import { runTool, type ToolPlace } from '../release/tool.ts';
import {
  findMirror,
  findNode,
  isKept,
  type LockedNode,
  linksOf,
  type Platform,
  readBaseLock,
  texts,
} from './base-lock.ts';
import { fetchArchive, readArchive } from './debian-archive.ts';
import { cutSections } from './elf-program.ts';

export interface BaseOrder {
  readonly platform: Platform;
  /** Existing and empty. */
  readonly to: string;
  /** Of Debian; of the machine's apt when absent. */
  readonly mirror: string | undefined;
  /** The checkout. */
  readonly place: ToolPlace;
}

/** @throws Error where a mirror, an archive or a tool is missing */
export async function makeBaseRoot({ platform, to, mirror, place }: BaseOrder): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'static-export-base-'));
  try {
    const put = async (path: string, content: Buffer | string, mode: number): Promise<void> => {
      const file = join(to, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
      await chmod(file, mode);
    };
    const from = mirror ?? (await findOwnMirror(place));
    const { packages, day } = readBaseLock(
      await readFile(join(import.meta.dirname, 'base-lock.json'), 'utf8'),
    );
    for (const { name, archives } of packages) {
      const bytes = await fetchArchive(from, archives[platform], day);
      const { files, control } = await readArchive(bytes, join(scratch, `${name}.deb`), place);
      for (const [path, content] of files) {
        if (isKept(path)) await put(path, content, path.includes('.so.') ? 0o755 : 0o644);
      }
      await put(`var/lib/dpkg/status.d/${name}`, control, 0o644);
    }
    const node = findNode(await readFile(join(place.cwd, 'package-lock.json'), 'utf8'), platform);
    const { program, licence } = await fetchNode(node, scratch, place);
    await put('nodejs/bin/node', cutSections(program), 0o755);
    await put('nodejs/LICENSE', licence, 0o644);
    for (const [path, content] of Object.entries(texts)) await put(path, content, 0o644);
    for (const [path, target] of Object.entries(linksOf(platform))) {
      await mkdir(dirname(join(to, path)), { recursive: true });
      await symlink(target, join(to, path));
    }
    for (const folder of ['tmp', 'home/nonroot']) {
      await mkdir(join(to, folder), { recursive: true });
      // For any user id. Not as an option of mkdir: the process's mask would take the write bits away.
      await chmod(join(to, folder), 0o1777);
    }
  } finally {
    await rm(scratch, { recursive: true });
  }
}

/** @throws Error where apt names none */
export async function findOwnMirror(place: ToolPlace): Promise<string> {
  const uris = await runTool(['apt-get', 'update', '--print-uris'], place).catch(() => '');
  const found = findMirror(uris);
  if (found !== undefined) return found;
  throw new Error(
    "This machine's apt names no mirror of Debian. Name one, the folder that has pool: --debian-mirror URL.",
  );
}

async function fetchNode(
  { name, version, integrity }: LockedNode,
  scratch: string,
  place: ToolPlace,
): Promise<{ readonly program: Buffer; readonly licence: Buffer }> {
  const wanted = `${name}@${version}`;
  await runTool(
    ['npm', 'pack', wanted, '--silent', '--prefer-offline', '--pack-destination', scratch],
    place,
  );
  const archive = (await readdir(scratch)).find((one) => one.endsWith('.tgz')) ?? '';
  const bytes = await readFile(join(scratch, archive));
  if (`sha512-${createHash('sha512').update(bytes).digest('base64')}` !== integrity) {
    throw new Error(
      `${wanted}: npm gave other bytes than package-lock.json names. Run npm cache clean --force.`,
    );
  }
  const files = new Map((await unpackGzip(bytes)).map((one) => [one.name, one.bytes]));
  const [program, licence] = [files.get('package/bin/node'), files.get('package/LICENSE')];
  if (program === undefined || licence === undefined)
    throw new Error(`${wanted} has no program. Choose another version.`);
  return { program, licence };
}
