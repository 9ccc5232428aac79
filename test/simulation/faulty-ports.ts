// The ports of a simulation under a plan of faults, made once for each plan, and the log that it writes to.
// The plans own the faults.

import type { ReconcileContext } from '#operator/loop/context.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import type { FakeCluster } from './fake-cluster.ts';
import type { FakeMirror } from './fake-mirror.ts';
import type { FakeVendor } from './fake-vendor.ts';
import {
  type FaultPlan,
  faultyApi,
  faultyBundles,
  faultyCluster,
  faultyMirrors,
  faultyObjects,
} from './faults.ts';

type Ports = Pick<ReconcileContext, 'cluster' | 'objects' | 'exportApi' | 'bundles' | 'mirrors'>;

export class FaultyPorts {
  readonly #cluster: FakeCluster;
  readonly #vendor: FakeVendor;
  readonly #mirror: FakeMirror;
  readonly #rival: () => Promise<void>;
  #last: { readonly plan: FaultPlan; readonly ports: Ports } | undefined;

  /** @param rival the other process, if a plan has one */
  constructor(cluster: FakeCluster, vendor: FakeVendor, mirror: FakeMirror, rival: () => Promise<void>) {
    this.#cluster = cluster;
    this.#vendor = vendor;
    this.#mirror = mirror;
    this.#rival = rival;
  }

  under(plan: FaultPlan): Ports {
    if (this.#last?.plan === plan) return this.#last.ports;
    const faults: FaultPlan = { next: (name) => plan.next(name), rival: this.#rival };
    const ports = {
      cluster: faultyCluster(this.#cluster, faults, this.#cluster),
      objects: faultyObjects(this.#cluster.objects, faults),
      exportApi: faultyApi(this.#vendor, faults),
      bundles: faultyBundles(this.#vendor.bundles(), faults),
      mirrors: faultyMirrors(this.#mirror.ports(), faults),
    };
    this.#last = { plan, ports };
    return ports;
  }
}

export function loggerInto(lines: string[]): Logger {
  const write = (fields: object, message: string): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
  return logger;
}
