// Faults between the reconcile and its ports: a crash before or after any call, a lost answer, a refused call, a
// stale read. Wraps the ports without a change of the reconcile.

import { ExportApiError } from '#export-api/answers.ts';
import type { Bundles, ExportApiSource, Mirrors } from '#operator/loop/ports.ts';
import type { Cluster, ForeignObjects, ObjectKey } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { PublishableError, publishableCode, publishableFailure } from '#platform/wire/publishable-error.ts';
import type { Dice } from './dice.ts';
import type { FakeCluster } from './fake-cluster.ts';

/** The process crashes here. The driver starts a new one with an empty memory. */
export class Crash extends Error {}

export type Fault =
  | 'crash-before'
  | 'crash-after'
  | 'lost'
  | 'refused'
  /** The state before this one is read. */
  | 'stale'
  /** The oldest remembered state is read again. */
  | 'replayed'
  /** The read reports that the object does not exist. */
  | 'absent'
  /** Another process that believes it leads does a whole reconcile first. */
  | 'overtaken'
  | 'none';

export interface FaultPlan {
  /** What happens to this call; `name` is `cluster.writeStatus`, `api.startJob`, … */
  next(name: string): Fault;
  /** The other process. */
  rival?(): Promise<void>;
}

export const noFaults: FaultPlan = { next: () => 'none' };

export interface FaultLog {
  readonly name: string;
  readonly fault: Fault;
}

const interruptions = ['crash-before', 'crash-after', 'lost', 'refused'] as const;
const reads = ['cluster.readStaticExport', 'cluster.readSecret', 'cluster.readConfigMap'];
const writes = [
  'cluster.applySecret',
  'cluster.applyConfigMap',
  'cluster.editDocument',
  'cluster.writeStatus',
];
const ofObjects = ['objects.readForeign', 'objects.applyFields', 'objects.patchForeign'];
const ofCluster = [...interruptions, 'overtaken'] as const;
const ofReads = [...ofCluster, 'stale', 'replayed'] as const;

/** Every call of a port with its possible faults; an impossible fault is not counted. */
export const faultsOf: Readonly<Record<string, readonly Fault[]>> = {
  ...Object.fromEntries(reads.map((name) => [name, ofReads])),
  'cluster.readStaticExport': [...ofReads, 'absent'],
  ...Object.fromEntries([...writes, ...ofObjects].map((name) => [name, ofCluster])),
  'api.startJob': ofCluster,
  'api.readJob': ofCluster,
  'api.issueLink': ofCluster,
  'bundles.inspect': interruptions,
  'bundles.probe': ['crash-before', 'crash-after', 'lost'],
  'mirrors.copy': interruptions,
  'mirrors.verify': interruptions,
  'mirrors.look': interruptions,
};

const anywhere = ['crash-before', 'crash-after', 'lost', 'refused', 'stale'] as const;

/** Each call has a fault with the present probability, by default one of the five that scenarios use. */
export function randomFaults(
  dice: Dice,
  rate: () => number,
  log: FaultLog[],
  kindsOf: (name: string) => readonly Fault[] = () => anywhere,
): FaultPlan {
  return {
    next: (name) => {
      const probability = rate();
      if (!dice.isBelow(probability)) return 'none';
      const fault = dice.pick(kindsOf(name));
      log.push({ name, fault });
      return fault;
    },
  };
}

/** One fault, at the n-th call of the scenario; for "a crash before and after every call". */
export function faultAt(index: number, fault: Fault, seen: string[]): FaultPlan {
  return {
    next: (name) => {
      seen.push(name);
      return seen.length - 1 === index ? fault : 'none';
    },
  };
}

function through<T>(name: string, plan: FaultPlan, call: () => Promise<T>, refuse: () => Error): Promise<T> {
  const fault = plan.next(name);
  return fault === 'none' ? call() : meeting(fault, name, plan, call, refuse);
}

async function meeting<T>(
  fault: Fault,
  name: string,
  plan: FaultPlan,
  call: () => Promise<T>,
  refuse: () => Error,
): Promise<T> {
  if (fault === 'crash-before') throw new Crash(name);
  if (fault === 'refused') throw refuse();
  if (fault === 'overtaken') await plan.rival?.();
  const result = await call();
  if (fault === 'crash-after') throw new Crash(name);
  if (fault === 'lost') throw refuse();
  return result;
}

const clusterDown = (): Error => new ClusterError('Unavailable', 'scripted: no answer');
const apiDown = (): Error => new ExportApiError('NetworkError', 'scripted: no answer');

/** @param memory with the past states that stale reads return */
export function faultyCluster(
  cluster: Cluster,
  plan: FaultPlan,
  memory: Pick<FakeCluster, 'past' | 'pastSecrets' | 'pastConfigMaps'>,
): Cluster {
  const pass = <T>(name: string, call: () => Promise<T>): Promise<T> =>
    through(name, plan, call, clusterDown);
  /** A read that a cache or a lagging server may answer with a past state. */
  const read = <T>(
    name: string,
    past: readonly T[] | undefined,
    call: () => Promise<T | undefined>,
  ): Promise<T | undefined> => {
    const fault = plan.next(name);
    if (fault === 'none') return call();
    const seen = fault === 'stale' ? past?.at(-2) : fault === 'replayed' ? past?.at(0) : undefined;
    const isPast = seen !== undefined || fault === 'absent';
    const now = isPast ? async () => seen : call;
    return meeting(fault, name, plan, now, clusterDown);
  };
  return {
    readStaticExport: (key, signal) =>
      read('cluster.readStaticExport', memory.past.get(idOf(key)), () =>
        cluster.readStaticExport(key, signal),
      ),
    readSecret: (key, signal) =>
      read('cluster.readSecret', memory.pastSecrets.get(idOf(key)), () => cluster.readSecret(key, signal)),
    readConfigMap: (key, signal) =>
      read('cluster.readConfigMap', memory.pastConfigMaps.get(idOf(key)), () =>
        cluster.readConfigMap(key, signal),
      ),
    applySecret: (object, signal) => pass('cluster.applySecret', () => cluster.applySecret(object, signal)),
    applyConfigMap: (object, signal) =>
      pass('cluster.applyConfigMap', () => cluster.applyConfigMap(object, signal)),
    editDocument: (edit, signal) => pass('cluster.editDocument', () => cluster.editDocument(edit, signal)),
    writeStatus: (object, next, signal) =>
      pass('cluster.writeStatus', () => cluster.writeStatus(object, next, signal)),
  };
}

export function faultyObjects(objects: ForeignObjects, plan: FaultPlan): ForeignObjects {
  const pass = <T>(name: string, call: () => Promise<T>): Promise<T> =>
    through(name, plan, call, clusterDown);
  return {
    readForeign: (kind, key, signal) =>
      pass('objects.readForeign', () => objects.readForeign(kind, key, signal)),
    applyFields: (edit, signal) => pass('objects.applyFields', () => objects.applyFields(edit, signal)),
    patchForeign: (patch, signal) => pass('objects.patchForeign', () => objects.patchForeign(patch, signal)),
  };
}

const idOf = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`;

export function faultyApi(source: ExportApiSource, plan: FaultPlan): ExportApiSource {
  return {
    connect: (address, key) => {
      const api = source.connect(address, key);
      const pass = <T>(name: string, call: () => Promise<T>): Promise<T> =>
        through(name, plan, call, apiDown);
      return {
        startJob: (request, signal) => pass('api.startJob', () => api.startJob(request, signal)),
        readJob: (jobId, signal) => pass('api.readJob', () => api.readJob(jobId, signal)),
        issueLink: (request, signal) => pass('api.issueLink', () => api.issueLink(request, signal)),
      };
    },
  };
}

export function faultyBundles(bundles: Bundles, plan: FaultPlan): Bundles {
  return {
    inspect: async (link, signal) => {
      const fault = plan.next('bundles.inspect');
      // The reader is another thread; its crash does not end the process.
      if (fault === 'crash-before') throw new Error('the archive reader crashed');
      if (fault === 'refused') throw new PublishableError('Scripted', 'as the plan wants', { kind: 'retry' });
      if (fault === 'lost') return aborted(signal);
      const inspection = await bundles.inspect(link, signal);
      if (fault === 'crash-after') throw new Error('the archive reader crashed');
      return inspection;
    },
    probe: async (link, signal) => {
      const fault = plan.next('bundles.probe');
      if (fault === 'crash-before') throw new Crash('bundles.probe');
      if (fault === 'refused' || fault === 'lost') return undefined;
      const life = await bundles.probe(link, signal);
      if (fault === 'crash-after') throw new Crash('bundles.probe');
      return life;
    },
  };
}

/** Each call works in another thread; its crash does not end the process. */
export function faultyMirrors(mirrors: Mirrors, plan: FaultPlan): Mirrors {
  const pass = async <T>(name: string, signal: AbortSignal, call: () => Promise<T>): Promise<T> => {
    const fault = plan.next(name);
    if (fault === 'crash-before') throw new Error('the thread crashed');
    if (fault === 'refused') throw new PublishableError('Unreachable', 'The mirror does not answer.');
    if (fault === 'lost') return aborted(signal);
    const answer = await call();
    if (fault === 'crash-after') throw new Error('the thread crashed');
    return answer;
  };
  return {
    refuse: mirrors.refuse,
    copy: (link, order, signal, maxBytes) =>
      pass('mirrors.copy', signal, () => mirrors.copy(link, order, signal, maxBytes)).catch(
        (error: unknown) => {
          if (publishableCode(error) !== 'Unreachable') throw error;
          return { copy: { kind: 'failed' as const, failure: publishableFailure(error) } };
        },
      ),
    verify: (place, ref, digest, signal) =>
      pass('mirrors.verify', signal, () => mirrors.verify(place, ref, digest, signal)),
    look: (place, copy, retention, signal) =>
      pass('mirrors.look', signal, () => mirrors.look(place, copy, retention, signal)),
  };
}

/** Never answers; stops with the signal. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
