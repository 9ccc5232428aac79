// A small site with its search, as files, and how a test serves them: over HTTP below any base path with the air-gap policy, or from a
// folder. Its answers can change while a page is open, as a swap of versions changes them. Keeps every request.

import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { contentTypeOf } from '#bundle/content-type.ts';
import { siteHeaders } from '#server/answer/reply.ts';
import { makeSearchFiles } from '#site/search-program/make-search.ts';
import { type MemorySite, memoryBundle } from '../../support/memory-bundle.ts';

export type SiteFiles = ReadonlyMap<string, string | Buffer>;

/** The line that a server, or `bundle search`, writes into the head of a page. */
const lineFor = (path: string): string =>
  `<script defer src="${'../'.repeat(path.split('/').length - 1)}_sx/search/search.js"></script>`;

/** @param pages by path; text has a head where it is a page */
export async function withSearch(pages: MemorySite): Promise<SiteFiles> {
  const files = new Map<string, string | Buffer>();
  for (const [path, content] of Object.entries(pages)) {
    const isPage = /\.html$/.test(path);
    files.set(path, isPage ? content.toString().replace(/<head\b[^>]*>/, `$&${lineFor(path)}`) : content);
  }
  const context = { signal: new AbortController().signal };
  for await (const { path, bytes } of makeSearchFiles(memoryBundle(pages), context)) {
    files.set(path, Buffer.from(bytes));
  }
  return files;
}

export interface SearchedSite {
  readonly url: URL;
  /** Path and query of each request, without the base path. */
  readonly requests: readonly string[];
  swap(files: SiteFiles): void;
}

/** @param basePath such as `/docs` */
export async function serveSite(t: TestContext, files: SiteFiles, basePath = ''): Promise<SearchedSite> {
  const requests: string[] = [];
  let current = files;
  const headers = siteHeaders('AirGapped');
  const server = createServer(({ url = '/' }, response) => {
    for (let at = 0; at < headers.length; at += 2) {
      response.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
    }
    const inside = url.startsWith(`${basePath}/`) ? url.slice(basePath.length + 1) : undefined;
    if (inside !== undefined) requests.push(inside);
    const path = decodeURIComponent((inside ?? '').replace(/[?#].*$/, ''));
    if (path === '_sx/search/none') {
      response.writeHead(204).end();
      return;
    }
    const found = [path, `${path}.html`, `${path}index.html`].find((name) => current.has(name));
    const type = contentTypeOf(found ?? 'index.html');
    const isKept = found !== undefined && inside !== undefined;
    response.setHeader('cache-control', path === '_sx/search/index.js' ? 'no-cache' : 'max-age=600');
    response.writeHead(isKept ? 200 : 404, { 'content-type': type });
    response.end(isKept ? current.get(found) : '<!doctype html><title>404</title><h1>Not found</h1>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return {
    url: new URL(`http://127.0.0.1:${address.port}${basePath}/`),
    requests,
    swap: (next) => {
      current = next;
    },
  };
}

export async function unpackSite(files: SiteFiles, folder: string): Promise<void> {
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

export interface PageOfSite {
  readonly title: string;
  readonly body: string;
  /** Attributes of `html`. */
  readonly attributes?: string;
  readonly style?: string;
}

export function pageOf({ title, body, attributes = 'lang="en"', style = '' }: PageOfSite): string {
  const styles = `body{font:16px/1.6 "DejaVu Sans",sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}${style}`;
  return `<!doctype html><html ${attributes}><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><title>${title}</title><style>${styles}</style></head><body>${body}</body></html>`;
}

const texts = {
  install:
    'The operator is installed with Helm. Add the repository, then install the chart into a namespace of its own. The operator reads Secrets by their names.',
  upgrade:
    'Run helm upgrade with the values of the first install. Nothing that is served changes while the operator restarts.',
  metrics:
    'Every metric has a name, a unit and labels. Counters end with total, and histograms have buckets.',
};
const main = (title: string, sections: string): string =>
  `<main><h1>${title}</h1>${sections}<p><a id="link" href="#there">A link</a></p><textarea></textarea></main>`;

export const englishPages: Readonly<Record<string, string>> = {
  'index.html': pageOf({ title: 'Handbook', body: main('Handbook', '<p>Start here.</p>') }),
  'guides/index.html': pageOf({ title: 'Guides', body: main('Guides', '<p>All guides.</p>') }),
  'guides/install.html': pageOf({
    title: 'Install the operator',
    body: main(
      'Install the operator',
      `<p>${texts.install}</p><h2 id="permissions">Permissions</h2><p>${'The role allows what the operator needs. '.repeat(40)}</p><h2 id="zookeeper">With a quorum</h2><p>Hippopotamus settings are read once.</p>`,
    ),
  }),
  'guides/upgrade.html': pageOf({
    title: 'Upgrade',
    body: main('Upgrade', `<p>${texts.upgrade}</p>`),
  }),
  'reference/metrics.html': pageOf({
    title: 'Metrics',
    body: main('Metrics', `<p>${texts.metrics}</p>`),
  }),
  ...Object.fromEntries(
    Array.from({ length: 8 }, (_, at) => [
      `concepts/part-${at}.html`,
      pageOf({
        title: `Concept ${at}`,
        body: main(`Concept ${at}`, `<p>What follows once you install a bundle server, part ${at}.</p>`),
      }),
    ]),
  ),
};
