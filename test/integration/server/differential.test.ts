// The same bytes to nginx, to Caddy and to ours. Where the two agree, ours agrees, or stands in the list of
// differences with its reason. Compared: status, body, range, and whether a tag, a encoding, a location are there.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { words } from '../../support/words.ts';
import {
  type Answer,
  type ConformanceSite,
  exchange,
  serveConformanceSite,
  siteContent,
} from './conformance/conformance-site.ts';
import {
  compressBeforehand,
  type OtherServer,
  othersAreMissing,
  startCaddy,
  startNginx,
} from './other-servers.ts';

let site: ConformanceSite;
let others: readonly OtherServer[] = [];

before(async () => {
  if (othersAreMissing !== false) return;
  site = await serveConformanceSite();
  const root = join(site.served.folder, 'files');
  for (const [name, body] of Object.entries(siteContent)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), body);
  }
  compressBeforehand(root);
  others = [await startNginx(root, site.served.folder), await startCaddy(root, site.served.folder)];
});
after(async () => {
  for (const { program } of others) await program.stop('SIGKILL');
  if (othersAreMissing === false) await site.remove();
});

interface Request {
  readonly method?: string;
  readonly target: string;
  readonly send?: readonly string[];
  /** `TAG` in a line stands for the server's own tag of that target. */
}

const targets = words(`
  / /page /page.html /folder/ /folder/index.html /both /both.html /digits.bin /empty.txt /logo.png
  /search-index.json /a%20b/%C3%A9 /a%20b/%C3%A9.html /%70age /v1.4/ /no /no/no /PAGE /page.html?x=1
  /assets/app.BxYz12_Q.js /%2570age /page?../..
`);
const conditions: readonly (readonly string[])[] = [
  ['If-None-Match: TAG'],
  ['If-None-Match: W/TAG'],
  ['If-None-Match: "x", TAG'],
  ['If-None-Match: *'],
  ['If-None-Match: "x"'],
  ['If-None-Match:'],
  ['If-Match: TAG'],
  ['If-Match: "x"'],
  ['If-Match: *'],
  ['If-Match: "x"', 'If-None-Match: TAG'],
];
const ranges: readonly (readonly string[])[] = [
  ...['0-0', '2-5', '5-', '-3', '0-99', '-99', '9-9', '10-', '10-20', '5-2', 'a-b', '', '-', '0-1-2'].map(
    (range) => [`Range: bytes=${range}`],
  ),
  ['Range: pages=1-2'],
  ['Range: bytes=0-1', 'If-Range: TAG'],
  ['Range: bytes=0-1', 'If-Range: "x"'],
  ['Range: bytes=0-1', 'If-Range: W/TAG'],
  ['Range: bytes=0-1', 'If-None-Match: TAG'],
  ['Range: bytes=0-1', 'If-Match: "x"'],
];
const encodings = [
  'gzip',
  'gzip;q=0',
  'gzip;q=0.5',
  '*',
  'identity',
  'deflate',
  'vibrate',
  'gzip, deflate',
  '',
  'GZIP',
];

const requests: readonly Request[] = [
  ...targets.flatMap((target) => ['GET', 'HEAD'].map((method) => ({ method, target }))),
  ...['/page.html', '/no'].flatMap((target) => conditions.map((send) => ({ target, send }))),
  ...['/digits.bin', '/no', '/empty.txt'].flatMap((target) => ranges.map((send) => ({ target, send }))),
  ...encodings.flatMap((encoding) =>
    ['/page.html', '/logo.png'].map((target) => ({ target, send: [`Accept-Encoding: ${encoding}`] })),
  ),
];

/** What may be compared between servers that name contents differently. */
interface Facts {
  readonly status: number;
  readonly body: string;
  readonly range: string | undefined;
  readonly length: string | undefined;
}

async function ask(port: number, { method = 'GET', target, send = [] }: Request): Promise<Facts> {
  const lines = (more: readonly string[], how = method): readonly string[] => [
    `${how} ${target} HTTP/1.1`,
    'Host: docs.example.com',
    ...more,
    'Connection: close',
  ];
  const needsTag = send.some((line) => line.includes('TAG'));
  const tag = needsTag ? ((await exchange(port, lines([], 'HEAD'))).headers.get('etag') ?? '"none"') : '';
  const answer = await exchange(port, lines(send.map((line) => line.replace('TAG', tag))));
  const encoding = answer.headers.get('content-encoding');
  return {
    status: answer.status,
    body: answer.status < 300 ? decode(answer) : '',
    range: answer.status === 206 ? answer.headers.get('content-range') : undefined,
    length: answer.status < 300 && encoding === undefined ? answer.headers.get('content-length') : undefined,
  };
}

function decode({ headers, body }: Answer): string {
  const bytes = Buffer.from(body, 'latin1');
  if (bytes.length === 0) return '';
  const encoding = headers.get('content-encoding');
  const plain =
    encoding === 'br' ? brotliDecompressSync(bytes) : encoding === 'gzip' ? gunzipSync(bytes) : bytes;
  return plain.toString('latin1');
}

/** Where ours differs from both on purpose. */
const differences: readonly (readonly [string, (request: Request) => boolean])[] = [
  [
    'no byte range of an empty file can be satisfied (RFC 9110 §15.5.17)',
    ({ target, send = [] }) =>
      target === '/empty.txt' && send.some((line) => line.startsWith('Range: bytes')),
  ],
  [
    'a range that is none is ignored; 416 is allowed too (RFC 9110 §14.2)',
    ({ send = [] }) => send.some((line) => /^Range: bytes=(?:5-2|a-b|-|0-1-2|)$/.test(line)),
  ],
  [
    'any encoding is acceptable, so the smallest is sent (RFC 9110 §12.5.3)',
    ({ send = [] }) => send.includes('Accept-Encoding: *'),
  ],
];

test('the server answers as nginx and Caddy do wherever the two agree', {
  skip: othersAreMissing,
}, async (t) => {
  let agreed = 0;
  const different: string[] = [];
  for (const request of requests) {
    const [nginx, caddy] = await Promise.all(others.map(({ port }) => ask(port, request)));
    assert.ok(nginx && caddy);
    if (JSON.stringify(nginx) !== JSON.stringify(caddy)) continue;
    agreed += 1;
    const ours = await ask(site.port, request);
    if (site.slowPort !== undefined)
      assert.deepEqual(await ask(site.slowPort, request), ours, '--fast-path=false');
    const isAgreed = differences.some(([, applies]) => applies(request));
    if (JSON.stringify(ours) === JSON.stringify(nginx) || isAgreed) continue;
    const brief = ({ status, range, length }: Facts): string => `${status} ${range ?? ''} ${length ?? ''}`;
    different.push(
      `${request.method ?? 'GET'} ${request.target} ${request.send ?? ''}: ${brief(ours)}; they ${brief(nginx)}`,
    );
  }
  t.diagnostic(`${requests.length} requests, the others agree on ${agreed}`);
  assert.deepEqual(different, []);
  assert.ok(agreed > 120, `they agree on ${agreed} only`);
});
