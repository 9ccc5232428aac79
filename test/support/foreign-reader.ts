// A mirrored bundle for programs that are not ours: copied to a registry by the code of this project, and compared file by
// file with what such a program unpacked. Its site has what programs read differently: long and foreign names, an empty
// file, hidden files, a large file.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { defaultLimits } from '#bundle/limits.ts';
import { copyBundle } from '#mirror/copy.ts';
import type { BundleImage, Compression } from '#mirror/image.ts';
import { openRegistry } from '#mirror/registry/registry-client.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { archivedFiles, type MemorySite, memoryBundle } from './memory-bundle.ts';

const longName = (parts: number): string =>
  Array.from({ length: parts }, (_, at) => `folder-with-a-long-name-${at}`).join('/');

export const mirroredSite: MemorySite = {
  'index.html': '<h1>home</h1>',
  '404.html': '<h1>nothing here</h1>',
  'empty.txt': '',
  '.nojekyll': '',
  '.well-known/security.txt': 'Contact: mailto:docs@example.com\n',
  'assets/app.BxYz12.js': 'console.log("app");\n'.repeat(5_000),
  'assets/large.bin': Buffer.alloc(3_000_001, 'static export '),
  'guides/über uns/日本語.html': '<h1>names</h1>',
  'guides/a b+c%20d.html': '<h1>signs</h1>',
  // 100 bytes fit into a name of ustar, 155 more into its prefix; what is longer needs an extended header.
  [`${longName(7)}/page.html`]: '<h1>prefix</h1>',
  [`${longName(12)}/page.html`]: '<h1>extended header</h1>',
  [`${'n'.repeat(140)}.html`]: '<h1>a long name</h1>',
  ...Object.fromEntries(
    Array.from({ length: 200 }, (_, at) => [`reference/${at % 10}/page-${at}.html`, `<h1>page ${at}</h1>`]),
  ),
};

/** @param host of a registry over plain HTTP, with its port */
export async function mirrorSite(
  host: string,
  repository: string,
  compression: Compression,
): Promise<BundleImage> {
  const workDir = await mkdtemp(join(tmpdir(), 'foreign-reader-'));
  const carrier = openRegistry({
    repository: `oci://${host}/${repository}`,
    credentials: undefined,
    allowPrivateAddresses: true,
    isHttpAllowed: true,
    extraCaPem: undefined,
    proxy: { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined },
    userAgent: 'test',
    clock: systemClock,
  });
  try {
    const bundle = memoryBundle(mirroredSite);
    const copied = { digest: bundle.index.digest, version: 'v1', files: archivedFiles(bundle) };
    const options = { compression, workDir, limits: defaultLimits };
    return await copyBundle(copied, carrier, options, new AbortController().signal);
  } finally {
    await carrier.close();
    await rm(workDir, { recursive: true, force: true });
  }
}

/** @throws AssertionError unless the folder holds all files of the site, with the same bytes, and nothing else */
export async function assertMirroredSite(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  const hashes = await Promise.all(found.map(async (name) => hashOf(await readFile(join(folder, name)))));
  assert.deepEqual(
    Object.fromEntries(found.map((name, at): [string, string | undefined] => [name, hashes[at]]).sort()),
    Object.fromEntries(
      Object.entries(mirroredSite)
        .map(([name, content]): [string, string] => [name, hashOf(content)])
        .sort(),
    ),
  );
}

const hashOf = (content: string | Buffer): string => hash('sha256', content, 'hex');
