// A scripted export API on a real socket. The test sets the course of each domain's jobs, the answers and the valid
// key. Archives are real; links are signed, and expire when the test says so.

import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { declareSecret } from '../../support/secret-watch.ts';
import { makeArchive, type SiteContent } from '../server/archive.ts';

export const goodKey = 'svc_good-Kx81hT2mQ9';
export const wrongKey = 'svc_wrong-Pz55vB7nR3';
/** In every link; only the output Secret, and a target that requests the link, may hold it. */
export const signature = 'c2lnbmF0dXJlLW9mLXRoZS1saW5r';

export interface RawAnswer {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
  /** The request id of this answer. */
  readonly requestId?: string;
}

export interface Script {
  /** The status of a job at its n-th poll, from 1. */
  status?: (poll: number) => string;
  /** Instead of starting a job. */
  start?: RawAnswer;
  /** Instead of a link. */
  issue?: RawAnswer | undefined;
  content: SiteContent;
  /** Instead of an archive of the content. */
  archive?: Buffer;
  lifetimeMs: number;
  /** Awaited before the whole archive is sent. Until then a byte of it is sent every five seconds. */
  beforeArchive?: () => Promise<void>;
}

export interface ScriptedVendor {
  readonly url: string;
  readonly port: number;
  /** Creates or changes how a domain behaves. */
  script(domain: string, change: Partial<Script>): void;
  /** Ids of the jobs started for a domain; the same Idempotency-Key starts no second one. */
  jobs(domain: string): readonly string[];
  /** Idempotency-Keys of all starts that were asked for, answered well or not. */
  starts(domain: string): readonly string[];
  issues(domain: string): number;
  polls(domain: string): number;
  close(): Promise<void>;
}

interface Job {
  readonly id: string;
  readonly domain: string;
  readonly idempotencyKey: string;
  readonly content: SiteContent;
  polls: number;
  issues: number;
}

interface StoredArchive {
  readonly archive: Buffer;
  readonly expiresAt: number;
  readonly beforeArchive: Script['beforeArchive'];
}

/**
 * @param port a free one by default
 * @param host an address of the loopback network
 * @param clock by which its links expire, and that its answers show
 */
export async function startVendor(
  port = 0,
  host = '127.0.0.1',
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<ScriptedVendor> {
  declareSecret('the key', goodKey);
  declareSecret('the wrong key', wrongKey);
  declareSecret('the link', signature);
  const scripts = new Map<string, Script>();
  const jobs: Job[] = [];
  const starts: { readonly domain: string; readonly idempotencyKey: string }[] = [];
  const links = new Map<string, StoredArchive>();
  const of = (domain: string): readonly Job[] => jobs.filter((job) => job.domain === domain);
  const scriptOf = (domain: string): Script =>
    scripts.get(domain) ?? { content: { 'index.html': `<h1>${domain}</h1>` }, lifetimeMs: 15 * 60_000 };

  const startJob = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { domain } = JSON.parse(await readText(request));
    const script = scriptOf(domain);
    const idempotencyKey = String(request.headers['idempotency-key']);
    starts.push({ domain, idempotencyKey });
    if (script.start !== undefined) {
      send(response, script.start);
      return;
    }
    const known = jobs.find((job) => job.idempotencyKey === idempotencyKey);
    const job = known ?? {
      id: `job/${jobs.length + 1}`,
      domain,
      idempotencyKey,
      content: script.content,
      polls: 0,
      issues: 0,
    };
    if (known === undefined) jobs.push(job);
    sendJson(response, 202, { jobId: job.id });
  };

  const answerJob = async (path: string, response: ServerResponse): Promise<void> => {
    const [, id = '', action] = /^\/api\/v1\/static-export\/jobs\/([^/]+)(\/bundle)?$/.exec(path) ?? [];
    const job = jobs.find((one) => one.id === decodeURIComponent(id));
    if (job === undefined) {
      sendJson(response, 404, { error: 'no such job' });
      return;
    }
    const script = scriptOf(job.domain);
    if (action === undefined) {
      job.polls += 1;
      const status = script.status?.(job.polls) ?? (job.polls < 2 ? 'running' : 'completed');
      const progress = status === 'completed' ? 100 : 40;
      sendJson(response, 200, { jobId: job.id, status, progress, pageCount: 7 });
      return;
    }
    if (script.issue !== undefined) {
      send(response, script.issue);
      return;
    }
    job.issues += 1;
    const expiresAt = clock.now() + script.lifetimeMs;
    const target = `/files/${jobs.indexOf(job)}.tgz?issue=${job.issues}&signature=${signature}`;
    const archive = script.archive ?? (await makeArchive(job.content));
    const { beforeArchive } = script;
    links.set(target, { archive, expiresAt, beforeArchive });
    sendJson(response, 200, {
      bundleUrl: `${base()}${target}`,
      expiresAt: new Date(expiresAt).toISOString(),
    });
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '';
    response.setHeader('date', new Date(clock.now()).toUTCString());
    if (path.startsWith('/files/')) {
      await sendFile(request, response, links.get(path), clock.now());
    } else if (request.headers.authorization !== `Bearer ${goodKey}`) {
      sendJson(response, 401, { error: `key ${request.headers.authorization} is unknown` });
    } else if (path === '/api/v1/static-export/jobs') await startJob(request, response);
    else await answerJob(path, response);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => send(response, { status: 500, body: String(error) }));
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const base = (): string => `http://${host}:${address.port}`;
  const sum = (domain: string, count: (job: Job) => number): number =>
    of(domain).reduce((total, job) => total + count(job), 0);
  return {
    url: `${base()}/api`,
    port: address.port,
    script: (domain, change) => {
      scripts.set(domain, { ...scriptOf(domain), ...change });
    },
    jobs: (domain) => of(domain).map(({ id }) => id),
    starts: (domain) => starts.filter((one) => one.domain === domain).map((one) => one.idempotencyKey),
    issues: (domain) => sum(domain, ({ issues }) => issues),
    polls: (domain) => sum(domain, ({ polls }) => polls),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

function send(response: ServerResponse, answer: RawAnswer): void {
  const { status, type = 'text/html', body, requestId } = answer;
  const known = requestId === undefined ? {} : { 'x-request-id': requestId };
  response.writeHead(status, { 'content-type': type, ...known }).end(body);
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  send(response, { status, type: 'application/json', body: JSON.stringify(body) });
}

async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  link: StoredArchive | undefined,
  now: number,
): Promise<void> {
  if (link === undefined || link.expiresAt < now) {
    send(response, {
      status: 403,
      type: 'application/xml',
      body: '<Error><Code>AccessDenied</Code></Error>',
    });
  } else if (request.headers.range === 'bytes=0-0') {
    response
      .writeHead(206, { 'content-range': `bytes 0-0/${link.archive.length}` })
      .end(link.archive.subarray(0, 1));
  } else {
    response.writeHead(200, { 'content-type': 'application/gzip' });
    const { archive, beforeArchive } = link;
    let sent = 0;
    // Without any byte for 30 seconds the operator would give up the download.
    const drip = setInterval(() => {
      response.write(archive.subarray(sent, sent + 1));
      sent += 1;
    }, 5_000);
    response.once('close', () => clearInterval(drip));
    await beforeArchive?.();
    clearInterval(drip);
    response.end(archive.subarray(sent));
  }
}
