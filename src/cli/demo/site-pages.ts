// The demo's docs site: a few pages about this program, a style sheet, two pictures and a page for unknown addresses. Owns
// their text. Pure: an edition is a value. Invariant: every page of two editions differs, so that a server that mixes them
// is noticed.

import { picture, styles } from './site-style.ts';

export interface DemoSiteFile {
  readonly type: string;
  readonly body: Buffer;
}

/** One state of the whole site: each file by the address that a visitor opens. */
export type SiteEdition = ReadonlyMap<string, DemoSiteFile>;

interface SitePage {
  readonly path: string;
  readonly title: string;
  /** HTML. */
  readonly text: string;
}

const home: SitePage = {
  path: '/',
  title: 'Docs that stay up',
  text: `
<p class="lead">This small docs site plays the part of yours. The demo exported it, checked the archive, and serves you the copy.</p>
<img src="/assets/flow.svg" alt="Origin, export service, checks, bundle server, reader" width="696" height="80">
<div class="cards">
<a href="/guides/versions/"><b>Versions and links</b>One says which content, the other where to download it.</a>
<a href="/guides/checks/"><b>Checks</b>What must be true before readers get an export.</a>
<a href="/guides/outage/"><b>When the vendor is away</b>Why you can still read this page.</a>
</div>`,
};

const pages: readonly SitePage[] = [
  home,
  {
    path: '/start/',
    title: 'Start',
    text: `
<p>Write a manifest, and let the program export, check and publish your site:</p>
<pre>static-export run -f docs.yaml --state state --link-file bundle.json</pre>
<p>A bundle server with <code>--bundle-file bundle.json</code> serves each version. In a cluster the operator and the two charts do the same.</p>`,
  },
  {
    path: '/guides/',
    title: 'Guides',
    text: `
<ul><li><a href="/guides/versions/">Versions and links</a></li><li><a href="/guides/checks/">Checks</a></li>
<li><a href="/guides/outage/">When the vendor is away</a></li></ul>`,
  },
  {
    path: '/guides/versions/',
    title: 'Versions and links',
    text: `
<p>The <b>version</b> names the content. It changes when an export with different content is published, and only then do servers swap.</p>
<p>The <b>link</b> leads to the archive and soon expires. It is replaced before that. No server restarts for it, and nothing is downloaded.</p>`,
  },
  {
    path: '/guides/checks/',
    title: 'Checks',
    text: `
<p>Before an export is published, its archive is downloaded and every file is hashed. An export is <b>rejected</b> when its archive is
damaged or dangerous. It is <b>held</b> when it has fewer than half of the pages.</p>
<p>What readers get does not change until all checks have passed.</p>`,
  },
  {
    path: '/guides/outage/',
    title: 'When the vendor is away',
    text: `
<p>A server keeps the bundles that it verified. It starts from its disk, and serves the same bytes as before, for as long as the
vendor is away.</p>
<blockquote>The vendor can be down, links can expire, and the site stays up on exactly the bytes that were checked.</blockquote>`,
  },
  {
    path: '/reference/',
    title: 'Reference',
    text: `
<table><thead><tr><th>Command</th><th>What it does</th></tr></thead><tbody>
<tr><td><code>export</code></td><td>one export, written where you say</td></tr>
<tr><td><code>run</code></td><td>the operator’s reconcile over a folder</td></tr>
<tr><td><code>bundle serve</code></td><td>an archive for your browser</td></tr>
<tr><td><code>demo</code></td><td>what you are reading</td></tr></tbody></table>`,
  },
  {
    path: '/changelog/',
    title: 'Changelog',
    text: '<p>Each edition of this site is one entry. The demo adds the next one while you read.</p>',
  },
];

/** Of the whole site, without the page for unknown addresses. */
export const pageCount = pages.length;

/** @param edition shown on every page */
export function wholeSite(edition: number): SiteEdition {
  return siteOf(pages, edition);
}

/** What a broken build would leave: the home page alone, whose links lead nowhere. */
export function shrunkenSite(edition: number): SiteEdition {
  return siteOf([home], edition);
}

/** What is left when a site was removed: every address is unknown. */
export const emptySite: SiteEdition = new Map();

function siteOf(shown: readonly SitePage[], edition: number): SiteEdition {
  const missing = {
    path: '/404.html',
    title: 'No such page',
    text: '<p>Try the <a href="/">home page</a>.</p>',
  };
  return new Map<string, DemoSiteFile>([
    ...[...shown, missing].map(
      (page) => [page.path, file('text/html; charset=utf-8', htmlOf(page, edition))] as const,
    ),
    ['/assets/style.css', file('text/css; charset=utf-8', styles)],
    ['/assets/flow.svg', file('image/svg+xml', picture)],
    ['/favicon.svg', file('image/svg+xml', icon)],
  ]);
}

const file = (type: string, text: string): DemoSiteFile => ({ type, body: Buffer.from(text) });

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#0f766e"/><path d="M4 8.5 7 11l5-6" fill="none" stroke="#fff" stroke-width="2"/></svg>\n';

function htmlOf({ path, title, text }: SitePage, edition: number): string {
  const entries = pages.filter((page) => page !== home);
  const links = entries.map((page) => {
    const current = page.path === path ? ' aria-current="page"' : '';
    return `<li><a href="${page.path}"${current}>${page.title}</a></li>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · static-export demo</title>
<link rel="icon" href="/favicon.svg">
<link rel="stylesheet" href="/assets/style.css">
</head>
<body>
<header><a class="brand" href="/"><img src="/favicon.svg" alt="" width="22" height="22">static-export demo</a><span class="edition">Edition ${edition}</span></header>
<div class="page">
<nav aria-label="Pages"><ul>${links.join('')}</ul></nav>
<main><h1>${title}</h1>${text}
</main>
</div>
<footer>Edition ${edition} of a site that the demo built, exported, checked and serves.</footer>
</body>
</html>
`;
}
