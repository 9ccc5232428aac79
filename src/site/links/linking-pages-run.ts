// The thread's side of the search for linking pages: reads each page once, resolves its links as a browser does, and notes those that
// lead to a wanted address. Refuses to keep anything else of a page. Invariant: memory grows with the wanted addresses alone.

import { openPack } from '#bundle/store/stored-bundle.ts';
import type { SendReport } from '#platform/runtime/task.ts';
import { composedForm } from '#platform/wire/unicode-form.ts';
import { encodedTarget, readRequestPath } from '#server/http/request-path.ts';
import { pageFiles, readPageSource } from '../pages/bundle-pages.ts';
import { baseUrl } from '../references/body-links.ts';
import { readHtmlReferences } from '../references/html-references.ts';
import type {
  LinkingPages,
  LinkingPagesByAddress,
  LinkingPagesProgress,
  LinkingPagesTask,
} from './linking-pages.ts';

const pagesPerReport = 200;
const mostExamples = 10;
/** No site has it. */
const ownOrigin = 'http://site.invalid';

/** @throws what reading the pack throws */
export async function runLinkingPages(
  { packPath, index, addresses, basePath, hosts }: LinkingPagesTask,
  report: SendReport<LinkingPagesProgress>,
): Promise<LinkingPagesByAddress> {
  const wanted = new Set(addresses);
  const found = new Map<string, { count: number; readonly examples: string[] }>();
  const ownHosts: ReadonlySet<string> = new Set([new URL(ownOrigin).host, ...hosts]);
  const pack = await openPack(packPath, index, undefined);
  let pages = 0;
  try {
    for (const file of pageFiles(index)) {
      const url = new URL(ownOrigin);
      url.pathname = encodedTarget(`${basePath}/${file.path}`);
      const shown = `${basePath}/${addressAsServed(file.path)}`;
      for (const address of addressesLinkedFrom(await readPageSource(pack, file), url, ownHosts)) {
        if (!wanted.has(address)) continue;
        const linking = found.get(address) ?? { count: 0, examples: [] };
        found.set(address, linking);
        linking.count += 1;
        if (linking.examples.length < mostExamples) linking.examples.push(shown);
      }
      pages += 1;
      if (pages % pagesPerReport === 0) await report({ pages });
    }
  } finally {
    await pack.close();
  }
  return new Map<string, LinkingPages>(found);
}

/** Of a page, without a leading slash: `guide/` of `guide/index.html`. */
const addressAsServed = (path: string): string =>
  path.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '');

/**
 * Addresses of the site that a page links to or loads, each once, as the server counts them.
 *
 * @param url of the page
 */
export function addressesLinkedFrom(
  html: string,
  url: URL,
  ownHosts: ReadonlySet<string>,
): ReadonlySet<string> {
  const { base, references } = readHtmlReferences(html);
  const from = baseUrl(base, url);
  const found = new Set<string>();
  for (const { text } of references) {
    const target = URL.parse(text, from.href);
    if (target === null || !/^https?:$/.test(target.protocol) || !ownHosts.has(target.host)) continue;
    const read = readRequestPath(target.pathname, '');
    if (read.outcome === 'path') found.add(composedForm(read.path));
  }
  return found;
}
