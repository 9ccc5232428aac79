// What a bundle holds and the site hides is on neither port and on no disk: not in the copy that other servers get,
// not in the store, not in /status. Its name and its hash are in the index, so that the digest proves the whole.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { parseIndex } from '#bundle/store/index-document.ts';
import { zip } from '../../support/zip-builder.ts';
import { bundleDocument, makeArchive, makeSite, type SiteContent, sha256 } from './archive.ts';
import { type LinkServer, startLinkServer } from './link-server.ts';
import { prepareSite, type ServedSite } from './served-site.ts';

const secret = 'AKIA5ecretOfTheBuild';
const hidden: SiteContent = {
  '.env': `KEY=${secret}\n`,
  '.git/config': `[remote]\n  url = https://token:${secret}@git.example.com/docs\n`,
  '.git/index.html': `<p>${secret}</p>`.repeat(100),
  _headers: `/*\n  X-Token: ${secret}\n`,
  'serve.js': `const token = '${secret}';\n`.repeat(100),
  'guides/.draft.html': `<p>${secret}</p>\n`.repeat(100),
  '.well-known/.token': secret,
};
// Among the others, so that something lies before and behind each.
const site: SiteContent = {
  ...hidden,
  '.well-known/security.txt': 'Contact: mailto:docs@example.com\n',
  ...makeSite('v1', 5),
};
/** Every way to ask the site for them that a reader of URLs might take for the name. */
const requests = [
  ...Object.keys(hidden).map((path) => `/${path}`),
  ...[
    '/%2eenv',
    '/%2Eenv',
    '//.env',
    '/./.env',
    '/.ENV',
    '/.env/',
    '/.env%00',
    '/.env?x',
    '/guides/..%2f.env',
  ],
  ...[
    '/.git',
    '/.git/',
    '/.git/index',
    '/.git/config/',
    '/guides/.draft',
    '/serve',
    '/%5fheaders',
    '/.well-known/',
  ],
];

let links: LinkServer;
let servers: ServedSite[];
let closing: (() => void)[];

beforeEach(async () => {
  links = await startLinkServer();
  links.put('tar', await makeArchive(site));
  links.put('zip', zip(Object.entries(site).map(([name, content]) => ({ name, content }))));
  servers = [];
  closing = [];
});
afterEach(async () => {
  await Promise.all(servers.map((one) => one.remove()));
  for (const close of closing) close();
  await links.close();
});

async function serve(archive: string, digest?: string, peers = '127.0.0.1:1'): Promise<ServedSite> {
  const server = await prepareSite();
  servers.push(server);
  await server.mount(bundleDocument({ version: 'v1', link: links.link(archive), digest }));
  await server.start('--peers', peers);
  return server;
}

/** @returns its digest, once nothing of it is still being written: a file in the making is renamed while it is looked for */
async function servedDigest(server: ServedSite): Promise<string> {
  const { active } = await server.until('v1 is served', (status) => status.active !== null);
  await server.until('variants are made', ({ encodings }) => encodings.state === 'ready', {
    timeoutMs: 120_000,
  });
  await server.settle();
  return active?.digest ?? assert.fail();
}

async function bytesOf(url: string): Promise<Buffer> {
  const answer = await fetch(url);
  assert.equal(answer.status, 200, url);
  return Buffer.from(await answer.arrayBuffer());
}

async function filesWithSecret(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((one) => one.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const found = await Promise.all(
    files.map(async (path) => ((await readFile(path)).includes(secret) ? [path] : [])),
  );
  return found.flat();
}

async function assertHandsOutNothing(server: ServedSite, digest: string): Promise<void> {
  for (const path of requests) {
    const answer = await fetch(`${server.site}${path}`, { headers: { 'accept-encoding': 'identity' } });
    assert.ok([400, 404].includes(answer.status), `${path}: ${answer.status}`);
    assert.ok(!(await answer.text()).includes(secret), path);
  }
  const pack = await bytesOf(`${server.admin}/peers/${digest}/pack`);
  assert.ok(!pack.includes(secret), 'the pack for peers holds hidden bytes');
  assert.ok(pack.includes('Contact: mailto'), 'the pack for peers holds what is shown');
  const index = parseIndex((await bytesOf(`${server.admin}/peers/${digest}/index`)).toString());
  const named = Object.fromEntries(index?.index.files.map((file) => [file.path, file.sha256]) ?? []);
  for (const [path, content] of Object.entries(hidden)) assert.equal(named[path], sha256(content), path);
  for (const page of ['/status', '/metrics', '/readyz', '/']) {
    const text = (await bytesOf(`${server.admin}${page}`)).toString();
    for (const words of [secret, ...Object.keys(hidden)]) {
      // Of a page that visitors will miss, the administrator gets the path.
      const isNamed = page === '/status' && words === 'guides/.draft.html';
      assert.equal(text.includes(words), isNamed, `${words} in ${page}`);
    }
  }
  assert.deepEqual(await filesWithSecret(server.store), [], 'hidden bytes are on the disk');
}

for (const archive of ['tar', 'zip']) {
  test(`hidden files of a ${archive} are on neither port, on no disk, and a peer's copy has the same digest`, async () => {
    const first = await serve(archive);
    const digest = await servedDigest(first);
    await assertHandsOutNothing(first, digest);

    links.misbehave((response) => response.writeHead(403).end());
    const second = await serve(archive, digest, new URL(first.admin).host);
    assert.equal(await servedDigest(second), digest);
    assert.equal((await second.status()).source.kind, 'peer');
    await assertHandsOutNothing(second, digest);

    await second.kill();
    await second.start('--peers', '127.0.0.1:1');
    assert.equal(await servedDigest(second), digest);
    assert.equal((await second.status()).source.kind, 'disk');
    await assertHandsOutNothing(second, digest);
  });
}

test('a hidden page that --serve-dotfiles names is served from a copy of its own, precompressed and after a restart', async () => {
  const first = await serve('tar');
  const digest = await servedDigest(first);
  await first.said(/get 404, because a name in their path is hidden: .*guides\/\.draft\.html/);
  const second = await prepareSite();
  servers.push(second);
  await second.mount(bundleDocument({ version: 'v1', link: links.link('tar'), digest }));
  const flags = ['--peers', new URL(first.admin).host, '--serve-dotfiles=.draft'];
  await second.start(...flags);
  assert.equal(await servedDigest(second), digest);
  assert.equal((await second.status()).source.kind, 'link', 'the copy of the first has no bytes of the page');
  for (const [path, status] of [
    ['/guides/.draft', 200],
    ['/guides/.draft.html', 200],
    ['/.env', 404],
    ['/.git/', 404],
  ] as const) {
    assert.equal((await fetch(`${second.site}${path}`)).status, status, path);
  }
  const packed = await fetch(`${second.site}/guides/.draft`, { headers: { 'accept-encoding': 'br' } });
  assert.equal(packed.headers.get('content-encoding'), 'br');
  await second.kill();
  links.misbehave((response) => response.writeHead(403).end());
  await second.start(...flags);
  assert.equal(await servedDigest(second), digest);
  assert.equal((await fetch(`${second.site}/guides/.draft`)).status, 200);
});
