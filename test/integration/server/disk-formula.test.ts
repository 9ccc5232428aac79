// How large a store must be: what the documents promise, played on a disk of exactly that size with bundles of the
// largest size, at the worst moment: the versions kept, a removed one that a reader still holds, a new one on its way
// in, and its archive, a zip. And one formula: in the README, in the chart's docs/sizing.md and in the sidecar's example.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { maySkip } from '../../support/may-skip.ts';
import { noise } from '../../support/noise.ts';
import { zip } from '../../support/zip-builder.ts';
import { bundleDocument } from './archive.ts';
import { startLinkServer } from './link-server.ts';
import { prepareSite, type ServedSite } from './served-site.ts';

const mib = 1024 * 1024;
const isRoot = process.getuid?.() === 0;

/** Of a store, in bytes. */
const storeSize = (keep: number, maxBundle: number, maxArchive: number): number =>
  (keep + 2) * maxBundle + maxArchive;

/** Bytes that no compression makes smaller, in a zip that does not try: archive and content just fit the limit. */
const largestZip = (version: string, limit: number): Buffer =>
  zip([
    { name: 'index.html', content: `version ${version}` },
    { name: 'large.bin', content: noise(limit - 64 * 1024) },
  ]);

/** Asks for the large file and takes nothing of it. */
async function holdLargeFile(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').pause();
  socket.on('error', () => {});
  socket.write('GET /large.bin HTTP/1.1\r\nHost: docs.example.com\r\n\r\n');
  await once(socket, 'readable');
  return socket;
}

/** Packs that a process has open and that have no name any more. */
async function removedPacks({ pid }: { readonly pid: number }): Promise<number> {
  const folder = `/proc/${pid}/fd`;
  const open = await Promise.all(
    (await readdir(folder)).map((fd) => readlink(join(folder, fd)).catch(() => '')),
  );
  return open.filter((path) => path.endsWith('/pack (deleted)')).length;
}

interface Played {
  /** Former versions that are still answered at the end. */
  readonly kept: readonly (string | null)[];
  readonly output: string;
}

/** Publishes four versions of the largest size; a reader holds the first one to the end. */
async function play(site: ServedSite, keep: number, limit: number): Promise<Played> {
  const links = await startLinkServer();
  let reader: Socket | undefined;
  try {
    const size = `${limit / mib}MiB`;
    const flags = ['--keep', `${keep}`, '--max-bundle-size', size, '--max-archive-size', size];
    for (const at of [1, 2, 3, 4]) {
      const version = `v${at}`;
      links.put(version, largestZip(version, limit));
      await site.mount(bundleDocument({ version, link: links.link(version) }));
      if (at === 1) await site.start('--encodings', 'none', ...flags);
      await site.until(`${version} is served`, ({ active }) => active?.version === version);
      await site.settle();
      reader ??= await holdLargeFile(site.port);
      if (at === 3) {
        const held = async (): Promise<true | undefined> =>
          (await removedPacks(site.child())) === 1 || undefined;
        await eventually('the first version is removed and still held', held);
      }
    }
    assert.equal(await removedPacks(site.child()), 1, 'the reader still holds the first version');
    return { kept: (await site.status()).previous.map(({ version }) => version), output: site.output() };
  } finally {
    reader?.destroy();
    await site.remove();
    await links.close();
  }
}

async function playOnDisk(bytes: number, keep: number, limit: number): Promise<Played> {
  const disk = await mkdtemp(join(tmpdir(), 'sized-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', disk]);
  try {
    return await play(await prepareSite(join(disk, 'store')), keep, limit);
  } finally {
    execFileSync('umount', [disk]);
    await rm(disk, { recursive: true, force: true });
  }
}

test('a store of the promised size holds the worst moment, and one archive less does not', {
  skip: maySkip('root', !isRoot && 'mounting a small disk needs root'),
}, async () => {
  const [keep, limit] = [2, 8 * mib];
  const enough = await playOnDisk(storeSize(keep, limit, limit), keep, limit);
  assert.deepEqual(enough.kept, ['v3']);
  assert.doesNotMatch(enough.output, /StoreFull/);
  const less = await playOnDisk(storeSize(keep, limit, limit) - limit, keep, limit).catch(String);
  assert.match(typeof less === 'string' ? less : less.output, /StoreFull/);
});

test('the formula is one: README, chart and sidecar’s example say the same', async () => {
  const root = join(import.meta.dirname, '../../..');
  const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
  const [program, chart, values, example] = await Promise.all([
    read('src/server/README.md'),
    read('charts/static-export-site/docs/sizing.md'),
    read('charts/static-export-site/values.yaml'),
    read('charts/static-export-site/examples/sidecar.yaml'),
  ]);
  const general = '(`--keep` + 2) × `--max-bundle-size` + `--max-archive-size`';
  assert.equal(program.split(general).length - 1, 2, 'in the table of flags and in that of the sidecar');
  const gib = 1024 * mib;
  const defaults = storeSize(2, gib, gib) / gib;
  assert.ok(chart.includes('(`server.keep` + 3) × `server.maxBundleSize`'));
  assert.ok(chart.includes(`${defaults} GiB with the defaults`));
  assert.ok(values.includes('(`server.keep` + 3) × `server.maxBundleSize`'));
  assert.ok(
    example.includes(`sizeLimit: ${defaults}Gi`) && example.includes(`ephemeral-storage: ${defaults}Gi`),
  );
  for (const text of [program, chart, values, example])
    assert.doesNotMatch(text, /keep\W* \+ 2\) × `?(server\.)?max/);
});
