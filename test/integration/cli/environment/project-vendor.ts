// A vendor of the project-scoped form, written from its page alone: one job of a project at a time, no word of progress, and
// a new link in each answer about a completed job. Shares nothing with the export service. A test may answer first.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { declareSecret } from '../../../support/secret-watch.ts';
import { startStorage } from '../../../support/storage-server.ts';

export const projectKey = 'svc_9d20_project_key';
export const projectId = '5f0c9a7e1d';
const secretPart = 'X-Signature=70ad5ec2e7';

interface ProjectJob {
  readonly project: string;
  readonly createdAt: string;
  readonly endsAt: number;
}

export interface ProjectVendor {
  readonly url: string;
  readonly jobs: ReadonlyMap<string, ProjectJob>;
  /** Bodies of starts, as they were sent. */
  readonly starts: readonly string[];
  /** Its limit for all projects together. */
  startsPerHour: number;
  /** Projects of the key. */
  knows: (project: string) => boolean;
  /** Methods and paths of calls with a key. */
  readonly calls: readonly string[];
  /** Returns whether it has answered. */
  first: (request: IncomingMessage, response: ServerResponse) => boolean;
  archive: Buffer;
  jobMs: number;
  /** How long its links are valid; in the past if negative. */
  linkMs: number;
  close(): Promise<void>;
}

export async function startProjectVendor(archive: Buffer): Promise<ProjectVendor> {
  declareSecret('the key', projectKey);
  declareSecret('the link', secretPart);
  const jobs = new Map<string, ProjectJob>();
  const [starts, calls]: [string[], string[]] = [[], []];
  let links = 0;
  const say = (response: ServerResponse, status: number, body: object): ServerResponse =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const document = (jobId: string, { createdAt, endsAt }: ProjectJob): object => {
    const isCompleted = Date.now() >= endsAt;
    const status = isCompleted ? 'completed' : 'running';
    const job = { jobId, status, createdAt, updatedAt: new Date().toISOString(), error: null };
    if (!isCompleted) return job;
    links += 1;
    const bundleUrl = `${storage.origin}/acme-export-2026-11-29.tar.gz?n=${links}&${secretPart}`;
    const expiresAt = new Date(Date.now() + vendor.linkMs).toISOString();
    return { ...job, bundleUrl, sizeBytes: vendor.archive.length, expiresAt };
  };
  const answerCall = (request: IncomingMessage, response: ServerResponse, body: string) => {
    const { method, url = '', headers } = request;
    calls.push(`${method} ${url}`);
    if (headers.authorization !== `Bearer ${projectKey}`) return say(response, 401, { error: 'unknown key' });
    if (vendor.first(request, response)) return response;
    const [, project = '', jobId] = /^\/v1\/static-export\/([^/]+)\/jobs(?:\/([^/]+))?$/.exec(url) ?? [];
    if (!vendor.knows(project)) return say(response, 404, { error: 'no such deployment' });
    if (method === 'POST' && jobId === undefined) {
      starts.push(body);
      if ([...jobs.values()].some((one) => one.project === project && Date.now() < one.endsAt))
        return say(response, 409, { error: 'an export of this deployment is already in progress' });
      const recent = [...jobs.values()].filter(
        ({ createdAt }) => Date.parse(createdAt) > Date.now() - 3_600_000,
      );
      if (recent.length >= vendor.startsPerHour)
        return say(response, 429, { error: 'ten exports of an organization in an hour' });
      const newId = `665f1c2e9b1d8e0012ab34${jobs.size.toString(16).padStart(2, '0')}`;
      const job = { project, createdAt: new Date().toISOString(), endsAt: Date.now() + vendor.jobMs };
      jobs.set(newId, job);
      return say(response, 202, document(newId, { ...job, endsAt: Number.POSITIVE_INFINITY }));
    }
    const job = jobs.get(jobId ?? '');
    return method === 'GET' && jobId !== undefined && job?.project === project
      ? say(response, 200, document(jobId, job))
      : say(response, 404, { error: 'no such job of this deployment' });
  };
  const storage = await startStorage((request, response) => {
    if (request.url?.includes(secretPart)) {
      request.resume();
      response.writeHead(200, { 'content-length': vendor.archive.length }).end(vendor.archive);
      return;
    }
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => void answerCall(request, response, Buffer.concat(parts).toString()));
  });
  const vendor: ProjectVendor = {
    ...{ url: storage.origin, jobs, starts, calls, archive, jobMs: 0, close: storage.close },
    startsPerHour: 10,
    linkMs: 900_000,
    knows: (project) => project === projectId,
    first: () => false,
  };
  return vendor;
}
