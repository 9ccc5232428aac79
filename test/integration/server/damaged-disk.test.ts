// One damaged byte in the store at a start, with the real program: the server serves before it has checked every file, and
// no answer ever holds the damaged byte. Each test sends requests from before the port is open until the end.

import assert from 'node:assert/strict';
import { createCipheriv, hash } from 'node:crypto';
import { cp, mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { parseIndex } from '#bundle/store/index-document.ts';
import { eventually } from '../../support/eventually.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { bundleDocument, makeSite, type SiteContent, siteDigest } from './archive.ts';
import { type LinkServer, startLinkServer } from './link-server.ts';
import { prepareSite, type ServedSite } from './served-site.ts';

/** Larger than what is hashed as it is read. */
const largeBytes = 3 * 1024 * 1024;
/** Enough for a check that takes longer than the first answers. */
const filling = 24;
/** Variants are made by a thread of low priority, and how fast is no claim. */
const slowMaking = { timeoutMs: 120_000 };

let links: LinkServer;
let served: ServedSite;
let visiting: Visit;
/** Requests for archives before the test's own. */
let asked = 0;

beforeEach(async () => {
  links = await startLinkServer();
  served = await prepareSite();
  visiting = visit();
});
afterEach(async () => {
  await visiting.end();
  await served.remove();
  await links.close();
});

function siteOf(version: string): SiteContent {
  // Bytes that no compression makes small: an archive that unpacks to many times its size is rejected.
  const block = (name: string, size: number): Buffer =>
    createCipheriv('aes-256-ctr', hash('sha256', `${name} of ${version}`, 'buffer'), Buffer.alloc(16)).update(
      Buffer.alloc(size),
    );
  return {
    ...makeSite(version),
    ...Object.fromEntries(
      Array.from({ length: filling }, (_, at) => [`pictures/${at}.png`, block(`${at}`, 1024 * 1024)]),
    ),
    'downloads/large.pdf': block('large', largeBytes),
    'zz/last.html': `<!doctype html><title>last</title><p>version ${version}</p>\n`,
  };
}

interface MadeSite {
  readonly site: SiteContent;
  readonly archive: Buffer;
}

/** By version; made once. Not compressed: that would take a second at each end, and save nothing. */
const made = new Map<string, MadeSite>();

async function publish(version: string): Promise<SiteContent> {
  let known = made.get(version);
  if (known === undefined) {
    const site = siteOf(version);
    known = { site, archive: tarOf(site) };
    made.set(version, known);
  }
  const { site, archive } = known;
  links.put(version, archive);
  await served.mount(bundleDocument({ version, link: links.link(version) }));
  return site;
}

const serves = (version: string): Promise<unknown> =>
  served.until(
    `${version} is served and checked`,
    ({ active, source }) => active?.version === version && source.state !== 'starting',
  );

let storeFolder: Promise<string> | undefined;
after(async () => {
  if (storeFolder !== undefined) await rm(await storeFolder, { recursive: true, force: true });
});

/** A store as a server leaves it that has served `v1`. Made once: most tests begin with it. */
async function makeStore(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'store-of-v1-'));
  const first = await prepareSite(folder);
  await first.mount(bundleDocument({ version: 'v1', link: links.link('v1') }));
  await first.start('--encodings', 'none');
  await first.until('v1 is stored', ({ source }) => source.state === 'in-sync');
  await first.kill();
  await first.remove();
  return folder;
}

/** Publishes `v1`, and gives the server a store that has it. */
async function publishStored(): Promise<SiteContent> {
  const site = await publish('v1');
  storeFolder ??= makeStore();
  await cp(await storeFolder, served.store, { recursive: true });
  asked = links.requests();
  return site;
}

/** Flips one bit in the middle of a file, or of any other file of the bundle's folder. */
async function damageRunning(path: string, name = 'pack'): Promise<void> {
  const { active } = await served.status();
  await served.kill();
  await damage(active?.digest ?? '', path, name);
}

async function damage(digest: string, path: string, name = 'pack'): Promise<void> {
  const folder = join(served.store, 'bundles', digest);
  const document = parseIndex(await readFile(join(folder, 'index'), 'utf8')) ?? assert.fail();
  const file = document.index.files.find((one) => one.path === path) ?? assert.fail();
  const at = name === 'pack' ? file.offset + Math.floor(file.size / 2) : 10;
  const handle = await open(join(folder, name), 'r+');
  const byte = Buffer.alloc(1);
  await handle.read(byte, 0, 1, at);
  await handle.write(Buffer.from([byte.readUInt8(0) ^ 1]), 0, 1, at);
  await handle.close();
}

const hasContent = (body: Buffer, content: string | Buffer): boolean =>
  body.equals(typeof content === 'string' ? Buffer.from(content) : content);

interface Visit {
  /** Requests these paths again and again; every 200 has to be one of these contents. */
  begin(paths: readonly string[], contents: readonly SiteContent[], encoding?: string): void;
  /** How often each path was answered with each status. */
  readonly counts: () => ReadonlyMap<string, number>;
  /** Waits until each path was answered with 200. */
  served(...paths: readonly string[]): Promise<void>;
  end(): Promise<void>;
}

function visit(): Visit {
  const counts = new Map<string, number>();
  const wrong: string[] = [];
  const running: Promise<void>[] = [];
  let isOver = false;
  const request = (
    path: string,
    headers: http.OutgoingHttpHeaders,
  ): Promise<readonly [number, Buffer] | undefined> =>
    new Promise((resolve) => {
      const { port } = served;
      http
        .get({ host: '127.0.0.1', port, path: `/${path}`, headers, agent: false }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('close', () => {
            const { complete, statusCode = 0 } = response;
            resolve(complete ? [statusCode, Buffer.concat(chunks)] : undefined);
          });
        })
        .on('error', () => resolve(undefined));
    });
  const follow = async (path: string, contents: readonly SiteContent[], encoding: string): Promise<void> => {
    let answers = 0;
    while (!isOver) {
      const [status, body] = (await request(path, { 'accept-encoding': encoding })) ?? [];
      const isRight = contents.some((site) => body !== undefined && hasContent(body, site[path] ?? ''));
      if (status === 200 && encoding === 'identity' && !isRight) wrong.push(path);
      counts.set(`${path} ${status}`, (counts.get(`${path} ${status}`) ?? 0) + 1);
      // The first answers of a start follow each other closely, because the check runs then.
      answers = status === undefined ? 0 : answers + 1;
      await wait(status === undefined ? 2 : Math.min(40, 3 + answers));
    }
  };
  return {
    begin: (paths, contents, encoding = 'identity') => {
      running.push(...paths.map((path) => follow(path, contents, encoding)));
    },
    counts: () => counts,
    served: async (...paths) => {
      for (const path of paths)
        await eventually(`${path} is answered with 200`, () =>
          (counts.get(`${path} 200`) ?? 0) > 0 ? true : undefined,
        );
    },
    end: async () => {
      isOver = true;
      await Promise.all(running);
      assert.deepEqual(wrong, []);
    },
  };
}

const damaged: readonly { readonly name: string; readonly path: string }[] = [
  { name: 'a page', path: 'guides/page-7.html' },
  { name: 'the last page', path: 'zz/last.html' },
  { name: 'a picture', path: `pictures/${filling - 1}.png` },
  { name: 'a file that is sent in parts', path: 'downloads/large.pdf' },
];
for (const { name, path } of damaged) {
  test(`${name} that is damaged on disk is never sent, the intact files are, and the bundle is fetched again`, async () => {
    const site = await publishStored();
    await damage(siteDigest(site), path);
    // Requests begin before the port is open: the damaged file is asked for in the first moments too.
    const others = ['index.html', 'guides/page-1.html', 'downloads/large.pdf', 'zz/last.html'];
    visiting.begin([path, ...others.filter((one) => one !== path)], [site]);
    await served.start('--encodings', 'none');
    await serves('v1');
    await served.until('it is fetched', ({ source }) => source.kind === 'link' && source.state === 'in-sync');
    await wait(50);
    await visiting.served(path, ...others);
    await visiting.end();
    assert.equal(links.requests() - asked, 1);
    await served.said(/set a damaged bundle of the store aside/);
    const metrics = await (await fetch(`${served.admin}/metrics`)).text();
    assert.match(metrics, /^bundle_server_damaged_copies_total 1$/m);
  });
}

test('while the vendor is down, the version before a damaged one is served, and no answer is wrong', async () => {
  const sites = [await publish('v1')];
  await served.start('--encodings', 'none');
  await serves('v1');
  sites.push(await publish('v2'));
  await serves('v2');
  await damageRunning('guides/page-7.html');
  links.misbehave((response) => response.writeHead(403).end('Request has expired'));
  visiting.begin(['index.html', 'guides/page-7.html', 'downloads/large.pdf'], sites);
  await served.start('--encodings', 'none');
  await serves('v1');
  await wait(50);
  await visiting.end();
  assert.equal(await (await fetch(`${served.site}/guides/page-7`)).text(), sites[0]?.['guides/page-7.html']);
  await served.until('a new link is waited for', ({ source }) => source.state === 'waiting-for-link');
  await served.said(/set a damaged bundle of the store aside/);
  // Killed now, it starts from what it serves.
  await served.child().stop('SIGKILL');
  await served.start('--encodings', 'none');
  await serves('v1');
});

test('while the vendor is down, the intact files of the only copy are served after each restart', async () => {
  const site = await publishStored();
  const digest = siteDigest(site);
  await damage(digest, 'guides/page-7.html');
  links.misbehave((response) => response.writeHead(403).end('Request has expired'));
  visiting.begin(['index.html', 'guides/page-7.html', 'downloads/large.pdf'], [site]);
  for (let starts = 0; starts < 3; starts += 1) {
    await served.start('--encodings', 'none');
    await served.until('the damage is found', ({ source }) => source.state === 'waiting-for-link');
    const statuses = ['/', '/downloads/large.pdf', '/guides/page-7'].map(
      async (path) => (await fetch(served.site + path)).status,
    );
    assert.deepEqual(await Promise.all(statuses), [200, 200, 500]);
    const metrics = await (await fetch(`${served.admin}/metrics`)).text();
    assert.match(metrics, /^bundle_server_damaged_copies_total 1$/m);
    assert.ok((await readdir(served.store)).includes(`damaged-${digest}`));
    await served.child().stop('SIGKILL');
  }
  links.misbehave(undefined);
  await served.start('--encodings', 'none');
  await served.until('it is fetched', ({ source }) => source.kind === 'link' && source.state === 'in-sync');
  await wait(50);
  await visiting.served('guides/page-7.html');
  await visiting.end();
  assert.ok(!(await readdir(served.store)).includes(`damaged-${digest}`));
  assert.deepEqual(await readdir(join(served.store, 'bundles')), [digest]);
});

test('killed before the check has found the damage, the next start finds it', async () => {
  const site = await publishStored();
  await damage(siteDigest(site), 'zz/last.html');
  links.misbehave((response) => response.writeHead(403).end('Request has expired'));
  visiting.begin(['index.html', 'zz/last.html'], [site]);
  for (let kills = 0; kills < 3; kills += 1) {
    await served.start('--encodings', 'none');
    await wait(kills * 30);
    await served.child().stop('SIGKILL');
  }
  assert.equal(visiting.counts().get('zz/last.html 200'), undefined);
  links.misbehave(undefined);
  await served.start('--encodings', 'none');
  await served.until('it is fetched', ({ source }) => source.kind === 'link' && source.state === 'in-sync');
  await wait(50);
  await visiting.served('zz/last.html');
  await visiting.end();
});

test('damaged variants are never sent: the files go out as they are until the variants are made again', async () => {
  const site = await publish('v1');
  await served.start();
  await serves('v1');
  await served.said(/precompressed variants are served/, slowMaking);
  await damageRunning('index.html', 'variants');
  const decoded = { 'index.html': site['index.html'] ?? '' };
  await served.start();
  for (let again = 0; again < 20; again += 1) {
    // fetch decodes it, and fails where the compressed bytes are damaged.
    const text = await (await fetch(`${served.site}/index.html`)).text();
    if (text !== 'No content is ready yet. Try again soon.\n') assert.equal(text, decoded['index.html']);
    await wait(10);
  }
  await served.said(/"isFound":false.*"isFound":false/s, slowMaking);
});
