// What the checks judge: facts of the program, of the cluster and of its StaticExports, as they were read. Owns types only.
// A part that could not be read says why.

import type { StaticExportObject } from '#platform/wire/cluster.ts';
import type { Lease, OperatorsReading } from '../cluster/operators.ts';
import type { Reading } from '../cluster/reading.ts';
import type { Surroundings } from '../cluster/related-objects.ts';
import type { ReviewedPermission } from './permissions.ts';

export interface ProgramFacts {
  readonly version: string;
  readonly node: string;
}

/** The stored CustomResourceDefinition. */
export interface DefinitionFacts {
  readonly isEstablished: boolean;
  /** Versions that are served, such as `v1alpha1`. */
  readonly served: readonly string[];
  /** Paths of the version that this program uses; see definition-fields.ts. */
  readonly fields: ReadonlySet<string>;
  /** The Helm release that manages it. */
  readonly release: string | undefined;
}

export interface LeaseFacts {
  /** `<namespace>/<name>` */
  readonly id: string;
  readonly lease: Reading<Lease | undefined>;
  /** Epoch ms, by the clock of `now`: a lease ages while other facts are read. */
  readonly readAt: number;
}

export interface ClusterFacts {
  readonly program: ProgramFacts;
  /** Epoch ms, by the clock of the Kubernetes API server where it could be read. */
  readonly now: number;
  /** Its version, such as `v1.35.4`. */
  readonly server: Reading<string>;
  /** The user that the Kubernetes API server sees. */
  readonly user: string | undefined;
  /** `undefined` within: there is none. */
  readonly definition: Reading<DefinitionFacts | undefined>;
  readonly operators: OperatorsReading;
  /** Those of the operators, and those that statuses name. */
  readonly leases: readonly LeaseFacts[];
  readonly permissions: readonly ReviewedPermission[];
  /** `<namespace>/<name>` of the StaticExport that the user named. */
  readonly named: string | undefined;
  readonly objects: Reading<readonly StaticExportObject[]>;
  readonly exports: readonly Surroundings[];
}
