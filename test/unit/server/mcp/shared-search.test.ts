// A search for readers and agents: that one index is made of the pages, what agents find in it, and when they get one of their own.

import assert from 'node:assert/strict';
import { rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { MakeFiles } from '#bundle/made-files.ts';
import { bundleFolder } from '#bundle/store/store-layout.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import type { MadeFeature } from '#server/content/additions.ts';
import { prepareFiles } from '#server/made/made-making.ts';
import { serveAgents } from '#server/mcp/mcp-serving.ts';
import type { AgentQuestion, AgentReport } from '#server/mcp/mcp-task.ts';
import { openAgentSite } from '#site/mcp/agent-site.ts';
import { makeSearchFiles } from '#site/search-program/make-search.ts';
import { madeByLists } from '../../../support/list-pages.ts';
import { putBundle } from '../../../support/store-builder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const page = (title: string, text: string): string =>
  `<html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1><p>${text}</p></main></body></html>`;
const noIndex = '<meta name="robots" content="noindex">';
const site = { 'index.html': page('Home', 'A wombat.'), 'guide.html': page('Guide', 'The quokka.') };

/** A stored site, the search of its readers, and agents in this thread. Counts whose work reads a page. */
async function sharedSite(store: string, files: Readonly<Record<string, string>> = site) {
  const { digest } = await putBundle(store, files);
  const folder = bundleFolder(store, digest);
  const reads = { made: 0, agents: 0 };
  const counted = (bundle: StoredBundle, by: keyof typeof reads): StoredBundle => ({
    ...bundle,
    readInto: (file, into) => {
      reads[by] += 1;
      return bundle.readInto(file, into);
    },
    readIntoSync: (file, into) => {
      reads[by] += 1;
      bundle.readIntoSync(file, into);
    },
  });
  const search: MakeFiles = (bundle, context) => makeSearchFiles(counted(bundle, 'made'), context);
  const makers = { ...madeByLists, search: async () => search };
  const usual = { folder, digest, cpuPercent: 100, maxBytes: 10_000_000 };
  const make = (basePath = '', features: readonly MadeFeature[] = ['search']) =>
    prepareFiles({ ...usual, features, basePath }, makers, systemClock);

  const reports: AgentReport[] = [];
  let tell: (question: AgentQuestion) => void = () => {};
  let heard = Promise.withResolvers<void>();
  const port = {
    postMessage: (report: AgentReport) => {
      reports.push(report);
      heard.resolve();
      heard = Promise.withResolvers();
    },
    on: (_event: 'message', listener: typeof tell) => {
      tell = listener;
    },
  };
  const openSite: Parameters<typeof serveAgents>[1] = (bundle, opening) =>
    openAgentSite(counted(bundle, 'agents'), opening, systemClock);
  serveAgents(port, openSite, systemClock);
  const until = async <R extends AgentReport['kind']>(kind: R) => {
    for (;;) {
      const found = reports.find((report) => report.kind === kind);
      if (found !== undefined) return found;
      await heard.promise;
    }
  };
  const content = { folder, digest, cpuPercent: 100 };
  return {
    ...{ folder, digest, reads, make, until, reports },
    open: () => tell({ kind: 'open', content, search: 'made-files' }),
    settle: (isMade: boolean) => tell({ kind: 'made', digest, isMade }),
    find: async (query: string): Promise<string> => {
      const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
      const body = JSON.stringify({ ...rpc, params: { name: 'search', arguments: { query } } });
      const types = ['content-type', 'application/json', 'accept', 'application/json, text/event-stream'];
      const host = { host: 'localhost', hosts: [], serverName: 'localhost/documentation' };
      const call = { headers: types, body: Buffer.from(body), ...host, basePath: '', version: 'v1' };
      tell({ kind: 'call', id: 1, digest, call });
      const answer = await until('answer');
      return answer.kind === 'answer' ? answer.reply.body : '';
    },
  };
}

test('one index is made of the pages for readers and agents', async (t) => {
  const shared = await sharedSite(temporaryFolder(t));
  shared.open();
  await shared.until('opened');
  await shared.make('/docs');
  assert.equal(shared.reads.made, 2);
  shared.settle(true);
  assert.deepEqual(await shared.until('searchable'), {
    ...{ kind: 'searchable', digest: shared.digest, pages: 2 },
  });
  // What agents have open stays whole.
  await shared.make('/other');
  assert.match(await shared.find('quokka'), /guide/);
  assert.equal(shared.reads.agents, 0);
});

for (const [what, damage] of [
  ['that did not come about', async () => {}],
  ['whose list is of another program', (folder: string) => writeFile(join(folder, 'made-index'), 'other')],
  ['whose pack is gone', (folder: string) => rm(join(folder, 'made'))],
  ['whose pack is cut off', (folder: string) => truncate(join(folder, 'made'), 10)],
] as const) {
  test(`instead of files ${what}, agents get a search of their own`, async (t) => {
    const shared = await sharedSite(temporaryFolder(t));
    shared.open();
    await shared.make();
    await damage(shared.folder);
    shared.settle(what !== 'that did not come about');
    await shared.until('searchable');
    assert.equal(shared.reads.agents, 2);
    assert.match(await shared.find('quokka'), /guide/);
  });
}

test('of a site whose pages all ask to be left out, agents find nothing, and no page is read for them', async (t) => {
  const shared = await sharedSite(
    temporaryFolder(t),
    Object.fromEntries(
      Object.entries(site).map(([path, html]) => [path, html.replace('<title>', `${noIndex}<title>`)]),
    ),
  );
  shared.open();
  assert.equal((await shared.make()).counts.search.files, 0);
  assert.equal(shared.reads.made, 2);
  shared.settle(true);
  assert.deepEqual(await shared.until('searchable'), {
    ...{ kind: 'searchable', digest: shared.digest, pages: 0 },
  });
  assert.match(await shared.find('quokka'), /"structuredContent":\{[^}]*\},"count":0/);
  assert.equal(shared.reads.agents, 0);
});

test('a list of Markdown alone is not taken for an empty search', async (t) => {
  const shared = await sharedSite(temporaryFolder(t));
  shared.open();
  await shared.make('', ['markdown']);
  shared.settle(true);
  await shared.until('searchable');
  assert.equal(shared.reads.agents, 2);
  assert.match(await shared.find('quokka'), /guide/);
});
