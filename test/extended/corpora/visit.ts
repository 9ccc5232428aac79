// What a visitor of a site sees in a real Chromium without a network: each page with its pictures, errors and requests to other
// hosts, what a click does, and what the search finds. The same for an origin and for its archive, so that they can be compared.

import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Browser, startBrowser } from '../../support/browser.ts';
import { eventually } from '../../support/eventually.ts';
import { soughtPage } from './content.ts';
import type { CorpusNavigation, CorpusSearch } from './corpus.ts';

export interface SealedBrowser {
  readonly browser: Browser;
  /** Hosts that any part of the browser asked for, except loopback. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** A browser whose only way out is a proxy that refuses everything and remembers it. Loopback needs no proxy. */
export async function startSealedBrowser(): Promise<SealedBrowser> {
  const asked: string[] = [];
  const proxy = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(403).end();
  });
  proxy.on('connect', (request, socket) => {
    asked.push(request.url ?? '');
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const browser = await startBrowser({ flags: [`--proxy-server=http://127.0.0.1:${port}`, ...quietFlags] });
  return {
    browser,
    asked,
    close: async () => {
      await browser.close();
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}

/** What Chromium asks its vendor by itself. */
const quietFlags: readonly string[] = [
  '--disable-component-update',
  '--disable-sync',
  '--disable-domain-reliability',
  '--disable-features=AutofillServerCommunication,NetworkTimeServiceQuerying,OptimizationHints,OptimizationGuideModelDownloading',
];

/** Not its width: of addresses with the same bytes, Chromium takes one of another density when it has that one already. */
const seenPicture = z.object({ alt: z.string(), isShown: z.boolean(), sha256: z.string() });
const seenShape = z.object({ heading: z.string(), pictures: z.array(seenPicture) });

export interface SeenPage extends z.infer<typeof seenShape> {
  readonly path: string;
  /** What went wrong, without the host of the site. */
  readonly troubles: readonly string[];
  /** Requests to other hosts. */
  readonly offSite: readonly string[];
}

/** Loads what is below the screen too, and hashes the bytes of each picture as the page names it. */
const look = `(async () => {
  const images = [...document.images];
  for (const image of images) image.loading = 'eager';
  await Promise.all(images.map((image) => image.decode().catch(() => {})));
  const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const pictures = await Promise.all(images.map(async (image) => {
    const response = await fetch(image.currentSrc);
    const bytes = await response.arrayBuffer();
    const sha256 = response.ok ? hex(await crypto.subtle.digest('SHA-256', bytes)) : 'answered ' + response.status;
    return { alt: image.alt, isShown: image.naturalWidth > 0, sha256 };
  }));
  // A script may add one more of a picture, to show it larger, sooner or later.
  const each = new Map(pictures.map((picture) => [picture.alt + picture.sha256, picture]));
  return { heading: document.querySelector('h1')?.textContent.trim() ?? '', pictures: [...each.values()] };
})()`;

/** Visits each page in turn. */
export async function seePages(
  browser: Browser,
  site: URL,
  paths: readonly string[],
): Promise<readonly SeenPage[]> {
  const page = await browser.openPage();
  const seen: SeenPage[] = [];
  for (const path of paths) {
    const before = { troubles: page.troubles.length, requests: page.requests.length };
    await page.goTo(new URL(path, site).href);
    await page.untilQuiet();
    const shown = seenShape.parse(await page.evaluate(look));
    await page.untilQuiet();
    seen.push({
      path,
      ...shown,
      troubles: page.troubles.slice(before.troubles).map((text) => text.replaceAll(site.host, 'SITE')),
      offSite: page.requests.slice(before.requests).filter((url) => isOffSite(url, site)),
    });
  }
  return seen;
}

const isOffSite = (url: string, site: URL): boolean =>
  /^https?:|^wss?:/.test(url) && URL.parse(url)?.host !== site.host;

export interface Followed {
  readonly heading: string;
  /** The document stayed: the page came by script. */
  readonly isSoft: boolean;
  /** Pictures of the page that came, which the browser could not show. */
  readonly brokenPictures: number;
  readonly troubles: readonly string[];
}

const place = z.object({ path: z.string(), heading: z.string(), isSoft: z.boolean() });

/** Clicks a link once the page is alive. */
export async function follow(
  browser: Browser,
  site: URL,
  { from, link, to }: CorpusNavigation,
): Promise<Followed> {
  const page = await browser.openPage();
  await page.goTo(new URL(from, site).href);
  await page.untilQuiet();
  await sleep(500);
  await page.evaluate('void (window.stayed = true)');
  await page.click(link);
  const seen = await eventually(`${to} is shown`, async () => {
    const { path, ...rest } = place.parse(
      await page.evaluate(
        `({ path: location.pathname, heading: document.querySelector('h1')?.textContent.trim() ?? '', isSoft: window.stayed === true })`,
      ),
    );
    if (path.replace(/\.html$/, '') === to.replace(/\.html$/, '') && rest.heading !== '') return rest;
    throw new Error(`${path} ${page.troubles.join('; ')}`);
  });
  await page.untilQuiet();
  const brokenPictures = z.number().parse(await page.evaluate(countBroken));
  return {
    isSoft: seen.isSoft,
    heading: z.string().parse(await page.evaluate(headingText)),
    brokenPictures,
    troubles: page.troubles.map((text) => text.replaceAll(site.host, 'SITE')),
  };
}

const headingText = `document.querySelector('h1')?.textContent.trim() ?? ''`;
const countBroken = `(async () => {
  const images = [...document.images];
  for (const image of images) image.loading = 'eager';
  await Promise.all(images.map((image) => image.decode().catch(() => {})));
  return images.filter((image) => image.naturalWidth === 0).length;
})()`;

/** @returns what the search shows for the word of one page, and what went wrong */
export async function search(
  browser: Browser,
  site: URL,
  { path, opens = [], input, results }: CorpusSearch,
): Promise<{ readonly text: string; readonly troubles: readonly string[] }> {
  const page = await browser.openPage();
  await page.goTo(new URL(path, site).href);
  await page.untilQuiet();
  for (const selector of opens) {
    await page.click(selector);
    await page.untilQuiet();
  }
  const focus = `(() => {
    const input = document.querySelector(${JSON.stringify(input ?? 'none')});
    input?.focus();
    input?.select();
    return input !== null && document.activeElement === input;
  })()`;
  const text = await eventually(`the search finds ${soughtPage.title}`, async () => {
    // What is typed before the index is there may find nothing, in some tools, so it is typed again.
    if (input !== undefined) {
      if ((await page.evaluate(focus)) !== true) return undefined;
      await page.write(soughtPage.word);
      await page.untilQuiet();
      await sleep(1_000);
    }
    const shown = z
      .string()
      .parse(
        await page.evaluate(
          `[...document.querySelectorAll(${JSON.stringify(results)})].map((one) => one.textContent).join(' ')`,
        ),
      );
    if (shown.includes(soughtPage.title)) return shown;
    throw new Error(`${JSON.stringify(shown)} ${page.troubles.join('; ')}`);
  });
  return { text, troubles: page.troubles.map((one) => one.replaceAll(site.host, 'SITE')) };
}
