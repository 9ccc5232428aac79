// Agents on the site port, from outside: the SDK's own client in each revision of the protocol, who may call, what a site keeps for its
// readers, a swap, and a thread that ends. The last test is the real program behind an air gap.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { noNamespaces } from '../../support/namespaces.ts';
import { programFile } from '../../support/program-file.ts';
import { bundleDocument, makeArchive, siteDigest } from './archive.ts';
import { fuzzCalls } from './fuzzed-calls.ts';
import { type LinkServer, startLinkServer } from './link-server.ts';
import { readAnswer, sendRaw } from './raw-client.ts';
import type { ServedSite } from './served-site.ts';
import { prepareSiteHere } from './server-here.ts';

const page = (title: string, text: string): string =>
  `<!doctype html><html lang="en"><title>${title}</title><nav>menu</nav><main><h1>${title}</h1>${text}</main></html>`;
const long = Array.from({ length: 4000 }, (_, at) => `word${at}`).join(' ');
const siteOf = (version: string) => ({
  'index.html': page('Home', `<p>The quokka, ${version}</p>`),
  'guide/install.html': page(
    'Install',
    `<p>First</p><h2 id="linux">On Linux</h2><p>Use the package of ${version}</p>`,
  ),
  'guide/long.html': page('Long', `<p>${long}</p>`),
  '.env': 'SECRET=1',
});

let links: LinkServer;
let served: ServedSite;
before(async () => {
  links = await startLinkServer();
  for (const version of ['v1', 'v2']) links.put(version, await makeArchive(siteOf(version)));
  links.put('own', await makeArchive({ ...siteOf('own'), 'mcp.html': page('Our MCP', 'how to connect') }));
});
after(() => links.close());

async function serve(version: string, ...flags: readonly string[]): Promise<void> {
  await served.mount(bundleDocument({ version, link: links.link(version) }));
  if (flags.length > 0) await served.start(...flags);
  await served.until(`${version} is served`, ({ active }) => active?.version === version);
}

async function withServer(
  flags: readonly string[],
  work: () => Promise<void>,
  version = 'v1',
): Promise<void> {
  served = await prepareSiteHere();
  try {
    await serve(version, '--mcp', ...flags);
    await work();
  } finally {
    await served.remove();
  }
}

const revisions: readonly (readonly [name: string, options: ConstructorParameters<typeof Client>[1]])[] = [
  ['2025-03-26', { supportedProtocolVersions: ['2025-03-26'] }],
  ['2025-06-18', { supportedProtocolVersions: ['2025-06-18'] }],
  ['2026-07-28', { versionNegotiation: { mode: 'auto' } }],
];

async function connect(
  options: ConstructorParameters<typeof Client>[1],
  headers = {},
  base = '',
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, options);
  const address = new URL(`${served.site}${base}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
  return client;
}

const answer = z.looseObject({
  content: z.looseObject({ version: z.string().optional(), digest: z.string() }),
  count: z.number().optional(),
  results: z.array(z.looseObject({ address: z.string(), heading: z.string() })).optional(),
  pages: z.array(z.looseObject({ address: z.string() })).optional(),
  text: z.string().optional(),
  next: z.number().optional(),
});
async function callTool(client: Client, name: string, asked: object): Promise<z.infer<typeof answer>> {
  const { structuredContent, isError } = await client.callTool({ name, arguments: { ...asked } });
  assert.notEqual(isError, true);
  return answer.parse(structuredContent);
}
const searchWhenMade = (client: Client, query: string): Promise<z.infer<typeof answer>> =>
  eventually('the search is made', async () => {
    const { structuredContent } = await client.callTool({ name: 'search', arguments: { query } });
    return structuredContent === undefined ? undefined : answer.parse(structuredContent);
  });

test('with a search for readers, agents search its files: of each version, and after a restart', async () => {
  const flags = ['--search', '--base-path=/docs'];
  await withServer(flags, async () => {
    const found = async (query: string): Promise<readonly string[]> => {
      const client = await connect(revisions[1]?.[1], {}, '/docs');
      const { results = [] } = await searchWhenMade(client, query);
      await client.close();
      return results.map(({ address }) => address);
    };
    const addresses = await found('quokka');
    assert.ok(addresses.length > 0);
    const ready = (version: string) =>
      served.until(
        `${version} has its search`,
        ({ active, search }) => active?.version === version && search.state === 'ready',
      );
    await ready('v1');
    await serve('v2');
    await ready('v2');
    assert.deepEqual(await found('quokka'), addresses);
    await served.kill();
    await served.start('--mcp', ...flags);
    await ready('v2');
    assert.deepEqual(await found('quokka'), addresses);
    assert.equal((await askedOf()).searchedPages, 3);
  });
});

const numbers = z.record(z.string(), z.number());
const agentStatus = z.object({
  agents: z.object({
    state: z.string(),
    searchedPages: z.number(),
    requests: numbers,
    calls: z.record(z.string(), numbers),
  }),
});

const askedOf = async () => agentStatus.parse(JSON.parse(await served.page('/status'))).agents;

test('what agents asked is in /status and in metrics, by outcome, and nothing of what they wrote', async () => {
  await withServer(['--base-path=/docs'], async () => {
    const client = await connect(revisions[0]?.[1], {}, '/docs');
    await callTool(client, 'list_pages', {});
    await searchWhenMade(client, 'quokka');
    await client.callTool({ name: 'read_page', arguments: { address: '/docs/nowhere-at-all' } });
    await client.callTool({ name: 'wombat', arguments: {} }).catch(() => {});
    await client.close();
    const refusedBefore = (await askedOf()).requests['refused'] ?? 0;
    await fetch(`${served.site}/docs/mcp`, { method: 'DELETE' });
    const { state, searchedPages, calls, requests } = await askedOf();
    assert.deepEqual([state, searchedPages], ['ready', 3]);
    assert.deepEqual(calls['list_pages'], { answered: 1, refused: 0, failed: 0 });
    assert.deepEqual(calls['read_page'], { answered: 0, refused: 1, failed: 0 });
    assert.equal(calls['search']?.['answered'], 1);
    assert.equal(requests['refused'], refusedBefore + 1);
    const metrics = await served.page('/metrics');
    assert.match(metrics, /^bundle_server_mcp_calls_total\{tool="read_page",outcome="refused"\} 1$/m);
    assert.match(metrics, /^bundle_server_mcp_requests_total\{outcome="refused"\} [1-9]/m);
    assert.doesNotMatch(metrics, /quokka|nowhere-at-all|wombat/);
  });
});

test('the client of the SDK searches, reads and lists in each revision of the protocol, below a base path', async () => {
  await withServer(['--base-path=/docs'], async () => {
    for (const [revision, options] of revisions) {
      const client = await connect(options, {}, '/docs');
      assert.equal(client.getNegotiatedProtocolVersion(), revision);
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map(({ name }) => name).sort(), ['list_pages', 'read_page', 'search']);
      for (const tool of tools) {
        assert.equal(tool.annotations?.readOnlyHint, true);
        assert.ok(tool.outputSchema !== undefined);
      }
      const found = await searchWhenMade(client, 'linux pakage');
      assert.equal(found.results?.[0]?.address, '/docs/guide/install#linux');
      assert.deepEqual(found.content, { version: 'v1', digest: siteDigest(siteOf('v1')) });
      const read = await callTool(client, 'read_page', { address: found.results?.[0]?.address ?? '' });
      assert.match(read.text ?? '', /^## On Linux\n\nUse the package of v1/);
      const listed = await callTool(client, 'list_pages', { below: '/guide/' });
      assert.deepEqual(
        listed.pages?.map(({ address }) => address),
        ['/docs/guide/install', '/docs/guide/long'],
      );
      await client.close();
    }
  });
});

test('a long page comes in parts that give the whole text', async () => {
  await withServer([], async () => {
    const client = await connect({});
    let text = '';
    for (let from: number | undefined = 0; from !== undefined; ) {
      const part = await callTool(client, 'read_page', { address: '/guide/long', from, length: 10_000 });
      assert.ok((part.text ?? '').length <= 10_000);
      text += part.text;
      from = part.next;
    }
    assert.equal(text, `# Long\n\n${long}\n`);
    await client.close();
  });
});

test('what the site does not show, agents do not read, and other sites neither', async () => {
  await withServer([], async () => {
    const client = await connect({});
    for (const address of [
      '/.env',
      '/../../etc/passwd',
      'https://example.com/',
      'file:///etc/passwd',
      '/nope',
    ]) {
      const result = await client.callTool({ name: 'read_page', arguments: { address } });
      assert.equal(result.isError, true, address);
      assert.doesNotMatch(JSON.stringify(result), /SECRET|root:/);
    }
    await client.close();
  });
});

test('a swap is answered from the new version', async () => {
  await withServer([], async () => {
    const client = await connect({});
    await callTool(client, 'list_pages', {});
    await serve('v2');
    await eventually('an answer is of v2', async () => {
      const { content, text } = await callTool(client, 'read_page', { address: '/' });
      assert.match(text ?? '', content.version === 'v2' ? /quokka, v2/ : /quokka, v1/);
      return content.version === 'v2' ? true : undefined;
    });
    await client.close();
  });
});

const listCall = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
const usual = {
  Host: 'localhost',
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
  Connection: 'close',
};
/** @param changed fields; an empty one is left out */
async function post(
  changed: Readonly<Record<string, string>> = {},
  body = listCall,
  start = 'POST /mcp HTTP/1.1',
) {
  const fields = { ...usual, 'Content-Length': `${Buffer.byteLength(body)}`, ...changed };
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === '' ? [] : [`${name}: ${value}`],
  );
  return readAnswer(
    await sendRaw(served.port, Buffer.from(`${start}\r\n${lines.join('\r\n')}\r\n\r\n${body}`)),
  );
}

test('only the names of the site, its own origins and whole calls pass', async () => {
  await withServer(['--mcp-hosts=docs.example.com'], async () => {
    const rows: readonly (readonly [what: string, status: number, answer: () => ReturnType<typeof post>])[] =
      [
        ['localhost', 200, () => post()],
        [
          'a name of the flag',
          200,
          () => post({ Host: 'docs.example.com', Origin: 'https://docs.example.com' }),
        ],
        ['another host', 403, () => post({ Host: 'evil.example' })],
        ['another host that is forwarded', 200, () => post({ 'X-Forwarded-Host': 'evil.example' })],
        [
          'a forwarded name for another host',
          403,
          () => post({ Host: 'evil.example', 'X-Forwarded-Host': 'localhost' }),
        ],
        ['no host', 400, () => post({ Host: '' })],
        ['two hosts', 400, () => post({ host: 'localhost' })],
        [
          'a target that names a host',
          405,
          () => post({}, listCall, 'POST http://evil.example/mcp HTTP/1.1'),
        ],
        ['another origin', 403, () => post({ Origin: 'https://evil.example' })],
        ['an opaque origin', 403, () => post({ Origin: 'null' })],
        ['another type', 415, () => post({ 'Content-Type': 'text/plain' })],
        ['a compressed call', 415, () => post({ 'Content-Encoding': 'gzip' })],
        ['a long call', 413, () => post({}, ' '.repeat(64 * 1024 + 1))],
        [
          'a long call in chunks',
          413,
          () =>
            post(
              { 'Content-Length': '', 'Transfer-Encoding': 'chunked' },
              `10001\r\n${' '.repeat(0x10001)}\r\n0\r\n\r\n`,
            ),
        ],
        ['what is not JSON', 400, () => post({}, '{')],
        ['a call that asks first', 200, () => post({ Expect: '100-continue' })],
        ['a session that ends', 405, () => post({ 'Content-Length': '' }, '', 'DELETE /mcp HTTP/1.1')],
        ['a stream of events', 405, () => post({ 'Content-Length': '' }, '', 'GET /mcp HTTP/1.1')],
        [
          'a question of another site',
          405,
          () => post({ 'Content-Length': '' }, '', 'OPTIONS /mcp HTTP/1.1'),
        ],
        ['a call to a page', 405, () => post({}, listCall, 'POST / HTTP/1.1')],
      ];
    for (const [what, status, ask] of rows) {
      const found = await ask();
      const last =
        found.status === 0 ? found : /^HTTP\/1\.1 100/.test(found.head) ? readAnswer(found.body) : found;
      assert.equal(last.status, status, `${what}: ${last.head}\n${last.body}`);
    }
  });
});

test('the card and the catalog name the endpoint under the host that was asked', async () => {
  await withServer(['--mcp-hosts=docs.example.com', '--base-path=/docs'], async () => {
    for (const path of ['/docs/mcp/server-card', '/.well-known/mcp', '/.well-known/mcp/server-card.json']) {
      const { status, head, body } = await post(
        { Host: 'docs.example.com', 'Content-Length': '' },
        '',
        `GET ${path} HTTP/1.1`,
      );
      assert.equal(status, 200);
      assert.match(body, /"url": "https:\/\/docs\.example\.com\/docs\/mcp"/);
      assert.match(head, /\r\nAccess-Control-Allow-Origin: \*\r\n/);
      assert.doesNotMatch(head, /Access-Control-Allow-(Methods|Headers)/);
    }
    const { body } = await post({ 'Content-Length': '' }, '', 'GET /.well-known/ai-catalog.json HTTP/1.1');
    assert.match(body, /"url": "http:\/\/localhost\/docs\/mcp\/server-card"/);
    const other = await post(
      { Host: 'evil.example', 'Content-Length': '' },
      '',
      'GET /.well-known/mcp HTTP/1.1',
    );
    assert.equal(other.status, 403);
  });
});

test('a page of the site at /mcp is still its readers’, and calls are answered', async () => {
  await withServer(
    [],
    async () => {
      const plain = await fetch(`${served.site}/mcp`);
      assert.match(await plain.text(), /how to connect/);
      assert.equal((await post()).status, 200);
      assert.equal((await post({ 'Content-Length': '' }, '', 'GET /mcp HTTP/1.1')).status, 405);
    },
    'own',
  );
});

test('with a token, a call without it is refused with what is missing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agents-'));
  await writeFile(join(folder, 'token'), 'a-token-of-23-characters\n');
  await withServer([`--mcp-token-file=${join(folder, 'token')}`], async () => {
    const refused = await post();
    assert.equal(refused.status, 401);
    assert.match(refused.head, /\r\nWWW-Authenticate: Bearer realm="documentation"\r\n/);
    assert.match((await post({ Authorization: 'Bearer wrong' })).head, /error="invalid_token"/);
    const client = await connect({}, { Authorization: 'Bearer a-token-of-23-characters' });
    assert.equal((await client.listTools()).tools.length, 3);
    await client.close();
    assert.doesNotMatch(served.output(), /a-token-of-23/);
  });
  await rm(folder, { recursive: true });
});

test('calls beyond the rate are 429 with Retry-After, and pages are answered meanwhile', async () => {
  await withServer(['--mcp-rate=6'], async () => {
    assert.equal((await post()).status, 200);
    const refused = await post();
    assert.equal(refused.status, 429);
    assert.match(refused.head, /\r\nRetry-After: \d+\r\n/);
    assert.match(refused.body, /--mcp-rate allows\. Call again in \d+ s/);
    assert.equal((await fetch(`${served.site}/`)).status, 200);
  });
});

test('each call of a tool counts against the rate, also in one request', async () => {
  await withServer(['--mcp-rate=6'], async () => {
    const call = (id: number) => ({
      ...{ jsonrpc: '2.0', id, method: 'tools/call' },
      params: { name: 'list_pages', arguments: {} },
    });
    const batch = JSON.stringify(Array.from({ length: 10 }, (_, id) => call(id)));
    assert.equal((await post({}, batch)).status, 200);
    const refused = await post();
    assert.equal(refused.status, 429);
    // One call is due after ten seconds, ten after a hundred.
    assert.ok(Number(/Retry-After: (\d+)/.exec(refused.head)?.[1]) > 60);
  });
});

test('one request holds ten calls of tools at most', async () => {
  await withServer([], async () => {
    const call = (id: number) => ({
      ...{ jsonrpc: '2.0', id, method: 'tools/call' },
      params: { name: 'list_pages', arguments: {} },
    });
    const batch = await post({}, JSON.stringify(Array.from({ length: 12 }, (_, id) => call(id))));
    assert.equal(batch.status, 200);
    assert.equal(batch.body.match(/Send the others in another request/g)?.length, 2);
  });
});

test('whatever agents send: answers below 500, and none of the protocol under another name', async () => {
  await withServer(['--mcp-hosts=docs.example.com', '--mcp-rate=999999999'], async () => {
    const statuses = await fuzzCalls(served.port, 300, 20_261_130);
    assert.ok((statuses.get(200) ?? 0) > 0 && (statuses.get(403) ?? 0) > 0);
    assert.doesNotMatch(served.output(), /has ended|"level":"error"/);
  });
});

test('without the flag nothing of it answers', async () => {
  served = await prepareSiteHere();
  try {
    await serve('v1', '--fast-path=true');
    const get = async (path: string): Promise<number> => (await fetch(served.site + path)).status;
    assert.equal((await post()).status, 405);
    for (const path of ['/mcp', '/mcp/server-card', '/.well-known/mcp', '/.well-known/ai-catalog.json'])
      assert.equal(await get(path), 404, path);
  } finally {
    await served.remove();
  }
});

const run = promisify(execFile);

test('behind an air gap the client of the SDK works in both generations of the protocol, and no packet leaves', {
  skip: noNamespaces,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agents-gap-'));
  const archive = join(folder, 'export.tar.gz');
  await writeFile(archive, await makeArchive(siteOf('v1')));
  const ports = [
    '--listen',
    '127.0.0.1:8080',
    '--admin-listen',
    '127.0.0.1:9090',
    '--deployment-type',
    'AirGapped',
  ];
  const flags = [
    '--bundle-url',
    `file://${archive}`,
    '--version',
    'v1',
    '--store',
    join(folder, 'store'),
    '--mcp',
  ];
  const server = [process.execPath, programFile('bundle-server'), ...flags, ...ports];
  const inside = ['--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...server];
  const child = startProgram('/usr/bin/unshare', { args: inside });
  const script = `
    const { Client, StreamableHTTPClientTransport } = await import(${JSON.stringify(import.meta.resolve('@modelcontextprotocol/client'))});
    for (const options of [{}, { versionNegotiation: { mode: 'auto' } }]) {
      const client = new Client({ name: 'gap', version: '1' }, options);
      await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1:8080/mcp')));
      const read = await client.callTool({ name: 'read_page', arguments: { address: '/' } });
      const found = await client.callTool({ name: 'search', arguments: { query: 'quokka' } });
      console.log(client.getNegotiatedProtocolVersion(), read.structuredContent.title, found.structuredContent?.count);
      await client.close();
    }`;
  const ask = async (): Promise<string> => {
    const enter = [`--net=/proc/${child.pid}/ns/net`, process.execPath, '--input-type=module', '-e', script];
    return (await run('/usr/bin/nsenter', enter)).stdout;
  };
  try {
    const said = await eventually('agents are answered', async () => {
      if (child.hasExited()) throw new Error(child.tail());
      const text = await ask();
      return /undefined/.test(text) ? undefined : text;
    });
    assert.equal(said, '2025-11-25 Home 1\n2026-07-28 Home 1\n');
    const counters = await readFile(`/proc/${child.pid}/net/snmp`, 'utf8');
    const [names = '', values = ''] = counters.split('\n').filter((line) => line.startsWith('Ip:'));
    assert.equal(values.split(' ')[names.split(' ').indexOf('OutNoRoutes')], '0');
  } finally {
    await child.stop('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
});
