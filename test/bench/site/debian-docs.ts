// Real documentation as one site: the pages of Debian packages, unpacked into the cache and written as a pack. Nothing is installed.
// Refuses nothing of them; which pages count, the readers of the site decide.

import { hash } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BundleFile } from '#bundle/bundle-index.ts';
import { countPages, digestOf, sizeOf, sortFiles } from '#bundle/store/digest.ts';
import { createPackWriter } from '#bundle/store/pack.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import { mustRun } from '../../support/command.ts';
import { cachedFolder } from '../../support/tool-cache.ts';

/** Sphinx, DocBook, AsciiDoc, and pages that a person wrote. */
const packages = [
  'git-doc',
  'llvm-14-doc',
  'postgresql-doc-15',
  'python-django-doc',
  'python3.11-doc',
  'sqlite3-doc',
];

/** @param folder for the pack @returns a bundle for the caller to close */
export async function debianDocs(folder: string): Promise<StoredBundle> {
  const root = await cachedFolder('debian-docs', unpack);
  const writer = createPackWriter(join(folder, 'pack'));
  const files: BundleFile[] = [];
  for (const path of htmlFiles(root)) {
    const bytes = readFileSync(join(root, path));
    const sha256 = hash('sha256', bytes, 'hex');
    files.push({ path: sitePath(path), offset: writer.position, size: bytes.length, sha256 });
    writer.append(bytes);
  }
  writer.finish();
  const sorted = sortFiles(files);
  const counts = { pages: countPages(sorted), sizeBytes: sizeOf(sorted), notes: [] };
  return openPack(join(folder, 'pack'), { digest: digestOf(sorted), files: sorted, ...counts }, undefined);
}

/** Without links of a package to what it does not have, and to a folder that it has under another name. */
function htmlFiles(root: string): readonly string[] {
  return globSync('**/*.html', { cwd: root }).filter(
    (path) => statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true,
  );
}

/** `git-doc/usr/share/doc/git-doc/git-am.html` is `git-doc/git-am.html`. */
const sitePath = (path: string): string =>
  path.replace(/^([^/]+)\/usr\/share\/doc\/[^/]+\/(?:html\/)?/, '$1/');

async function unpack(folder: string): Promise<void> {
  const scratch = join(folder, 'scratch');
  await mkdir(scratch);
  await mustRun(['sh', '-c', 'cd "$1" && shift && apt-get download -qq "$@"', 'sh', scratch, ...packages]);
  for (const name of await readdir(scratch)) {
    const [owner = ''] = name.split('_');
    await mustRun(['dpkg-deb', '-x', join(scratch, name), join(folder, owner)]);
  }
  await rm(scratch, { recursive: true });
}
