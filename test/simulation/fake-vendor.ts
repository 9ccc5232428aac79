// The export API and the storage behind its links, with a clock of its own: jobs that take time, fail, hang or
// disappear; links that expire; calls that may be refused. Content is a name per domain, which determines its digest.
// Invariant: a link gives the content of the job it was issued for, until it expires and no longer.

import { hash } from 'node:crypto';
import {
  type ExportApi,
  type ExportApiAddress,
  ExportApiError,
  type ExportApiErrorCode,
} from '#export-api/answers.ts';
import type { Bundles, ExportApiSource, Inspection } from '#operator/loop/ports.ts';
import type { StartRecord } from '#operator/staticexport/status-schema.ts';
import { Link } from '#platform/wire/link.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { VirtualClock } from '../support/virtual-clock.ts';

export const signature = 'c2lnbmF0dXJl';

export interface Content {
  readonly name: string;
  readonly pages: number;
  readonly notes?: Inspection['notes'];
}

interface Job {
  readonly id: string;
  readonly domain: string;
  readonly content: Content;
  readonly endsAt: number;
  readonly ending: 'completed' | 'failed' | 'never';
}

interface IssuedFact {
  readonly jobId: string;
  /** On the monotonic clock. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly isBroken: boolean;
}

/** A `Retry-After`: when it was said, and until when, on the monotonic clock. */
export interface AskedWait {
  readonly at: number;
  readonly until: number;
}

export interface Call {
  readonly kind: 'start' | 'poll' | 'issue';
  readonly key: string;
  readonly idempotencyKey: string | undefined;
  readonly at: number;
  readonly baseUrl: string;
  /** The start record that the cluster stored when the vendor received the start. */
  readonly start: StartRecord | undefined;
}

export class FakeVendor implements ExportApiSource {
  readonly clock: VirtualClock;
  readonly jobs = new Map<string, Job>();
  /** The content of every job, including lost ones. */
  readonly exported = new Map<string, Content>();
  /** Jobs that another client started. */
  readonly elsewhere = new Set<string>();
  /** The base path of each job that was started with one. */
  readonly basePaths = new Map<string, string>();
  readonly links = new Map<string, IssuedFact>();
  /** All states that were reported of each job. */
  readonly said = new Map<string, Set<string>>();
  /** When each link was issued last, on the monotonic clock. */
  readonly issuedAt = new Map<string, number>();
  readonly calls: Call[] = [];
  readonly contents = new Map<string, Content>();
  validKey = 'svc_secret-one';
  /** While set, every call fails with this code. */
  failing: ExportApiErrorCode | undefined;
  /** The system's code behind a `NetworkError`. */
  systemCode: string | undefined;
  retryAfterMs: number | undefined;
  /** When jobs were started by project, on the monotonic clock. */
  readonly projectStarts: number[] = [];
  /** The latest time of all `Retry-After`, on the monotonic clock. */
  waitUntil = 0;
  /** The latest `Retry-After` that holds for all clients with the same key: of 429 and 5xx. */
  askedToWait: AskedWait = { at: 0, until: 0 };
  /** The same for starts by project, which have a limit of their own. */
  startsAskedToWait: AskedWait = { at: 0, until: 0 };
  /** Domains that this key may not export. */
  readonly forbidden = new Set<string>();
  /** How many of the next links are refused when they are used. */
  unusableLinks = 0;
  /** Its storage refuses each link. */
  isRefusing = false;
  /** How far the storage's clock is behind the signer's. */
  storageBehindMs = 0;
  /** The status of an unfinished job. */
  unfinishedState = 'running';
  /** `Retry-After` of good answers to starts and polls. */
  pollAfterMs: number | undefined;
  linkLifetimeMs = 15 * 60_000;
  /** Each new link has this share of the previous lifetime, and at least ten minutes. */
  lifetimeShrinks = 1;
  jobMs = 60_000;
  ending: Job['ending'] = 'completed';
  readMs = 1000;
  /** The vendor's wall clock minus the operator's. */
  skewMs = 0;
  /** Issues the same link until it expires. */
  isCachingLinks = false;
  isIdempotent = true;
  hidesExpiry = false;
  /** Its links contain the time of their signature and its validity. */
  isSigning = false;
  /** How much later the stated expiry is than the signature's. */
  overclaimMs = 0;
  /** Its answers have a `Date`. */
  isDated = true;
  unreadable: 'expired-link' | 'transient' | 'rejected' | undefined;
  /** Reads the start record that the cluster holds now. */
  readStart: () => StartRecord | undefined = () => undefined;
  readonly #starts = new Map<string, string>();
  readonly #cached = new Map<string, string>();
  #count = 0;

  constructor(clock: VirtualClock) {
    this.clock = clock;
  }

  connect(address: ExportApiAddress, key: string): ExportApi {
    const { baseUrl } = address;
    if (address.project !== undefined) return this.#ofProject(address.project.basePath, baseUrl, key);
    const admit = this.#admission(baseUrl, key);
    return {
      startJob: async ({ domain = '', idempotencyKey }) => {
        admit('start', idempotencyKey);
        if (this.forbidden.has(domain)) throw new ExportApiError('Forbidden', 'not yours', { status: 403 });
        const known = this.isIdempotent ? this.#starts.get(idempotencyKey) : undefined;
        const jobId = known ?? this.#start(domain, idempotencyKey);
        return { jobId, retryAfterMs: this.pollAfterMs, raw: {} };
      },
      readJob: async (jobId) => {
        admit('poll', undefined);
        const job = this.#find(jobId);
        const outcome = this.#outcomeOf(job);
        const state = outcome === 'unfinished' ? this.unfinishedState : outcome;
        this.#say(jobId, state);
        return {
          outcome,
          state,
          progress: 50,
          pageCount: 3,
          retryAfterMs: this.pollAfterMs,
          raw: {},
        };
      },
      issueLink: async ({ jobId, idempotencyKey }) => {
        admit('issue', idempotencyKey);
        const job = this.#find(jobId);
        if (job.ending !== 'completed' || this.clock.monotonic() < job.endsAt) {
          throw new ExportApiError('Conflict', 'not finished', { status: 409 });
        }
        return this.#issue(jobId);
      },
    };
  }

  /** The second form: one job at a time, no word of an Idempotency-Key, and the link in each answer about a completed job. */
  #ofProject(basePath: string | undefined, baseUrl: string, key: string): ExportApi {
    const admit = this.#admission(baseUrl, key, true);
    const isUnfinished = (job: Job): boolean =>
      this.#outcomeOf(job) === 'unfinished' && this.clock.monotonic() < job.endsAt + 2 * 3_600_000;
    const completed = (jobId: string) => {
      const job = this.#find(jobId);
      return this.#outcomeOf(job) === 'completed' ? this.#issue(jobId) : undefined;
    };
    return {
      startJob: async ({ domain = '', idempotencyKey }) => {
        admit('start', idempotencyKey);
        if ([...this.jobs.values()].some(isUnfinished))
          throw new ExportApiError('AnotherExportRuns', 'another job runs', { status: 409 });
        this.projectStarts.push(this.clock.monotonic());
        const jobId = this.#start(domain, idempotencyKey);
        if (basePath !== undefined) this.basePaths.set(jobId, basePath);
        return { jobId, raw: undefined };
      },
      readJob: async (jobId) => {
        admit('poll', undefined);
        const outcome = this.#outcomeOf(this.#find(jobId));
        const state = outcome === 'unfinished' ? this.unfinishedState : outcome;
        this.#say(jobId, state);
        const answer = { outcome, state, progress: undefined, pageCount: undefined, raw: undefined };
        return { ...answer, issued: completed(jobId) };
      },
      issueLink: async ({ jobId, idempotencyKey }) => {
        admit('issue', idempotencyKey);
        const issued = completed(jobId);
        if (issued === undefined) throw new ExportApiError('Conflict', 'not finished');
        return issued;
      },
    };
  }

  bundles(): Bundles {
    return {
      inspect: async (link, signal): Promise<Inspection> => {
        await this.clock.after(this.readMs, signal);
        const fact = this.links.get(link.reveal());
        const earlyMs = (fact?.issuedAt ?? 0) + this.storageBehindMs - this.clock.monotonic();
        if (earlyMs > 0) {
          throw new PublishableError('LinkNotYetValid', 'the link is early', {
            kind: 'wait',
            retryAfterMs: earlyMs,
          });
        }
        if (this.unreadable !== undefined) {
          const code = this.unreadable === 'expired-link' ? 'LinkExpired' : 'Scripted';
          const kind = this.unreadable === 'rejected' ? 'refused' : 'retry';
          throw new PublishableError(code, 'as the story wants', { kind });
        }
        if (fact === undefined || fact.expiresAt <= this.clock.monotonic()) {
          throw new PublishableError('LinkExpired', 'the link has expired', { kind: 'wait' });
        }
        return this.inspectionOf(fact.jobId);
      },
      probe: async (link) => {
        const fact = this.links.get(link.reveal());
        if (this.isRefusing) {
          return new PublishableError('LinkRefused', 'Storage s3.example.com returned 403');
        }
        const isValid = fact !== undefined && !fact.isBroken && fact.expiresAt > this.clock.monotonic();
        return isValid
          ? undefined
          : new PublishableError('LinkExpired', 'the link has expired', { kind: 'wait' });
      },
    };
  }

  inspectionOf(jobId: string): Inspection {
    const content = this.exported.get(jobId) ?? this.#find(jobId).content;
    const { pages, notes = [] } = content;
    return { digest: digestOf(content), pages, sizeBytes: pages * 1000, notes };
  }

  /** A job that another client started. */
  startElsewhere(domain: string): string {
    const jobId = this.#start(domain, `elsewhere-${this.#count}`);
    this.elsewhere.add(jobId);
    return jobId;
  }

  isValid(link: string): boolean {
    const fact = this.links.get(link);
    return fact !== undefined && !fact.isBroken && fact.expiresAt > this.clock.monotonic();
  }

  #admission(baseUrl: string, key: string, isByProject = false) {
    return (kind: Call['kind'], idempotencyKey: string | undefined): void =>
      this.#admit({ kind, key, idempotencyKey, baseUrl }, isByProject);
  }

  #admit(call: Omit<Call, 'at' | 'start'>, isByProject: boolean): void {
    const { kind, key } = call;
    const start = kind === 'start' ? this.readStart() : undefined;
    this.calls.push({ ...call, at: this.clock.monotonic(), start });
    if (key !== this.validKey) throw new ExportApiError('Unauthorized', 'wrong key', { status: 401 });
    if (this.failing !== undefined) {
      const at = this.clock.monotonic();
      const until = at + (this.retryAfterMs ?? 0);
      this.waitUntil = Math.max(this.waitUntil, until);
      const isForAll = this.failing === 'RateLimited' || this.failing === 'ServerError';
      const isForStarts = this.failing === 'RateLimited' && kind === 'start' && isByProject;
      if (isForStarts) this.startsAskedToWait = { at, until };
      else if (isForAll) this.askedToWait = { at, until };
      const cause = Object.assign(new Error('scripted'), { code: this.systemCode });
      throw new ExportApiError(this.failing, 'scripted', { retryAfterMs: this.retryAfterMs, cause });
    }
  }

  #say(jobId: string, state: string): void {
    const said = this.said.get(jobId) ?? new Set();
    this.said.set(jobId, said.add(state));
  }

  #outcomeOf({ ending, endsAt }: Job): 'unfinished' | 'completed' | 'failed' {
    return ending === 'never' || this.clock.monotonic() < endsAt ? 'unfinished' : ending;
  }

  #find(jobId: string): Job {
    const job = this.jobs.get(jobId);
    if (job === undefined) throw new ExportApiError('NotFound', 'no such job', { status: 404 });
    return job;
  }

  #start(domain: string, idempotencyKey: string): string {
    this.#count += 1;
    const id = `se_${this.#count}`;
    const content = this.contents.get(domain) ?? { name: `${domain}-0`, pages: 20 };
    this.exported.set(id, content);
    this.jobs.set(id, {
      id,
      domain,
      content,
      endsAt: this.clock.monotonic() + this.jobMs,
      ending: this.ending,
    });
    this.#starts.set(idempotencyKey, id);
    return id;
  }

  #issue(jobId: string) {
    const serverNow = this.clock.now() + this.skewMs;
    const cached = this.#cached.get(jobId);
    const isCached = this.isCachingLinks && cached !== undefined && this.isValid(cached);
    this.#count += 1;
    if (!isCached && this.lifetimeShrinks < 1)
      this.linkLifetimeMs = Math.max(600_000, this.linkLifetimeMs * this.lifetimeShrinks);
    const text = isCached ? cached : this.#sign(serverNow);
    if (!isCached) {
      const issuedAt = this.clock.monotonic();
      const isBroken = this.unusableLinks > 0;
      this.unusableLinks = Math.max(0, this.unusableLinks - 1);
      this.links.set(text, { jobId, issuedAt, expiresAt: issuedAt + this.linkLifetimeMs, isBroken });
      this.#cached.set(jobId, text);
    }
    this.issuedAt.set(text, this.clock.monotonic());
    const link = Link.parse(text);
    if (link === undefined) throw new Error('the fake made no link');
    const leftMs = (this.links.get(text)?.expiresAt ?? 0) - this.clock.monotonic();
    return {
      link,
      expiresAt: this.hidesExpiry ? undefined : serverNow + leftMs + this.overclaimMs,
      serverDate: this.isDated ? serverNow : undefined,
    };
  }

  #sign(serverNow: number): string {
    const url = `https://storage.test/b${this.#count}.tar.gz?X-Sig=${signature}${this.#count}`;
    if (!this.isSigning) return url;
    const signedAt = new Date(serverNow).toISOString().replaceAll(/[-:]|\.\d+/g, '');
    return `${url}&X-Amz-Date=${signedAt}&X-Amz-Expires=${Math.floor(this.linkLifetimeMs / 1000)}`;
  }
}

const digests = new Map<string, string>();

export function digestOf({ name }: Content): string {
  const digest = digests.get(name) ?? hash('sha256', name);
  digests.set(name, digest);
  return digest;
}
