// The real program as a child process with the real crawler: killed during a job, restarted, stopped, started twice,
// started with errors; and what it logs.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { ExportApiError } from '#export-api/answers.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { createWholeClient, type WholeClient } from '../../support/export-api-client.ts';
import { programFile } from '../../support/program-file.ts';
import { untilFinished } from './running-service.ts';

const program = programFile('export-service');
const key = 'svc_program_test';
const domain = 'docs.example.com';
const never = new AbortController().signal;

const folder = mkdtempSync(join(tmpdir(), 'export-program-'));
const data = join(folder, 'data');
const children = new Set<ChildProcess>();
let origin: Server;
let originUrl = '';
let pages: RequestListener = (_request, response) => response.end();
const encodingsAsked = new Set<string | undefined>();

before(async () => {
  writeFileSync(join(folder, 'keys'), `${key}\n`);
  origin = createServer((request, response) => {
    encodingsAsked.add(request.headers['accept-encoding']?.toString());
    pages(request, response);
  }).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const address = origin.address();
  assert.ok(typeof address === 'object' && address !== null);
  originUrl = `http://127.0.0.1:${address.port}`;
});
after(() => {
  for (const child of children) child.kill('SIGKILL');
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true });
});

interface Program {
  readonly child: ChildProcess;
  readonly client: WholeClient;
  readonly log: () => string;
  readonly kill: (signal: NodeJS.Signals) => Promise<number | null>;
}

function launch(args: readonly string[]): { child: ChildProcess; output: string[] } {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: {} });
  children.add(child);
  const output: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  return { child, output };
}

const usual = (): readonly string[] => [
  '--keys-file',
  join(folder, 'keys'),
  '--data',
  data,
  '--origin',
  `${domain}=${originUrl}`,
  '--listen',
  '127.0.0.1:0',
  '--log-level',
  'debug',
];

async function startProgram(more: readonly string[] = [], flags = usual()): Promise<Program> {
  const { child, output } = launch([...flags, ...more]);
  assert.ok(child.stdout);
  const lines = createInterface({ input: child.stdout });
  const address = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      output.push(`${line}\n`);
      const found = /"address":"([^"]+)"/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(`the program ended: ${output.join('')}`)));
  });
  return {
    child,
    client: createWholeClient({
      baseUrl: address,
      key,
      clock: systemClock,
      timeoutMs: 10_000,
      userAgent: 'test',
    }),
    log: () => output.join(''),
    kill: async (signal) => {
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
      return child.exitCode;
    },
  };
}

/** A site whose second page keeps its visitor waiting until the test lets it go. */
function holdSecondPage(): { readonly asked: Promise<void>; readonly release: () => void } {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  pages = async (request, response) => {
    response.setHeader('Content-Type', 'text/html');
    if (request.url === '/') return response.end('<h1>home</h1><a href="/second">second</a>');
    if (request.url !== '/second') return response.writeHead(404).end();
    asked.resolve();
    await released.promise;
    return response.end('<h1>second</h1>');
  };
  return { asked: asked.promise, release: () => released.resolve() };
}

test('a job interrupted by a kill starts again with the next process, and its bundle is whole', async () => {
  const gate = holdSecondPage();
  const first = await startProgram();
  const request = { domain, idempotencyKey: 'mark' };
  const { jobId } = await first.client.startJob(request, never);
  await gate.asked;
  assert.equal((await first.client.readJob(jobId, never)).state, 'running');
  await first.kill('SIGKILL');

  const second = await startProgram();
  assert.match(second.log(), /jobs were interrupted/);
  assert.equal((await second.client.startJob(request, never)).jobId, jobId);
  gate.release();
  assert.equal(await untilFinished(second.client, jobId), 'completed');
  assert.equal((await second.client.readJob(jobId, never)).pageCount, 2);
  const { link } = await second.client.issueLink({ jobId, idempotencyKey: 'm' }, never);
  const response = await fetch(link.reveal());
  const archive = gunzipSync(Buffer.from(await response.arrayBuffer())).toString('latin1');
  assert.match(archive, /index\.html\0/);
  assert.deepEqual([...encodingsAsked], ['gzip'], 'no site is asked for brotli');
  assert.match(archive, /<h1>second<\/h1>/);
  assert.equal(await second.kill('SIGTERM'), 0);
  for (const log of [first.log(), second.log()]) {
    assert.doesNotMatch(log, new RegExp(`${key}|signature|${link.reveal().split('signature=')[1]}`));
  }
});

test('a job that is killed repeatedly fails', async () => {
  const gate = holdSecondPage();
  let running = await startProgram();
  const { jobId } = await running.client.startJob({ domain, idempotencyKey: 'again' }, never);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await gate.asked;
    assert.equal((await running.client.readJob(jobId, never)).outcome, 'unfinished');
    await running.kill('SIGKILL');
    running = await startProgram();
  }
  const report = await running.client.readJob(jobId, never);
  assert.equal(report.outcome, 'failed');
  assert.match(JSON.stringify(report.raw), /interrupted 3 times/);
  gate.release();
  await running.kill('SIGTERM');
});

test('an origin without pages is a failed job with its reason, and an unmapped domain is refused', async () => {
  const running = await startProgram();
  pages = (_request, response) => response.writeHead(404).end();
  const { jobId } = await running.client.startJob({ domain, idempotencyKey: 'none' }, never);
  assert.equal(await untilFinished(running.client, jobId), 'failed');
  assert.match(JSON.stringify((await running.client.readJob(jobId, never)).raw), /NoPages/);
  const unmapped = await running.client
    .startJob({ domain: 'other.example.com', idempotencyKey: 'o' }, never)
    .catch((error: unknown) => error);
  assert.ok(unmapped instanceof ExportApiError && unmapped.code === 'BadRequest');
  await running.kill('SIGTERM');
});

test('without a mapping, a domain with an internal address fails its job', async () => {
  const { child, client, kill } = await startProgram(
    [],
    usual().filter((_, index) => index !== 4 && index !== 5),
  );
  assert.equal(child.exitCode, null);
  const { jobId } = await client.startJob({ domain: 'localhost', idempotencyKey: 'inside' }, never);
  assert.equal(await untilFinished(client, jobId), 'failed');
  assert.match(JSON.stringify((await client.readJob(jobId, never)).raw), /OriginInternal/);
  await kill('SIGTERM');
});

test('a second program on the same folder exits 1 with the reason', async () => {
  const running = await startProgram();
  const { child, output } = launch(usual());
  child.stdout?.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  const [code] = await once(child, 'close');
  assert.equal(code, 1);
  assert.match(output.join(''), /another export-service uses this data folder/);
  await running.kill('SIGTERM');
});

test('an invalid flag exits 2 and an invalid file exits 1, each with the expected form', async () => {
  const own = ['--data', join(folder, 'own')];
  const rows: readonly (readonly [readonly string[], number, RegExp])[] = [
    [[...own, '--keys-file', join(folder, 'keys'), '--orgin', 'x'], 2, /did you mean --origin/],
    [[...own, '--keys-file', join(folder, 'absent')], 1, /cannot read the keys file/],
  ];
  for (const [args, expected, words] of rows) {
    const { child, output } = launch(args);
    child.stdout?.on('data', (chunk: Buffer) => output.push(chunk.toString()));
    const [code] = await once(child, 'close');
    assert.equal(code, expected, output.join(''));
    assert.match(output.join(''), words);
  }
});

test('a robots.txt of thousands of wildcards delays no client, and is obeyed', async () => {
  const rules = Array.from({ length: 11_000 }, (_, at) => `Disallow: /*${'a*'.repeat(14)}${at}y\n`).join('');
  const links = Array.from({ length: 300 }, (_, at) => `<a href="/${'a'.repeat(990)}${at}x">`).join('');
  pages = (request, response) => {
    if (request.url === '/robots.txt') {
      response.setHeader('Content-Type', 'text/plain');
      return response.end(`User-agent: *\nDisallow: /no\n${rules}`);
    }
    if (request.url !== '/') return response.writeHead(404).end();
    response.setHeader('Content-Type', 'text/html');
    return response.end(`<a href="/no">${links}`);
  };
  const program = await startProgram(['--max-missing', '100%']);
  const { jobId } = await program.client.startJob({ domain, idempotencyKey: 'wildcards' }, never);
  // Each question is given up after ten seconds, and all rules for all links once took minutes.
  assert.equal(await untilFinished(program.client, jobId), 'completed');
  // The log comes through another pipe than the answer.
  await eventually('the disallowed page is logged', () =>
    /"reason":"RobotsDisallowed","count":1,/.test(program.log()) ? true : undefined,
  );
  assert.equal(await program.kill('SIGTERM'), 0);
});
