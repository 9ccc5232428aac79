// A site on loopback and the real export service that crawls it, in a data folder of its own: started, killed at a request, and
// started again. The site has validators as a file server has, and pages that are moved below a base path.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type ChildProgram, startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { programFile } from '../../support/program-file.ts';

export interface CrawledSite {
  /** By path; a test may change them. */
  readonly bodies: Map<string, string>;
  /** Path and status of each answer. */
  readonly answers: string[];
  /** Called with the number of each request, before its answer. */
  onRequest: (number: number) => void;
  readonly origin: string;
  close(): void;
}

export interface CrawlingService {
  /** @returns the id of a new job of the site */
  queue(): Promise<string>;
  /** @returns SHA-256 of the archive. @throws where the job fails */
  completed(jobId: string): Promise<string>;
  readonly program: ChildProgram;
}

export interface ServiceFolder {
  readonly data: string;
  start(): Promise<CrawlingService>;
  remove(): void;
}

const key = 'svc_crawled_site';
const jobShape = z.looseObject({ jobId: z.string(), status: z.string(), error: z.string().nullish() });

/** Fifty pages, two from each, and ten files. */
export function sixtyBodies(): Map<string, string> {
  const page = (at: number): string => {
    const links = [2 * at + 1, 2 * at + 2]
      .filter((next) => next < 50)
      .map((next) => `<a href="/p${next}">${next}</a>`);
    return `<!doctype html><title>${at}</title><script src="/s${at % 10}.js"></script>${links.join('')}${'text '.repeat(400)}`;
  };
  return new Map([
    ...Array.from({ length: 50 }, (_, at) => [at === 0 ? '/' : `/p${at}`, page(at)] as const),
    ...Array.from(
      { length: 10 },
      (_, at) => [`/s${at}.js`, `var n = ${at}; // ${'code '.repeat(900)}`] as const,
    ),
  ]);
}

export async function serveCrawledSite(): Promise<CrawledSite> {
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    site.onRequest(site.answers.length + 1);
    const body = site.bodies.get(path);
    const etag = `"${createHash('sha256')
      .update(body ?? '')
      .digest('hex')}"`;
    const status = body === undefined ? 404 : request.headers['if-none-match'] === etag ? 304 : 200;
    site.answers.push(`${path} ${status}`);
    const type = path.endsWith('.js') ? 'text/javascript' : 'text/html';
    response
      .writeHead(status, status === 404 ? {} : { etag, 'content-type': type })
      .end(status === 200 ? body : '');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const site: CrawledSite = {
    bodies: sixtyBodies(),
    answers: [],
    onRequest: () => {},
    origin: `http://127.0.0.1:${address.port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return site;
}

export function makeServiceFolder({ origin }: CrawledSite): ServiceFolder {
  const folder = mkdtempSync(join(tmpdir(), 'crawled-site-'));
  const data = join(folder, 'data');
  writeFileSync(join(folder, 'keys'), `${key}\n`);
  const args = [
    programFile('export-service'),
    ...['--keys-file', join(folder, 'keys'), '--data', data, '--listen', '127.0.0.1:0'],
    ...['--origin', `docs.example.com=${origin}`, '--project', 'p=docs.example.com'],
  ];
  return {
    data,
    start: async () => {
      const listening = Promise.withResolvers<string>();
      const program = startProgram(process.execPath, {
        args,
        onLine: (line) => {
          const address = /"address":"([^"]+)"/.exec(line)?.[1];
          if (address !== undefined) listening.resolve(address);
        },
      });
      program.exited.then(
        () => listening.reject(new Error(`the program ended: ${program.tail()}`)),
        () => {},
      );
      const jobs = `${await listening.promise}/v1/static-export/p/jobs`;
      const ask = async (path: string, body?: object): Promise<z.infer<typeof jobShape>> => {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
        const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
        return jobShape.parse(await (await fetch(`${jobs}${path}`, { headers, ...sent })).json());
      };
      return {
        program,
        queue: async () => (await ask('', { basePath: '/docs' })).jobId,
        completed: async (jobId) => {
          const job = await eventually(`job ${jobId} has ended`, async () => {
            const found = await ask(`/${jobId}`);
            return ['completed', 'failed'].includes(found.status) ? found : undefined;
          });
          assert.equal(job.status, 'completed', job.error ?? '');
          return createHash('sha256')
            .update(readFileSync(join(data, 'archives', `${jobId}.tar.gz`)))
            .digest('hex');
        },
      };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
