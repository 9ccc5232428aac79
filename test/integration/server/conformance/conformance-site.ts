// The site that every section of the conformance suite asks, served by the real program with variants ready, with the
// fast path and without, and a row of a section: what is sent byte by byte, and what the RFC wants of the answer.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { eventually } from '../../../support/eventually.ts';
import { makeArchive, type SiteContent } from '../archive.ts';
import { readAnswer, sendRaw } from '../raw-client.ts';
import { prepareSite, type ServedSite } from '../served-site.ts';

export const page = `<!doctype html><title>page</title>\n${'<p>All of this is text.</p>\n'.repeat(100)}`;
export const bytes = '0123456789';

export const siteContent: SiteContent = {
  'index.html': page.replace('page', 'home'),
  'page.html': page,
  'folder/index.html': page.replace('page', 'folder'),
  'latin1.html': Buffer.from(
    page.replace('<title>', '<meta charset="iso-8859-15"><title>Gr\u00fc\u00dfe '),
    'latin1',
  ),
  'both.html': page.replace('page', 'both'),
  'both/index.html': page.replace('page', 'inner both'),
  'digits.bin': bytes,
  'empty.txt': '',
  'logo.png': Buffer.alloc(4000, 'not text'),
  'search-index.json': JSON.stringify(Array.from({ length: 200 }, (_, at) => ({ at, text: 'found' }))),
  'assets/app.BxYz12_Q.js': `console.log(${JSON.stringify('x'.repeat(3000))});\n`,
  'a b/é.html': page,
  'v1.4/index.html': page,
  '404.html': page.replace('page', 'absent'),
  '.env': 'SECRET=1',
  'admin/secret.html': page,
};

export interface ConformanceSite {
  readonly served: ServedSite;
  readonly port: number;
  /** Of the same site with `--fast-path=false`, where the extended tests ask for both settings. */
  readonly slowPort: number | undefined;
  /** Ends both. */
  remove(): Promise<void>;
  /** The page's tag by encoding. */
  readonly tags: { readonly identity: string; readonly br: string; readonly gzip: string };
}

/** The thread that compresses yields to everything else, on a busy test machine too. */
const variantsTimeout = { timeoutMs: 120_000 };

export async function serveConformanceSite(...flags: readonly string[]): Promise<ConformanceSite> {
  const pagePath = flags.includes('/docs') ? '/docs/page' : '/page';
  const served = await serveWhole(pagePath, flags);
  const hasBoth = process.env['CONFORMANCE_SETTINGS'] === 'both';
  const slow = hasBoth ? await serveWhole(pagePath, [...flags, '--fast-path=false']) : undefined;
  const tagOf = async (encoding: string): Promise<string> => {
    const lines = [
      `GET ${pagePath} HTTP/1.1`,
      'Host: a',
      `Accept-Encoding: ${encoding}`,
      'Connection: close',
    ];
    const { headers } = await exchange(served.port, lines);
    return headers.get('etag') ?? '';
  };
  const tags = { identity: await tagOf('identity'), br: await tagOf('br'), gzip: await tagOf('gzip') };
  assert.equal(new Set(Object.values(tags)).size, 3, 'each encoding has a tag of its own');
  const remove = async (): Promise<void> => {
    await Promise.all([served.remove(), slow?.remove()]);
  };
  return { served, port: served.port, slowPort: slow?.port, tags, remove };
}

/** Resolves when the variants are served. */
async function serveWhole(pagePath: string, flags: readonly string[]): Promise<ServedSite> {
  const served = await prepareSite();
  const archive = join(served.folder, 'export.tar.gz');
  await writeFile(archive, await makeArchive(siteContent));
  await served.start('--bundle-url', `file://${archive}`, '--version', 'v1', ...flags);
  await eventually(
    'the precompressed variants are served',
    async () => {
      const answer = await fetch(`${served.site}${pagePath}`, { headers: { 'Accept-Encoding': 'br' } });
      await answer.arrayBuffer();
      return answer.headers.get('content-encoding') === 'br' ? true : undefined;
    },
    variantsTimeout,
  );
  return served;
}

export interface Answer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** One character a byte. */
  readonly body: string;
}

/** One request, as its lines, on a connection of its own. */
export async function exchange(port: number, lines: readonly string[]): Promise<Answer> {
  return parseAnswer(await sendRaw(port, `${lines.join('\r\n')}\r\n\r\n`));
}

/** One request whose connection stays; the answer without its date. */
async function askKept(port: number, lines: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  let text = '';
  for await (const piece of socket.setEncoding('latin1')) {
    text += piece;
    const { status, head, body } = readAnswer(text);
    const length = Number(/^Content-Length: (\d+)/m.exec(head)?.[1] ?? 0);
    const isBodiless = status === 304 || lines[0]?.startsWith('HEAD ');
    if (text.includes('\r\n\r\n') && (isBodiless || body.length >= length)) break;
  }
  return text.replace(/^Date: .*$/m, 'Date: now');
}

export function parseAnswer(text: string): Answer {
  const { status, head, body } = readAnswer(text);
  const fields = head.split('\r\n').slice(1);
  const headers = new Map<string, string>();
  for (const field of fields) {
    const colon = field.indexOf(':');
    const name = field.slice(0, colon).toLowerCase();
    assert.ok(!headers.has(name), `${name} twice`);
    headers.set(name, field.slice(colon + 1).trim());
  }
  return { status, headers, body };
}

/** The words of the RFC in short, the request (`GET` when only a target is given), and what the answer must be. */
export interface Row {
  readonly rule: string;
  readonly method?: string;
  readonly target?: string;
  readonly send?: readonly string[];
  readonly status: number;
  /** Exact values; `undefined`: the field must be absent. */
  readonly fields?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

/** Asks every row, of both settings where there are two; what holds for every answer is asked of each. */
export async function hold({ port, slowPort }: ConformanceSite, rows: readonly Row[]): Promise<void> {
  for (const { rule, method = 'GET', target = '/page', send = [], status, fields = {}, body } of rows) {
    const lines = [`${method} ${target} HTTP/1.1`, 'Host: docs.example.com', ...send, 'Connection: close'];
    const answer = await exchange(port, lines);
    // The fast path answers only what keeps its connection.
    const keeping = lines.slice(0, -1);
    const kept = await askKept(port, keeping);
    assert.match(kept, /^HTTP\/1\.1 /, rule);
    if (slowPort !== undefined)
      assert.equal(kept, await askKept(slowPort, keeping), `${rule}: --fast-path=false`);
    assert.equal(answer.status, status, rule);
    for (const [name, value] of Object.entries(fields)) {
      assert.equal(answer.headers.get(name), value, `${rule}: ${name}`);
    }
    if (body !== undefined) assert.ok(answer.body === body, `${rule}: the body is another`);
    holdAlways(rule, method, answer);
  }
}

/** RFC 9110 §6.6.1 (Date), §8.6 (Content-Length), §15.4.5 (304 has no content), §9.3.2 (nor has HEAD). */
function holdAlways(rule: string, method: string, { status, headers, body }: Answer): void {
  assert.ok(!Number.isNaN(Date.parse(headers.get('date') ?? '')), `${rule}: Date`);
  assert.ok(headers.has('cache-control'), `${rule}: Cache-Control`);
  assert.equal(headers.get('x-content-type-options'), 'nosniff', rule);
  assert.equal(headers.get('transfer-encoding'), undefined, rule);
  if (status === 304) {
    assert.equal(headers.get('content-length'), undefined, rule);
    assert.equal(body, '', rule);
  } else {
    assert.match(headers.get('content-length') ?? '', /^\d+$/, rule);
    const length = method === 'HEAD' ? '0' : headers.get('content-length');
    assert.equal(`${body.length}`, length, `${rule}: as many bytes as announced`);
  }
  if (status >= 400) assert.equal(headers.get('cache-control'), 'no-store', rule);
}
