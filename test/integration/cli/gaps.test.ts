// `conversations gaps` over the life of a page: visitors ask what it leaves open, it is edited, the site is exported again,
// and later visitors get their answer. Real programs all the way: the export service crawls a site and lists conversations.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type GapReport, parseReport } from '#conversations/gaps/report-schema.ts';
import { noBrowser, startBrowser } from '../../support/browser.ts';
import { startProgram } from '../../support/child-program.ts';
import { runInProcess } from '../../support/cli-in-process.ts';
import type { CommandResult } from '../../support/command.ts';
import { createAuthority } from '../../support/pki.ts';
import { programFile } from '../../support/program-file.ts';
import { sampleTurn } from '../../support/sample-turn.ts';
import { declareSecret } from '../../support/secret-watch.ts';
import { signature, startStorage } from '../../support/storage-server.ts';

const key = 'svc_gaps_test';
const dayMs = 86_400_000;
const now = Date.now();
const daysAgo = (days: number): string => new Date(now - days * dayMs).toISOString();
/** As an export names a version. */
const versionOf = (days: number, hash: string): string =>
  `${daysAgo(days).slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}-${hash}`;

interface Workplace {
  readonly folder: string;
  readonly url: string;
  /** Pages of the site, by path. */
  readonly pages: Map<string, string>;
  readonly run: (...args: readonly string[]) => Promise<CommandResult>;
  /** Adds turns to what the service lists. */
  readonly ask: (turns: readonly object[]) => void;
}

async function workplace(t: TestContext): Promise<Workplace> {
  const folder = mkdtempSync(join(tmpdir(), 'cli-gaps-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const pages = new Map([
    ['/', '<a href="/guide">guide</a>'],
    ['/guide', '<h1>SSO</h1><p>Ask us.</p>'],
  ]);
  const origin = createServer((request, response) => {
    const page = pages.get(request.url ?? '');
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html' }).end(page);
  }).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  t.after(() => origin.close());
  const address = origin.address();
  assert.ok(typeof address === 'object' && address !== null);

  writeFileSync(join(folder, 'key'), `${key}\n`);
  const listed: object[] = [];
  const ask = (turns: readonly object[]): void => {
    listed.push(...turns);
    writeFileSync(join(folder, 'listed.ndjson'), listed.map((turn) => `${JSON.stringify(turn)}\n`).join(''));
  };
  ask([]);
  const { promise: listening, resolve } = Promise.withResolvers<string>();
  const service = startProgram(process.execPath, {
    args: [
      programFile('export-service'),
      ...['--keys-file', join(folder, 'key'), '--data', join(folder, 'data'), '--listen', '127.0.0.1:0'],
      ...['--origin', `docs.example.com=http://127.0.0.1:${address.port}`],
      ...['--conversations', join(folder, 'listed.ndjson'), '--conversations-project', 'docs'],
    ],
    onLine: (line) => {
      const found = /"address":"([^"]+)"/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    },
  });
  t.after(() => service.stop());
  const url = await Promise.race([
    listening,
    service.exited.then(() => Promise.reject(new Error(service.tail()))),
  ]);
  const run = (...args: readonly string[]): Promise<CommandResult> =>
    runInProcess(args, { env: { XDG_STATE_HOME: join(folder, 'home') } });
  return { folder, url, pages, run, ask };
}

let asked = 0;
const turnAt = (
  days: number,
  status: 'answered' | 'unanswered',
  query = 'How do I set up SSO?',
  page = '/guide',
) => {
  asked += 1;
  const timestamp = new Date(now - days * dayMs + asked * 1000).toISOString();
  const pageUrl = `https://docs.example.com${page}`;
  return {
    id: `conversation-${asked}`,
    timestamp,
    query,
    response: '<b>An answer</b>',
    sources: [
      { title: 'Guide', url: `${pageUrl}#top` },
      { title: 'Old', url: 'https://docs.example.com/gone' },
    ],
    queryCategory: 'Security <script>alert(1)</script>',
    pageUrl,
    resolutionStatus: status,
  };
};
const some = <T>(count: number, one: () => T): readonly T[] => Array.from({ length: count }, one);

test('a page that is edited closes its gap in the version that holds the edit, and the gap can come back', {
  timeout: 240_000,
}, async (t) => {
  const { folder, url, pages, run, ask } = await workplace(t);
  const at = (name: string): string => join(folder, name);
  const succeed = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...args);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const access = ['--api-base-url', url, '--key-file', at('key')];
  const exportSite = (archive: string) =>
    succeed(
      'export',
      'docs.example.com',
      ...access,
      '--allow-private-links',
      '--new',
      '--state',
      at('site-state'),
      '--to',
      at(archive),
    );
  const exportTurns = () =>
    succeed(
      'conversations',
      'export',
      ...access,
      '--project',
      'docs',
      '--since',
      '30d',
      '--to',
      at('turns'),
      '--state',
      at('turn-state'),
    );
  const gaps = (archive: string, version: string, ...more: readonly string[]) =>
    run(
      'conversations',
      'gaps',
      '--from',
      at('turns'),
      '--bundle',
      at(archive),
      '--bundle-version',
      version,
      ...more,
    );
  const report = async (
    name: string,
    archive: string,
    version: string,
    ...more: readonly string[]
  ): Promise<GapReport> => {
    const { code, stdout, stderr } = await gaps(archive, version, '--format', 'json', ...more);
    assert.equal(code, 0, stderr);
    writeFileSync(at(name), stdout);
    const parsed = parseReport(stdout);
    assert.ok(parsed !== undefined);
    return parsed;
  };
  const [first, second] = [versionOf(20, 'aaaaaaaa'), versionOf(10, 'bbbbbbbb')];

  await exportSite('one.tar.gz');
  ask(some(12, () => turnAt(15, 'unanswered')));
  await exportTurns();
  const one = await report('one.json', 'one.tar.gz', first);
  assert.deepEqual(
    one.gaps.map(({ kind, state, pages: mapped }) => [kind, state, mapped]),
    [
      ['page', 'Open', ['/guide']],
      ['question', 'Open', ['/guide', '/gone']],
    ],
  );
  assert.deepEqual(
    one.missingPages.map(({ page, turns }) => [page, turns]),
    [['/gone', 12]],
  );

  pages.set('/guide', '<h1>SSO</h1><p>Open Settings, then Security, and paste the metadata.</p>');
  await exportSite('two.tar.gz');
  ask(some(12, () => turnAt(5, 'answered', 'how can I configure single sign-on?')));
  await exportTurns();
  const two = await report('two.json', 'two.tar.gz', second, '--previous', at('one.json'));
  assert.deepEqual(
    two.gaps.map(({ id, state, closed }) => [id, state, closed?.version]),
    one.gaps.map(({ id }) => [id, 'Closed', second]),
  );
  assert.deepEqual(two.gaps[0]?.closed, {
    version: second,
    before: { turns: 12, unanswered: 12 },
    after: { turns: 12, unanswered: 0 },
  });

  ask([
    ...some(15, () => turnAt(1, 'unanswered')),
    ...some(6, () => turnAt(1, 'unanswered', 'Where is the audit log?', '/audit')),
  ]);
  await exportTurns();
  const failing = await gaps('two.tar.gz', second, '--previous', at('two.json'), '--fail-on-new', '3');
  assert.equal(failing.code, 11, failing.stderr);
  assert.match(failing.stdout, /^\| Reopened, new \|/m);
  assert.match(failing.stderr, /4 gaps are new or reopened/);
  assert.equal(
    (await gaps('two.tar.gz', second, '--previous', at('two.json'), '--fail-on-new', '5')).code,
    0,
  );

  const reports = at('reports');
  await succeed('conversations', 'gaps', '--from', at('turns'), '--to', reports);
  const kept = readFileSync(join(reports, 'gaps.json'), 'utf8');
  assert.match(readFileSync(join(reports, 'gaps.html'), 'utf8'), /audit log/);
  const again = await succeed('conversations', 'gaps', '--from', at('turns'), '--to', reports);
  assert.match(again, /open gaps, 0 of them new or reopened since \d{4}-/);
  assert.doesNotMatch(again, /audit|SSO/i);
  assert.equal(parseReport(readFileSync(join(reports, 'gaps.json'), 'utf8'))?.newGaps, 0);
  assert.ok((parseReport(kept)?.gaps.length ?? 0) > 0);

  const csv = await gaps('two.tar.gz', second, '--format', 'csv');
  assert.match(csv.stdout, /^week,category,page,turns/);

  const stored = ['--format', 'sqlite', '--to', at('turns.sqlite'), '--state', at('sqlite-state')];
  await succeed('conversations', 'export', ...access, '--project', 'docs', '--since', '30d', ...stored);
  const [ofFolder, ofSqlite] = await Promise.all(
    ['turns', 'turns.sqlite'].map((from) => succeed('conversations', 'gaps', '--from', at(from))),
  );
  assert.equal(ofSqlite, ofFolder);

  if (noBrowser !== false) return;
  const html = await gaps('two.tar.gz', second, '--previous', at('two.json'), '--format', 'html');
  writeFileSync(at('gaps.html'), html.stdout);
  const browser = await startBrowser();
  t.after(() => browser.close());
  const page = await browser.openPage();
  await page.goTo(`file://${at('gaps.html')}`);
  assert.deepEqual(page.troubles, []);
  assert.equal(await page.evaluate('document.scripts.length'), 0);
  assert.match(
    String(await page.evaluate('document.body.innerText')),
    /Security <script>alert\(1\)<\/script>/,
  );
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
});

test('what cannot be compared is refused with a code of its own', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cli-gaps-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const turn = (project: string) =>
    `${JSON.stringify({ turn_key: 'a'.repeat(64), project, conversation: null, timestamp: null, query: null, category: null, resolution_status: null, page_url: null, sources: [] })}\n`;
  writeFileSync(join(folder, 'turns.ndjson'), turn('one') + turn('two'));
  writeFileSync(join(folder, 'text.json'), '{"kind":"Other"}');
  const refused = async (...args: readonly string[]) => {
    const { code, stdout } = await runInProcess(['conversations', 'gaps', '-o', 'json', ...args]);
    return [code, JSON.parse(stdout || '{}').code];
  };
  const from = ['--from', join(folder, 'turns.ndjson')];
  assert.deepEqual(await refused('--from', join(folder, 'nowhere')), [2, 'StoreUnreadable']);
  assert.deepEqual(await refused(...from), [2, 'SeveralProjects']);
  assert.deepEqual(await refused(...from, '--previous', join(folder, 'nowhere')), [2, 'PreviousUnreadable']);
  assert.deepEqual(await refused(...from, '--previous', join(folder, 'text.json')), [2, 'PreviousInvalid']);
  assert.deepEqual(await refused(...from, '--bundle', join(folder, 'nowhere')), [2, 'ArchiveUnreadable']);
  assert.equal((await refused(...from, '--fail-on-new', '1'))[0], 2);
  assert.equal((await refused(...from, '--to', join(folder, 'reports'), '--format', 'csv'))[0], 2);
  assert.equal((await refused(...from, '--project', 'one'))[0], 0);
});

test('--extra-ca-file is for the download of a link too, and no link is in an error', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cli-gaps-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const at = (name: string): string => join(folder, name);
  writeFileSync(at('turns.ndjson'), `${JSON.stringify(sampleTurn())}\n`);
  mkdirSync(at('site'));
  writeFileSync(at('site/index.html'), '<h1>home</h1>');
  const run = (...args: readonly string[]): Promise<CommandResult> => runInProcess(args);
  assert.equal((await run('bundle', 'pack', at('site'), at('site.tar.gz'))).code, 0);
  const authority = await createAuthority();
  writeFileSync(at('ca.pem'), authority.certificatePem);
  const { certificatePem: cert, keyPem: key } = await authority.issueServer({ dns: [], ips: ['127.0.0.1'] });
  const archive = readFileSync(at('site.tar.gz'));
  const storage = await startStorage((_request, response) => void response.end(archive), { cert, key });
  t.after(() => storage.close());
  declareSecret('the link', signature);
  const gaps = ['conversations', 'gaps', '--from', at('turns.ndjson'), '--bundle', storage.link().reveal()];
  const untrusted = await run(...gaps);
  assert.notEqual(untrusted.code, 0);
  const trusted = await run(...gaps, '--extra-ca-file', at('ca.pem'));
  assert.equal(trusted.code, 0, trusted.stderr);
});
