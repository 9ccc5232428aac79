// An export API and its storage whose answers a test chooses: real sockets, a job that is complete at its first poll, a
// presigned link to one archive. Honours Idempotency-Key, and counts jobs.

import type { ServerResponse } from 'node:http';
import { declareSecret } from '../../../support/secret-watch.ts';
import { type Storage, startStorage } from '../../../support/storage-server.ts';

export const key = 'svc_4f1d_secret_key';
export const signature = 'X-Signature=5ec2e7c0ffee';

export interface VendorAnswers {
  start?: (response: ServerResponse, count: number) => boolean;
  poll?: (response: ServerResponse, count: number) => boolean;
  issue?: (response: ServerResponse, count: number) => boolean;
  /** One byte of an archive, to see whether a link is valid. */
  probe?: (response: ServerResponse, count: number) => boolean;
  download?: (response: ServerResponse, count: number) => boolean;
}

export interface ScriptedVendor extends Pick<Storage, 'close'> {
  readonly url: string;
  /** Jobs that were started: one for each Idempotency-Key. */
  readonly jobs: ReadonlyMap<string, string>;
  /** Called first; returns whether it has answered. Replaced by the test. */
  answers: VendorAnswers;
  archive: Buffer;
  /** Of each link. */
  linkLifetimeMs: number;
  /** Calls so far. */
  readonly counts: Readonly<Record<keyof VendorAnswers, number>>;
}

export async function startVendor(archive: Buffer): Promise<ScriptedVendor> {
  declareSecret('the key', key);
  declareSecret('the link', signature);
  const jobs = new Map<string, string>();
  const counts = { start: 0, poll: 0, issue: 0, probe: 0, download: 0 };
  const json = (response: ServerResponse, status: number, body: object): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const storage = await startStorage((request, response) => {
    const { url = '', method, headers } = request;
    request.resume();
    const call = url.startsWith('/files/')
      ? headers.range === 'bytes=0-0'
        ? 'probe'
        : 'download'
      : url.endsWith('/bundle')
        ? 'issue'
        : method === 'POST'
          ? 'start'
          : 'poll';
    counts[call] += 1;
    if (headers.authorization !== `Bearer ${key}` && !url.startsWith('/files/'))
      return json(response, 401, {});
    if (vendor.answers[call]?.(response, counts[call]) === true) return;
    switch (call) {
      case 'start': {
        const idempotencyKey = String(headers['idempotency-key']);
        const jobId = jobs.get(idempotencyKey) ?? `job-${jobs.size + 1}`;
        jobs.set(idempotencyKey, jobId);
        return json(response, 202, { jobId });
      }
      case 'poll':
        return json(response, 200, { status: 'completed', progress: 100, pageCount: 3 });
      case 'issue': {
        const bundleUrl = `${storage.origin}/files/${counts.issue}.tar.gz?${signature}`;
        return json(response, 200, {
          bundleUrl,
          expiresAt: new Date(Date.now() + vendor.linkLifetimeMs).toISOString(),
        });
      }
      case 'probe':
      case 'download':
        response.writeHead(200, { 'content-length': vendor.archive.length }).end(vendor.archive);
    }
  });
  const vendor: ScriptedVendor = {
    url: storage.origin,
    jobs,
    answers: {},
    archive,
    linkLifetimeMs: 900_000,
    counts,
    close: storage.close,
  };
  return vendor;
}

/** An answer with a status and nothing of use. */
export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse): boolean => {
    response.writeHead(code, headers).end('{"error":"said by the vendor"}');
    return true;
  };
