// The Markdown of a site, for agents: a twin of each page, `llms.txt` and `llms-full.txt`. Reads one page at a time. Refuses to replace
// what the origin has: its own Markdown, under any spelling, and its own lists stay. Invariant: the same bundle and the same site give
// the same files.

import type { BundleFile } from '#bundle/bundle-index.ts';
import type { MadeFile, MakeFiles } from '#bundle/made-files.ts';
import { addressOfPage } from '#bundle/store/digest.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import { pageFiles, readPageSource } from '../pages/bundle-pages.ts';
import { type PageText, readPageText, shownTitle, usualPageBounds } from '../pages/page-text.ts';
import {
  createFullText,
  isOptional,
  type ListedPage,
  type ListedSite,
  llmsText,
  maxFullBytes,
  maxLlmsPages,
} from './llms-text.ts';
import { pageMarkdown } from './page-markdown.ts';
import { type MarkdownSite, siteAddress } from './site-links.ts';
import { twinPath, twinSpellings } from './twin-path.ts';

export const llmsPath = 'llms.txt';
export const llmsFullPath = 'llms-full.txt';

/** @param site for the addresses of links */
export function makeMarkdownFiles(site: MarkdownSite): MakeFiles {
  return async function* (bundle, { signal, onFile, rest }): AsyncGenerator<MadeFile> {
    const files = pageFiles(bundle.index);
    const taken = new Map(bundle.index.files.map((file) => [file.path, file]));
    const listedSite = await describeSite(bundle, files, site);
    const listed: ListedPage[] = [];
    let unlisted = 0;
    const full = createFullText();
    const made = new Set<string>();
    for (const [at, file] of files.entries()) {
      signal.throwIfAborted();
      const usual = twinPath(file.path);
      // `a.md` is that of `a.html` where `a/index.html` is another page.
      const twin = usual !== undefined && made.has(usual) ? usual.replace(/\.md$/, '/index.md') : usual;
      if (twin === undefined || made.has(twin)) continue;
      const own = twinSpellings(twin).find((path) => taken.has(path));
      const html = await readPageSource(bundle, file);
      const page = readPageText(html, usualPageBounds);
      const markdown =
        own === undefined ? pageMarkdown(html, page, file.path, site) : await readOwn(bundle, taken.get(own));
      if (own === undefined) {
        made.add(twin);
        yield { path: twin, bytes: Buffer.from(markdown ?? '') };
      }
      if (page.isIndexed) {
        const entry = listedPage(file.path, page, siteAddress(own ?? twin, site));
        if (listed.length < maxLlmsPages) listed.push(entry);
        else unlisted += 1;
        if (markdown === undefined || isOptional(entry, listedSite)) full.leaveOut(entry);
        else full.add(entry, markdown);
      }
      onFile?.(at + 1, files.length);
      await rest?.();
    }
    if (listed.length === 0) return;
    if (!taken.has(llmsPath)) {
      yield { path: llmsPath, bytes: Buffer.from(llmsText(listedSite, listed, unlisted)) };
    }
    if (!taken.has(llmsFullPath)) yield { path: llmsFullPath, bytes: Buffer.from(full.text(listedSite)) };
  };
}

/** Of the start page; without one, of the host. */
async function describeSite(
  bundle: StoredBundle,
  files: readonly BundleFile[],
  { origin }: MarkdownSite,
): Promise<ListedSite> {
  const start = files.find((file) => addressOfPage(file) === '');
  const page = start === undefined ? undefined : readPageText(await readPageSource(bundle, start));
  return {
    title:
      page?.title || (page && shownTitle(page)) || (origin === undefined ? 'Pages' : new URL(origin).host),
    summary: page?.description ?? '',
    language: page?.language,
  };
}

function listedPage(path: string, page: PageText, address: string): ListedPage {
  const { description, language } = page;
  return { path, address, title: shownTitle(page), description, language };
}

/** @returns `undefined` for a file that has no room in the full text */
async function readOwn(bundle: StoredBundle, file: BundleFile | undefined): Promise<string | undefined> {
  if (file === undefined || file.size > maxFullBytes) return undefined;
  const bytes = Buffer.alloc(file.size);
  await bundle.readInto(file, bytes);
  return bytes.toString();
}
