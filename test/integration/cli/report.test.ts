// `report` against real bundle servers: two replicas, one that counts nothing, and one that does not answer.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runInProcess } from '../../support/cli-in-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { bundleDocument, makeArchive } from '../server/archive.ts';
import { type LinkServer, startLinkServer } from '../server/link-server.ts';
import { prepareSite, type ServedSite } from '../server/served-site.ts';

const archive = join(temporaryFolder(), 'site.tar.gz');
let links: LinkServer;
let servers: readonly ServedSite[] = [];

before(async () => {
  links = await startLinkServer();
  const bytes = await makeArchive({
    'index.html': '<a href="guide/">Guide</a> <a href="/docs/old">Old</a>',
    'guide/index.html': '<a href="https://docs.example.com/docs/old">Old</a>',
  });
  links.put('v1', bytes);
  await writeFile(archive, bytes);
  servers = [await prepareSite(), await prepareSite(), await prepareSite()];
  for (const [at, served] of servers.entries()) {
    await served.mount(bundleDocument({ version: 'v1', link: links.link('v1') }));
    await served.start('--base-path=/docs', `--insights=${at < 2}`);
    await served.until('v1 is served', ({ active }) => active?.version === 'v1');
  }
  const [one, other] = servers;
  for (const path of ['/docs/old', '/docs/old', '/docs/never-linked', '/docs/_sx/search/none?q=Webhooks'])
    await (await fetch(`${one?.site}${path}`)).text();
  for (const path of ['/docs/old', '/docs/_sx/search/none?q=webhooks'])
    await (await fetch(`${other?.site}${path}`)).text();
});
after(async () => {
  for (const served of servers) await served.remove();
  await links.close();
});

const report = (...args: readonly string[]) => runInProcess(['report', ...args]);

test('what all servers counted is added up, with the pages that link to a missing address', async () => {
  const admins = [...servers.map(({ admin }) => admin), 'http://127.0.0.1:1'];
  const args = ['--server', admins.join(), '--bundle', archive, '--domain', 'docs.example.com'];
  const { code, stdout, stderr } = await report(...args, '-o', 'json');
  assert.equal(code, 5, stderr);
  const document = JSON.parse(stdout);
  assert.equal(document.kind, 'InsightReport');
  assert.deepEqual(
    document.servers.map(({ state }: { state: string }) => state),
    ['Read', 'Read', 'Off', 'NotReadable'],
  );
  assert.deepEqual(
    document.missingAddresses.entries.map(({ lastHour, ...entry }: { lastHour: string }) => entry),
    [
      { address: '/docs/old', count: 3, linkingPages: { count: 2, examples: ['/docs/guide/', '/docs/'] } },
      { address: '/docs/never-linked', count: 1, linkingPages: { count: 0, examples: [] } },
    ],
  );
  assert.deepEqual(
    document.emptySearches.entries.map(({ text, count }: { text: string; count: number }) => [text, count]),
    [['webhooks', 2]],
  );
  const { stdout: shown } = await report(...args);
  assert.match(shown, /^Servers: 2 of 4\n/);
  assert.match(shown, /^ +3 +\/docs\/old .*\/docs\/guide\/, \/docs\/$/m);
  assert.match(shown, /^ +2 +webhooks /m);
});

test('a server that is down is named, and the exit code says that the report lacks it', async () => {
  const [one, , off] = servers;
  const read = [one?.admin ?? '', off?.admin ?? ''];
  // A server that counts nothing is how its owner wants it.
  assert.equal((await report('--server', read.join())).code, 0);
  const down = await report('--server', [...read, 'http://127.0.0.1:1'].join(), '--ci', 'gitlab');
  assert.equal(down.code, 5);
  assert.match(down.stdout, /^Servers: 1 of 3\n/);
  assert.match(down.stdout, /^ +http:\/\/127\.0\.0\.1:1: not readable: The server /m);
  assert.match(down.stderr, /error: Server http:\/\/127\.0\.0\.1:1 was not read, .* \(ServerNotRead\)$/m);
});

test('another archive than the one that is served is a warning with both digests', async () => {
  const [one] = servers;
  const other = join(temporaryFolder(), 'other.tar.gz');
  await writeFile(other, await makeArchive({ 'index.html': '<h1>Other</h1>' }));
  const args = ['--server', one?.admin ?? '', '--bundle', other];
  const { stdout } = await report(...args, '-o', 'json');
  const { servers: rows, bundle } = JSON.parse(stdout);
  assert.match(rows[0].digest, /^[0-9a-f]{64}$/);
  const shown = await report(...args);
  assert.equal(shown.code, 0);
  const [served, named] = [rows[0].digest, bundle.digest].map((digest: string) => digest.slice(0, 12));
  assert.ok(
    shown.stdout.includes(`Warning: Server ${one?.admin} serves digest ${served}; --bundle is ${named}. `),
    shown.stdout,
  );
  assert.doesNotMatch((await report('--server', one?.admin ?? '', '--bundle', archive)).stdout, /^Warning/m);
});

test('without a bundle the report says how to see the pages, and without a server that counts it fails with the remedy', async () => {
  const [one, , off] = servers;
  assert.match((await report('--server', one?.admin ?? '')).stdout, /are listed with --bundle ARCHIVE\./);
  const refused = await report('--server', off?.admin ?? '', '-o', 'json');
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /"code": "InsightsOff"/);
  assert.match(refused.stdout, /server\.insights=true/);
  const unread = await report('--server', 'http://127.0.0.1:1', '-o', 'json');
  assert.equal(unread.code, 5);
  assert.match(unread.stdout, /"code": "NoServerRead"/);
  const wrong = await report('docs', '--server', 'http://127.0.0.1:1');
  assert.equal(wrong.code, 2);
  const host = await report(
    '--server',
    one?.admin ?? '',
    '--domain',
    'https://docs.example.com',
    '-o',
    'json',
  );
  assert.equal(host.code, 2);
  assert.match(host.stdout, /--domain must be a host such as docs\.example\.com/);
});
