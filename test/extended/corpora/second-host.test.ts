// A site whose style, script and pictures come from a second host: exported, both hosts stopped, and the archive visited in a real
// Chromium without a network. It shows and runs what the site showed and ran, and asks no other host for anything.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { test } from 'node:test';
import { noBrowser } from '../../support/browser.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { requireHere } from '../requirement.ts';
import { pictureOf } from './content.ts';
import { exportOrigin, serveArchive } from './exported.ts';
import { seePages, startSealedBrowser } from './visit.ts';

requireHere(noBrowser);

interface Body {
  readonly type: string;
  readonly body: string | Buffer;
}

async function serve(bodies: (path: string) => Body | undefined): Promise<{ port: number; server: Server }> {
  const server = createServer((request, response) => {
    const found = bodies(request.url ?? '/');
    const headers = { 'access-control-allow-origin': '*', 'content-type': found?.type ?? 'text/html' };
    response.writeHead(found === undefined ? 404 : 200, headers).end(found?.body ?? 'not found');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return { port: typeof address === 'object' && address !== null ? address.port : 0, server };
}

function stop({ server }: { readonly server: Server }): void {
  server.closeAllConnections();
  server.close();
}

const integrityOf = (body: string): string => `sha384-${createHash('sha384').update(body).digest('base64')}`;

/** Its background comes from a style that this one imports, and shows in the heading once the script has read it. */
const style = '@import url("more.css"); h1 { color: rgb(1, 2, 3); }';
const script = `addEventListener('load', () => {
  const { color, backgroundImage } = getComputedStyle(document.querySelector('h1'));
  document.querySelector('h1').textContent = 'run: ' + color + (backgroundImage.includes('url(') ? ' with picture' : '');
});`;
const cdn: Readonly<Record<string, Body>> = {
  '/site.css': { type: 'text/css', body: style },
  '/more.css': { type: 'text/css', body: 'h1 { background: url(/pictures/two.png); }' },
  '/lib/app.js': { type: 'text/javascript', body: script },
  '/pictures/one.png': { type: 'image/png', body: pictureOf('one.png') },
  '/pictures/two.png': { type: 'image/png', body: pictureOf('two.png') },
  '/pictures/three.png': { type: 'image/png', body: pictureOf('three.png') },
};

const pageWith = (
  assets: string,
  title: string,
): string => `<!doctype html><html lang="en"><head><title>${title}</title>
<link rel="icon" href="data:,"><link rel="preconnect" href="${assets}">
<link rel="stylesheet" href="${assets}/site.css" integrity="${integrityOf(style)}" crossorigin="anonymous">
<script src="${assets}/lib/app.js" integrity="${integrityOf(script)}" crossorigin="anonymous" defer></script></head>
<body><h1>${title}</h1><a href="/">Home</a> <a href="/guide">Guide</a>
<img alt="One" src="${assets}/pictures/one.png" srcset="${assets}/pictures/three.png 3x">
<img alt="Two" src="${assets}/pictures/two.png"></body></html>`;

test('a site with assets on a second host works when both hosts are gone', {
  timeout: 300_000,
}, async (t) => {
  const sealed = await startSealedBrowser();
  t.after(sealed.close);
  const assets = await serve((path) => cdn[path]);
  const site = await serve((path) => {
    const title = { '/': 'Home', '/guide': 'Guide' }[path];
    // Another name of loopback: to a browser it is another host.
    return title === undefined
      ? undefined
      : { type: 'text/html', body: pageWith(`http://localhost:${assets.port}`, title) };
  });
  const origin = new URL(`http://127.0.0.1:${site.port}/`);
  const atOrigin = await seePages(sealed.browser, origin, ['/', '/guide']);
  const { archive, report } = await exportOrigin(origin, temporaryFolder(t), true);
  stop(site);
  stop(assets);
  const served = await serveArchive(archive);
  t.after(served.stop);
  const inArchive = await seePages(sealed.browser, served.url, ['/', '/guide']);

  assert.deepEqual(report.missing.entries, []);
  assert.ok(atOrigin.every(({ offSite }) => offSite.length > 0));
  assert.deepEqual(
    inArchive,
    atOrigin.map((page) => ({ ...page, offSite: [] })),
  );
  assert.deepEqual(
    inArchive.map(({ heading }) => heading),
    ['run: rgb(1, 2, 3) with picture', 'run: rgb(1, 2, 3) with picture'],
  );
});
