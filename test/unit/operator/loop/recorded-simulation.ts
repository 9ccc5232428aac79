// What the tests of src/operator/loop share: a simulation that records each call of its ports, and that can answer one otherwise.
// Refuses: an answer of its own. The simulation's cluster, export API and storage answer.

import type { ReconcileContext } from '#operator/loop/context.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { ClusterError, type ClusterErrorCode } from '#platform/wire/cluster-error.ts';
import { Link } from '#platform/wire/link.ts';
import { Simulation, type SimulationOptions } from '../../../simulation/simulation.ts';

export interface Recorded {
  readonly simulation: Simulation;
  /** Each call to the cluster, the export API and the storage with its object's name, and each event, in order. */
  readonly calls: string[];
  /** Runs before a call, and may throw what the server answers. */
  before: (call: string) => void;
  /** Throws after the write was stored: the answer is lost. */
  after: (call: string) => void;
  readonly context: ReconcileContext;
  readonly signal: AbortSignal;
  readonly stop: (reason: Error) => void;
  /** Every call of this name is refused from now on. */
  readonly refuse: (call: string, code: ClusterErrorCode) => void;
}

export function openRecorded(options: SimulationOptions = {}): Recorded {
  const calls: string[] = [];
  const process = new AbortController();
  const record = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return async (...given: readonly unknown[]): Promise<unknown> => {
          const call = [String(name), ...objectNameOf(given[0])].join(' ');
          calls.push(call);
          recorded.before(call);
          const answer: unknown = await Reflect.apply(method, target, given);
          recorded.after(call);
          return answer;
        };
      },
    });
  const bend = (context: ReconcileContext): ReconcileContext => ({
    ...context,
    cluster: record(context.cluster),
    bundles: record(context.bundles),
    exportApi: { connect: (address, key) => record(context.exportApi.connect(address, key)) },
    events: {
      record: (object, note) => {
        calls.push(`event ${note.reason}`);
        context.events.record(object, note);
      },
    },
  });
  const simulation = new Simulation({ bend, ...options });
  const recorded: Recorded = {
    simulation,
    calls,
    before: () => {},
    after: () => {},
    get context() {
      return simulation.context();
    },
    signal: process.signal,
    stop: (reason) => process.abort(reason),
    refuse: (call, code) => {
      recorded.before = (made) => {
        if (made === call) throw new ClusterError(code, `${call}: ${code}`);
      };
    },
  };
  return recorded;
}

interface Named {
  readonly name?: unknown;
  readonly metadata?: Named;
  readonly key?: Named;
}

/** A key, an object or an edit has a name; a request to the export API has none. */
function objectNameOf(given: unknown): readonly string[] {
  if (typeof given !== 'object' || given === null) return [];
  const { name, metadata, key }: Named = given;
  const found = name ?? metadata?.name ?? key?.name;
  return typeof found === 'string' ? [found] : [];
}

/** The simulation's resource with this status, as another client would have stored it. */
export function store(simulation: Simulation, status: object): StaticExportObject {
  const object = simulation.object();
  if (object === undefined) throw new Error('no resource to change');
  const stored = { ...object, status };
  simulation.cluster.exports.set('docs/site', stored);
  return stored;
}

export function linkOf(name: string): Link {
  const link = Link.parse(`https://storage.example.com/${name}?signature=secret`);
  if (link === undefined) throw new Error('not a link');
  return link;
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
