// `static-export run` by project against the real export service, which crawls a real site: the archive that comes of it is
// served below its base path, and no link of it leaves that path.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { declareSecret } from '../../support/secret-watch.ts';
import { exportOrigin } from '../operator/real-export-service.ts';
import { prepareSiteHere } from '../server/server-here.ts';
import { workplaceWith } from './environment/run-workplace.ts';

const apiKey = declareSecret('the key', 'svc_own_project-Vt40');
const projectId = '5f0c9a7e1d';

const layout = (body: string): string =>
  `<!doctype html><html><head><link rel="stylesheet" href="/s/site.css"><link rel="icon" href="/i.svg">
   <link rel="manifest" href="/site.webmanifest"><script src="/app.js"></script></head><body>
   <nav><a href="/">home</a> <a href="/guides/x">x</a> <a href="/guides/y?tab=1#z">y</a></nav>${body}</body></html>`;
const site: Readonly<Record<string, readonly [type: string, body: string]>> = {
  '/': [
    'text/html',
    layout('<img src="/p.png" srcset="/p.png 1x, /p2.png 2x" alt=""><a href="guides/x">relative</a>'),
  ],
  '/guides/x': [
    'text/html',
    layout('<p style="background: url(/p.png)"><a href="y">next</a> <a href="/old">old</a>'),
  ],
  '/guides/y': ['text/html', layout('<meta http-equiv="refresh" content="9; url=/">')],
  '/404.html': ['text/html', layout('<p>none')],
  '/s/site.css': ['text/css', '@import "/s/more.css"; a { background: url("/p2.png") }'],
  '/s/more.css': ['text/css', 'b { background: url(../p.png) }'],
  '/app.js': ['text/javascript', 'fetch("/data.json");'],
  '/data.json': ['application/json', '{}'],
  '/site.webmanifest': ['application/manifest+json', '{"start_url":"/","icons":[{"src":"/i.svg"}]}'],
  '/i.svg': ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  '/p.png': ['image/png', 'a picture'],
  '/p2.png': ['image/png', 'another picture'],
};
const origin: RequestListener = ({ url = '' }, response) => {
  const [type = 'text/plain', body] = site[url.split('?')[0] ?? ''] ?? [];
  if (url === '/old') response.writeHead(301, { location: '/guides/x' }).end();
  else response.writeHead(body === undefined ? 404 : 200, { 'content-type': type }).end(body);
};

/** Runs once, and returns the folder with the site and the digest of the version. */
async function publish(t: TestContext, api: string) {
  const folder = mkdtempSync(join(tmpdir(), 'own-service-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const start = async () => {
    const flags = [`--project=${projectId}=docs.example.com`, '--log-level=debug'];
    return { ...(await exportOrigin(folder, apiKey, origin, ...flags)), close: async () => {} };
  };
  const spec = `${api.includes('projectId') ? '' : 'domain: docs.example.com\n  '}api: { ${api}keySecretRef: { name: export-api } }\n`;
  const { run, to, vendor } = await workplaceWith(t, start, apiKey, spec);
  const archive = join(folder, 'site.tar.gz');
  const { code, stdout, stderr } = await run('--publish', `archive=${archive}`);
  assert.equal(code, 0, stderr);
  return { to, archive, url: vendor.url, published: JSON.parse(stdout) };
}

/** Every address in a body, found without the crawler's readers. */
function addressesIn(body: string): readonly string[] {
  const patterns = [
    /(?:href|src|srcset|content|start_url)"?\s?[=:]\s?"([^"]+)"/g,
    /url\(["']?([^"')]+)/g,
    /@import "([^"]+)"/g,
    /fetch\("([^"]+)"/g,
  ];
  return patterns
    .flatMap((pattern) => [...body.matchAll(pattern)].map(([, found = '']) => found))
    .flatMap((found) => found.replace(/^\d+; url=/, '').split(/,\s*/))
    .map((found) => found.split(' ')[0] ?? '')
    .filter((found) => found !== '' && found !== 'noindex' && !found.startsWith('width='));
}

test('an export for /docs is served below /docs, and no link of it leaves that path or leads to nothing', async (t) => {
  const { archive } = await publish(t, `projectId: ${projectId}, basePath: /docs, `);
  const served = await prepareSiteHere();
  t.after(() => served.remove());
  await served.start('--bundle-url', `file://${archive}`, '--version', 'v1', '--base-path', '/docs');
  await served.until('a bundle', ({ active }) => active !== null);
  const seen = new Set<string>();
  const waiting = [`${served.site}/docs/`, `${served.site}/docs/old`];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    const answer = await fetch(at);
    assert.equal(answer.status, 200, at);
    const body = await answer.text();
    if (/png|octet/.test(answer.headers.get('content-type') ?? '')) continue;
    for (const address of addressesIn(body)) {
      const { origin: host, pathname } = new URL(address, at);
      if (host !== served.site) continue;
      assert.match(pathname, /^\/docs\//, `${address} at ${at}`);
      waiting.push(`${host}${pathname}`);
    }
  }
  const paths = [...seen].map((url) => url.slice(`${served.site}/docs`.length)).sort();
  const expected = Object.keys(site).filter((path) => path !== '/404.html');
  assert.deepEqual(paths, [...expected, '/old'].sort());
});

test('without a base path, the project form gives the archive of the first form', async (t) => {
  const first = await publish(t, '');
  const second = await publish(t, `projectId: ${projectId}, `);
  assert.deepEqual(readFileSync(second.archive), readFileSync(first.archive));
  assert.equal(readFileSync(join(second.to, 'guides/x.html'), 'utf8'), site['/guides/x']?.[1]);
  assert.equal(second.published.digest, first.published.digest);
});
