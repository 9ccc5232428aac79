// What the tests of src/loop share: a cluster and an export API that write each call into one list, and one narrow
// context for each part of a reconcile. Refuses: an answer or a fault that a test does not name.

import { formatPublishedBundle, type PublishedBundle } from '../../../src/bundle/published-bundle.ts';
import type { ExportApi, IssuedLink, JobReport, StartedJob } from '../../../src/export-api/answers.ts';
import type {
  ActionContext,
  ClusterContext,
  OperatorSettings,
  ReconcileContext,
} from '../../../src/loop/context.ts';
import { createMemory } from '../../../src/loop/memory.ts';
import {
  type Bundles,
  type ExportApiSource,
  type Mirrors,
  noGitTargets,
  noMirrors,
  noNotices,
} from '../../../src/loop/ports.ts';
import { silentLogger } from '../../../src/runtime/logger.ts';
import { outputLabels } from '../../../src/staticexport/names.ts';
import { parseStatus } from '../../../src/staticexport/parse.ts';
import type { Status } from '../../../src/staticexport/status-schema.ts';
import { planTarget } from '../../../src/targets/target-plan.ts';
import type {
  AppliedObject,
  Cluster,
  ConfigMapObject,
  DocumentEdit,
  EventNote,
  ObjectKey,
  ObjectMeta,
  SecretObject,
  StaticExportObject,
} from '../../../src/wire/cluster.ts';
import { ClusterError, type ClusterErrorCode } from '../../../src/wire/cluster-error.ts';
import { Link } from '../../../src/wire/link.ts';
import type { PublishableError } from '../../../src/wire/publishable-error.ts';
import { FakeObjects } from '../../simulation/fake-objects.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { published, publishedLink } from '../reconcile/cases/observations.ts';

export const resource: ObjectKey = { namespace: 'docs', name: 'site' };
export const outputName = 'site-bundle';
export const validKey = 'svc_valid';
export const spec = { domain: 'docs.example.com', api: { keySecretRef: { name: 'export-api' } } };

export function linkOf(name: string): Link {
  const link = Link.parse(`https://storage.example.com/${name}?signature=secret`);
  if (link === undefined) throw new Error('not a link');
  return link;
}

export const publishedBundle = {
  ...published,
  link: { url: linkOf('published.zip'), ...publishedLink },
} satisfies PublishedBundle;

export function metaOf(name: string, more: Partial<ObjectMeta> = {}): ObjectMeta {
  const nothing = { annotations: {}, labels: {}, ownerReferences: [] };
  return { namespace: 'docs', name, uid: `uid-of-${name}`, resourceVersion: '1', ...nothing, ...more };
}

/** Metadata of an output of this resource. */
export function ownedMeta(more: Partial<ObjectMeta> = {}): ObjectMeta {
  const owner = { apiVersion: 'staticexport.dev/v1alpha1', kind: 'StaticExport', name: 'site', uid: 'uid-1' };
  return metaOf(outputName, { labels: outputLabels('site'), ownerReferences: [owner], ...more });
}

export function exportObject(status: unknown = {}, more: Partial<ObjectMeta> = {}): StaticExportObject {
  return { metadata: metaOf('site', { uid: 'uid-1', generation: 1, ...more }), spec, status };
}

export function keySecretOf(data: Readonly<Record<string, Uint8Array>>): SecretObject {
  return { metadata: metaOf('export-api'), data };
}

/** The output Secret with a `bundle.json` and nothing else, which is a drift. */
export function outputSecretOf(bundle: PublishedBundle, metadata = ownedMeta()): SecretObject {
  return { metadata, data: { 'bundle.json': bytesOf(formatPublishedBundle(bundle)) } };
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** A hook may throw what the server answers, or change an object as another client would. */
type Hook = (call: string) => void;

export class RecordingCluster implements Cluster {
  object: StaticExportObject | undefined = exportObject();
  readonly secrets = new Map<string, SecretObject>();
  readonly configMaps = new Map<string, ConfigMapObject>();
  /** Every applied output, in order. */
  readonly applied: AppliedObject[] = [];
  /** Every stored status, in order. */
  readonly statuses: Status[] = [];
  before: Hook = () => {};
  /** Throws after the write was stored: the answer is lost. */
  after: Hook = () => {};
  readonly #calls: string[];
  #version = 100;

  constructor(calls: string[]) {
    this.#calls = calls;
    this.secrets.set('export-api', keySecretOf({ apiKey: bytesOf(validKey) }));
  }

  /** Every call of this name is refused from now on. */
  refuse(call: string, code: ClusterErrorCode): void {
    this.before = (made) => {
      if (made === call) throw new ClusterError(code, `${call}: ${code}`);
    };
  }

  async readStaticExport(): Promise<StaticExportObject | undefined> {
    return this.#answer('read StaticExport', () => this.object);
  }

  async readSecret({ name }: ObjectKey): Promise<SecretObject | undefined> {
    return this.#answer(`read Secret ${name}`, () => this.secrets.get(name));
  }

  async readConfigMap({ name }: ObjectKey): Promise<ConfigMapObject | undefined> {
    return this.#answer(`read ConfigMap ${name}`, () => this.configMaps.get(name));
  }

  async applySecret(object: AppliedObject): Promise<SecretObject> {
    const { name } = object.metadata;
    return this.#answer(`apply Secret ${name}`, () => {
      const texts = Object.entries(object.data).map(([key, text]) => [key, bytesOf(text)]);
      const stored = {
        metadata: this.#applied(object, this.secrets.get(name)?.metadata),
        data: Object.fromEntries(texts),
      };
      this.secrets.set(name, stored);
      return stored;
    });
  }

  async applyConfigMap(object: AppliedObject): Promise<void> {
    const { name } = object.metadata;
    return this.#answer(`apply ConfigMap ${name}`, () => {
      const metadata = this.#applied(object, this.configMaps.get(name)?.metadata);
      this.configMaps.set(name, { metadata, data: object.data });
    });
  }

  async editDocument({ kind, key }: DocumentEdit): Promise<void> {
    return this.#answer(`edit ${kind} ${key.name}`, () => {});
  }

  async writeStatus({ metadata }: StaticExportObject, next: object): Promise<StaticExportObject> {
    const status = parseStatus(next);
    return this.#answer(status.start === undefined ? 'write status' : 'write start record', () => {
      const { object } = this;
      if (object === undefined) throw new ClusterError('NotFound', 'no such object');
      refuseChanged(metadata.resourceVersion, object.metadata);
      this.statuses.push(status);
      return this.changeObject(() => ({ status: next }));
    });
  }

  /** Changes the resource as another client would. */
  changeObject(change: (object: StaticExportObject) => Partial<StaticExportObject>): StaticExportObject {
    const { object } = this;
    if (object === undefined) throw new Error('no object to change');
    const changed = { ...object, ...change(object) };
    this.object = { ...changed, metadata: { ...changed.metadata, resourceVersion: this.#nextVersion() } };
    return this.object;
  }

  #answer<T>(call: string, act: () => T): T {
    this.#calls.push(call);
    this.before(call);
    const result = act();
    this.after(call);
    return result;
  }

  #applied(object: AppliedObject, before: ObjectMeta | undefined): ObjectMeta {
    refuseChanged(object.readVersion, before);
    this.applied.push(object);
    return { ...metaOf(object.metadata.name), ...object.metadata, resourceVersion: this.#nextVersion() };
  }

  #nextVersion(): string {
    this.#version += 1;
    return String(this.#version);
  }
}

function refuseChanged(read: string | undefined, stored: ObjectMeta | undefined): void {
  if (read !== stored?.resourceVersion) throw new ClusterError('Conflict', 'the object has changed');
}

/** One request to the export API. */
export interface SentRequest {
  readonly baseUrl: string;
  readonly key: string;
  readonly domain?: string;
  readonly jobId?: string;
  readonly idempotencyKey?: string;
}

export class ScriptedExportApi implements ExportApiSource {
  /** The answers to come, in order; an error is thrown. */
  readonly starts: (StartedJob | Error)[] = [];
  readonly jobs: (JobReport | Error)[] = [];
  readonly links: (IssuedLink | Error)[] = [];
  readonly requests: SentRequest[] = [];
  before: Hook = () => {};
  readonly #calls: string[];

  constructor(calls: string[]) {
    this.#calls = calls;
  }

  connect(baseUrl: string, key: string): ExportApi {
    return {
      startJob: async (request) => this.#answer('start job', { baseUrl, key, ...request }, this.starts),
      readJob: async (jobId) => this.#answer('read job', { baseUrl, key, jobId }, this.jobs),
      issueLink: async (request) => this.#answer('issue link', { baseUrl, key, ...request }, this.links),
    };
  }

  #answer<T extends object>(call: string, request: SentRequest, answers: (T | Error)[]): T {
    this.#calls.push(call);
    this.requests.push(request);
    this.before(call);
    const answer = answers.shift();
    if (answer === undefined) throw new Error(`no answer is scripted for "${call}"`);
    if (answer instanceof Error) throw answer;
    return answer;
  }
}

export interface Ports {
  /** Every call to the cluster, the export API and the storage, and every event, in order. */
  readonly calls: string[];
  readonly cluster: RecordingCluster;
  readonly exportApi: ScriptedExportApi;
  /** The answers of the storage to the next probes; then nothing against the link. */
  readonly probes: (PublishableError | undefined)[];
  readonly events: EventNote[];
  readonly clock: ReturnType<typeof virtualClock>;
  readonly signal: AbortSignal;
  readonly stop: (reason: Error) => void;
  readonly ofCluster: ClusterContext;
  readonly ofAction: ActionContext;
  readonly ofReconcile: ReconcileContext;
}

const ownSettings: OperatorSettings = {
  operatorLease: 'operators/own',
  apiBaseUrl: 'https://api.example.com',
  allowedApiHosts: [],
  requestTimeoutMs: 30_000,
  inspectTimeoutMs: 600_000,
};

/** The ports of one process; every call to them is recorded. */
export function openPorts(settings: Partial<OperatorSettings> = {}, mirrors: Mirrors = noMirrors): Ports {
  const calls: string[] = [];
  const events: EventNote[] = [];
  const probes: (PublishableError | undefined)[] = [];
  const process = new AbortController();
  const { signal } = process;
  const clock = virtualClock();
  const cluster = new RecordingCluster(calls);
  const exportApi = new ScriptedExportApi(calls);
  const bundles: Bundles = {
    inspect: async () => {
      calls.push('inspect archive');
      return { digest: 'b'.repeat(64), pages: 20, sizeBytes: 2000 };
    },
    probe: async () => {
      calls.push('probe link');
      return probes.shift();
    },
  };
  let keys = 0;
  const random = {
    uuid: () => {
      keys += 1;
      return `key-${keys}`;
    },
    bytes: (count: number) => new Uint8Array(count),
    fraction: () => 0,
  };
  const ofCluster: ClusterContext = {
    cluster,
    clock,
    settings: { ...ownSettings, ...settings },
    memory: createMemory(signal),
  };
  const ofAction: ActionContext = { ...ofCluster, exportApi, bundles, mirrors, random, wake: () => {} };
  const record = (_object: StaticExportObject, note: EventNote): void => {
    events.push(note);
    calls.push(`event ${note.reason}`);
  };
  const ofReconcile: ReconcileContext = {
    ...ofAction,
    planner: { plan: async (_namespace, task) => planTarget(task) },
    objects: new FakeObjects(),
    git: noGitTargets,
    events: { record },
    notices: noNotices,
    logger: silentLogger,
    isKnown: () => false,
  };
  const stop = (reason: Error): void => process.abort(reason);
  return { calls, cluster, exportApi, probes, events, clock, signal, stop, ofCluster, ofAction, ofReconcile };
}
