// Sites of four generators in the portable form, opened from a disk by a real Chromium: every page without an error, every link to a
// file, and tabs, sidebars, menus, themes and copy buttons by the mouse. The command line packs and rewrites them, and tar unpacks
// them into a folder whose name needs escapes. `SCREENSHOTS=folder` before the command keeps pictures.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';
import { readerScript } from '#site/portable/reader-script.ts';
import { bundleDocument } from '../../integration/server/archive.ts';
import { startLinkServer } from '../../integration/server/link-server.ts';
import { prepareSite } from '../../integration/server/served-site.ts';
import { type Browser, noBrowser, type Page, type PageOptions, startBrowser } from '../../support/browser.ts';
import { runInProcess } from '../../support/cli-in-process.ts';
import { eventually } from '../../support/eventually.ts';
import { findNextExport } from '../../support/next-export.ts';
import { buildVitepressSite } from '../../support/vitepress-export.ts';
import { requireHere } from '../requirement.ts';

requireHere(noBrowser);

const fixtures = resolve(import.meta.dirname, '../../fixtures/sites');
const pictures = process.env['SCREENSHOTS'];
let work = '';
let browser: Browser;
before(async () => {
  work = await mkdtemp(join(tmpdir(), 'portable sites ä#%-'));
  browser = await startBrowser();
});
after(async () => {
  await browser.close();
  await rm(work, { recursive: true, force: true });
});

const archiveOf = (name: string): string => join(work, `${name}-portable.tar.gz`);

/** @returns the folder of the portable site */
async function unpackPortable(name: string, site: string): Promise<string> {
  const rooted = join(work, `${name}.tar`);
  const folder = join(work, name);
  for (const args of [
    ['pack', site, rooted],
    ['portable', rooted, '--to', archiveOf(name), '--domain', 'docs.example.com'],
  ]) {
    const { code, stderr } = await runInProcess(['bundle', ...args]);
    assert.equal(code, 0, stderr);
  }
  mkdirSync(folder);
  execFileSync('tar', ['xzf', archiveOf(name), '-C', folder]);
  return folder;
}

const addresses = `[...document.querySelectorAll('[href], [src]')].flatMap((one) =>
  typeof (one.href ?? one.src) === 'string' ? [one.href ?? one.src] : [])`;

/** @returns the origin of a server that answers each path with its text */
async function startPages(
  t: TestContext,
  host: string,
  policy: string | undefined,
  pages: Readonly<Record<string, string>>,
): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    response.setHeader('content-type', url.endsWith('.js') ? 'text/javascript' : 'text/html');
    if (policy !== undefined) response.setHeader('content-security-policy', policy);
    response.end(pages[url] ?? '');
  });
  await once(server.listen(0, host), 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://${host}:${address !== null && typeof address === 'object' ? address.port : 0}`;
}

/** Opens every page, and looks for the file of every address. @returns how many addresses of the disk there are */
async function openAll(folder: string): Promise<number> {
  const page = await browser.openPage();
  const broken: string[] = [];
  let count = 0;
  for (const file of globSync('**/*.html', { cwd: folder })) {
    await page.goTo(pathToFileURL(join(folder, file)).href);
    for (const address of z.array(z.string()).parse(await page.evaluate(addresses))) {
      if (!address.startsWith('file:')) continue;
      count += 1;
      const { pathname } = new URL(address);
      const target = fileURLToPath(new URL(pathname, 'file:///'));
      const isFile = existsSync(target) && !pathname.endsWith('/') && target.startsWith(folder);
      if (!isFile) broken.push(`${file}: ${address}`);
    }
    assert.deepEqual(page.troubles, [], file);
  }
  assert.deepEqual(broken, []);
  return count;
}

async function open(folder: string, file: string, options?: PageOptions): Promise<Page> {
  const page = await browser.openPage(options);
  await page.goTo(pathToFileURL(join(folder, file)).href);
  return page;
}

async function becomes(page: Page, expression: string, wanted: unknown): Promise<void> {
  await eventually(expression, async () => {
    const seen = await page.evaluate(expression);
    if (JSON.stringify(seen) === JSON.stringify(wanted)) return true;
    throw new Error(`${JSON.stringify(seen)} ${page.troubles.join('; ')}`);
  });
}

async function look(page: Page, name: string): Promise<void> {
  if (pictures !== undefined) await page.saveScreenshot(join(pictures, `${name}.png`));
}

/** What a copy button would put into the clipboard, which a browser without a screen does not have. */
const watchClipboard = 'navigator.clipboard.writeText = async (text) => { window.copied = text; }, 0';
const shownOf = (selector: string): string =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => getComputedStyle(one).display !== 'none')`;

test('VitePress: code groups, sidebar, theme, menu and copy buttons work from a disk', async () => {
  const site = join(work, 'vitepress-rooted');
  await buildVitepressSite('v1', site, async (sources) => {
    const text =
      '\n::: code-group\n```sh [Linux]\napt install x\n```\n```sh [macOS]\nbrew install x\n```\n:::\n\n[flags](/reference/flags#all)\n';
    await appendFile(join(sources, 'guides/install.md'), text);
    const config = join(sources, '.vitepress/config.mjs');
    const sidebar =
      "sidebar: [{ text: 'Guides', collapsed: true, items: [{ text: 'Deploy', link: '/guides/deploy' }] }], search: { provider: 'local' },";
    await writeFile(
      config,
      (await readFile(config, 'utf8')).replace('themeConfig: {', `themeConfig: { ${sidebar}`),
    );
  });
  const folder = await unpackPortable('vitepress', site);
  assert.equal((await openAll(folder)) > 60, true);
  assert.deepEqual(globSync('**/*.js', { cwd: folder }), ['_sx/portable.js']);

  const page = await open(folder, 'guides/install.html');
  await page.click('.vp-code-group label:nth-of-type(2)');
  await becomes(page, shownOf('.vp-code-group .blocks > div'), [false, true]);
  await page.evaluate(watchClipboard);
  await page.click('.vp-code-group .active button.copy');
  await becomes(page, 'window.copied', 'brew install x');
  await becomes(page, shownOf('.VPSidebarItem.collapsible .items'), [false]);
  await page.click('.VPSidebarItem.collapsible > .item');
  await becomes(page, shownOf('.VPSidebarItem.collapsible .items'), [true]);
  await page.click('.VPNavBarAppearance button');
  await becomes(page, "document.documentElement.classList.contains('dark')", true);
  await becomes(page, shownOf('.VPNavBarSearch'), [false]);
  await look(page, 'vitepress');
  await page.click('.VPSidebarItem a');
  await becomes(page, "document.querySelector('h1').textContent.trim().startsWith('Deploy')", true);
  await becomes(page, "document.documentElement.classList.contains('dark')", true);

  const narrow = await open(folder, 'guides/install.html', { width: 500 });
  await narrow.click('.VPNavBarHamburger');
  await becomes(
    narrow,
    'document.querySelector(\'#sx-menu a[href$="reference/metrics.html"]\').textContent',
    'Metrics',
  );
  await look(narrow, 'vitepress-menu');
  await narrow.click('#sx-menu button');
  await becomes(narrow, "document.querySelector('#sx-menu')", null);
  await becomes(
    narrow,
    "document.querySelector('.VPNavBarHamburger').getAttribute('aria-expanded')",
    'false',
  );
  await narrow.click('.VPLocalNav .menu');
  await becomes(narrow, "getComputedStyle(document.querySelector('.VPSidebar')).visibility", 'visible');
  assert.deepEqual([...page.troubles, ...narrow.troubles], []);
});

test('Next.js: pages without their framework have each link, and no file of it is left', async () => {
  const exportOf = await findNextExport();
  for (const hasTrailingSlash of [false, true]) {
    const name = `next-${hasTrailingSlash}`;
    const folder = await unpackPortable(name, exportOf('v1', { hasTrailingSlash }));
    assert.equal((await openAll(folder)) > 40, true);
    assert.deepEqual(globSync('**/*.{js,txt}', { cwd: folder }), ['_sx/portable.js']);
    const page = await open(folder, 'index.html');
    await page.click('nav a[href*="metrics"]');
    await becomes(page, "document.querySelector('h1').textContent", 'Metrics');
    await look(page, name);
    assert.deepEqual(page.troubles, []);
  }
});

test('Docusaurus: tabs, theme, menus and copy buttons work from a disk', async () => {
  const folder = await unpackPortable('docusaurus', join(fixtures, 'docusaurus'));
  assert.equal((await openAll(folder)) > 30, true);
  const page = await open(folder, 'index.html');
  await page.evaluate(watchClipboard);
  await page.click('.theme-code-block button');
  await becomes(page, 'window.copied', 'apt install lantern');
  await becomes(page, "document.querySelector('.of-sprite use').getBBox().width > 0", true);
  await page.click('[role=tab]:nth-child(2)');
  await becomes(page, shownOf('[role=tabpanel]'), [false, true]);
  await becomes(page, "document.querySelector('.tabs__item--active').textContent", 'macOS');
  await page.click('.dropdown > a');
  await becomes(page, "document.querySelector('.dropdown').classList.contains('dropdown--show')", true);
  await page.click('[class*=colorModeToggle] button');
  await becomes(page, 'document.documentElement.dataset.theme', 'dark');
  await look(page, 'docusaurus');
  const guides = '.menu__list-item-collapsible + ul .menu__link';
  await becomes(page, shownOf(guides), []);
  await page.click('.menu__list-item-collapsible > a');
  await becomes(page, shownOf(guides), [true, true]);
  await becomes(page, `document.querySelectorAll('iframe, ${guides}[aria-current]').length`, 0);
  await page.click('.menu__list-item-collapsible > a');
  await becomes(page, shownOf('.menu__list-item-collapsible + ul'), [false]);
  await page.click('.menu__list-item-collapsible > a');
  await page.click(`${guides}[href$="deploy/index.html"]`);
  await becomes(page, "document.querySelector('h1').textContent", 'Deploy');
  const narrow = await open(folder, 'install/index.html', { width: 500 });
  await narrow.click('.navbar__toggle');
  await narrow.click('#sx-menu a[href$="deploy/index.html"]');
  await becomes(narrow, "document.querySelector('h1').textContent", 'Deploy');
  assert.deepEqual([...page.troubles, ...narrow.troubles], []);
});

/** What a page elsewhere sends to the page whose frame was led to it. */
const foreignList =
  '<ul class="menu__list"><li><img src=x onerror="document.title = 1"><a href="javascript:document.title = 1" onclick="document.title = 1">a</a><a href="https://c.example/b">b</a><style>*{}</style><iframe srcdoc="x"></iframe></li></ul>';

for (const [site, what, seen] of [
  ['http', 'a page', ''],
  ['http', 'a sandboxed page', ''],
  ['file', 'a page', ''],
  [
    'file',
    'a sandboxed page',
    '<ul class="menu__list" style=""><li><a>a</a><a href="https://c.example/b">b</a></li></ul>',
  ],
] as const) {
  test(`a site on ${site}: the list of a frame that was led to ${what} elsewhere runs nothing`, async (t) => {
    const elsewhere = await startPages(
      t,
      '127.0.0.1',
      what === 'a page' ? undefined : 'sandbox allow-scripts',
      {
        '/': `<script>parent.postMessage(${JSON.stringify(foreignList)}, '*')</script>`,
      },
    );
    const pages = {
      'portable.js': readerScript,
      'guides.html': `<meta http-equiv=refresh content="0;url=${elsewhere}/">`,
      'index.html':
        '<title>Docs</title><script defer src="portable.js"></script><ul><li class="menu__list-item--collapsed"><div class="menu__list-item-collapsible"><a href="guides.html" role="button">Guides</a></div></li></ul>',
    };
    const folder = await mkdtemp(join(work, 'led-'));
    for (const [name, text] of Object.entries(pages)) await writeFile(join(folder, name), text);
    const served = Object.entries(pages).map(([name, text]) => [`/${name}`, text]);
    const own = await startPages(t, 'localhost', undefined, Object.fromEntries(served));
    const page = await browser.openPage();
    await page.goTo(site === 'http' ? `${own}/index.html` : pathToFileURL(join(folder, 'index.html')).href);
    // Added later than that of the script, so that it runs after it.
    await page.evaluate("addEventListener('message', () => { window.isSent = true; })");
    await page.click('.menu__list-item-collapsible a');
    await becomes(page, 'window.isSent', true);
    await becomes(
      page,
      "document.querySelector('.menu__list-item-collapsible').nextElementSibling?.outerHTML ?? ''",
      seen,
    );
    await becomes(page, 'document.title', 'Docs');
  });
}

test('Starlight: its inline modules keep their tabs and themes, and the script copies code', async () => {
  const folder = await unpackPortable('starlight', join(fixtures, 'starlight'));
  assert.equal((await openAll(folder)) > 30, true);
  const page = await open(folder, 'index.html');
  await page.click('[role=tab][href="#tab-panel-0-1"]');
  await becomes(page, shownOf('[role=tabpanel]'), [false, true]);
  await page.click('[role=tab][href="#tab-panel-0-0"]');
  await becomes(page, shownOf('[role=tabpanel]'), [true, false]);
  await page.evaluate(`document.querySelector('.copy button').append('copy'), ${watchClipboard}`);
  await page.click('.copy button');
  await becomes(page, 'window.copied', 'apt install lantern');
  await becomes(page, shownOf('site-search'), [false]);
  await look(page, 'starlight');
  assert.deepEqual(page.troubles, []);
});

test('a bundle server serves a portable archive, without a network and below a path', async (t) => {
  const links = await startLinkServer();
  const served = await prepareSite();
  t.after(async () => {
    await served.remove();
    await links.close();
  });
  links.put('v1', readFileSync(archiveOf('starlight')));
  await served.mount(bundleDocument({ version: 'v1', link: links.link('v1') }));
  await served.start('--deployment-type', 'AirGapped', '--base-path', '/below');
  await served.until('v1 is served', ({ active }) => active?.version === 'v1');
  const page = await browser.openPage();
  await page.goTo(`${served.site}/below/`);
  await page.click('[role=tab][href="#tab-panel-0-1"]');
  await becomes(page, shownOf('[role=tabpanel]'), [false, true]);
  await page.click('main a[href="guides/install/index.html"]');
  await becomes(page, "document.querySelector('h1').textContent", 'Install');
  assert.deepEqual(page.troubles, []);
});
