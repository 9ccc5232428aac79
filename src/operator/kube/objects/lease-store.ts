// One Lease, read and written with its resourceVersion as a precondition. Owns its wire format: times with
// microseconds (the API server refuses three digits), an empty holder for a released one.
// Refuses: judging which replica leads. Times of other replicas stay text, to be compared and never to be parsed.

import type { ObjectKey } from '#platform/wire/cluster.ts';
import { numberAt, recordAt, textAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { leases } from '../transport/resource-path.ts';
import { type Call, callUnlessAbsent, type Transport } from '../transport/transport.ts';
import { readMeta } from './stored-object.ts';

export interface LeaseRecord {
  /** Empty when released. */
  readonly holder: string;
  readonly durationMs: number;
  /** Epoch ms of the local clock, for people to read. */
  readonly acquiredAt: number;
  readonly renewedAt: number;
  readonly transitions: number;
}

/** A lease as stored. `fingerprint` changes with every renewal. */
export interface StoredLease extends Omit<LeaseRecord, 'renewedAt'> {
  readonly fingerprint: string;
  readonly resourceVersion: string;
}

export interface LeaseStore {
  /** @returns `undefined` when there is none */
  read(signal: AbortSignal): Promise<StoredLease | undefined>;
  /** @throws {ClusterError} `AlreadyExists` */
  create(record: LeaseRecord, signal: AbortSignal): Promise<StoredLease>;
  /** @throws {ClusterError} `Conflict` */
  replace(resourceVersion: string, record: LeaseRecord, signal: AbortSignal): Promise<StoredLease>;
}

/** @param timeoutMs of one request; shorter than the renew deadline, so that a lost answer leaves time for a retry */
export function createLeaseStore(transport: Transport, key: ObjectKey, timeoutMs: number): LeaseStore {
  const address = { resource: leases, ...key };
  const body = (record: LeaseRecord, resourceVersion?: string) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...key, ...(resourceVersion !== undefined && { resourceVersion }) },
    spec: {
      holderIdentity: record.holder,
      leaseDurationSeconds: Math.max(1, Math.round(record.durationMs / 1000)),
      acquireTime: formatMicroTime(record.acquiredAt),
      renewTime: formatMicroTime(record.renewedAt),
      leaseTransitions: record.transitions,
    },
  });
  const write = async (call: Call, signal: AbortSignal): Promise<StoredLease> =>
    readLease(await transport.call({ ...call, timeoutMs }, signal));
  return {
    read: async (signal) => {
      const call = { verb: 'get', method: 'GET', address, timeoutMs } as const;
      const lease = await callUnlessAbsent(transport, call, signal);
      return lease === undefined ? undefined : readLease(lease);
    },
    create: (record, signal) => {
      const collection = { resource: leases, namespace: key.namespace };
      return write({ verb: 'create', method: 'POST', address: collection, body: body(record) }, signal);
    },
    replace: (resourceVersion, record, signal) =>
      write({ verb: 'update', method: 'PUT', address, body: body(record, resourceVersion) }, signal),
  };
}

function readLease(object: unknown): StoredLease {
  const spec = isRecord(object) ? recordAt(object, 'spec') : {};
  const { resourceVersion } = readMeta(object);
  const holder = textAt(spec, 'holderIdentity') ?? '';
  return {
    holder,
    durationMs: (numberAt(spec, 'leaseDurationSeconds') ?? 15) * 1000,
    transitions: numberAt(spec, 'leaseTransitions') ?? 0,
    acquiredAt: Date.parse(textAt(spec, 'acquireTime') ?? ''),
    fingerprint: `${holder} ${textAt(spec, 'renewTime') ?? ''} ${resourceVersion}`,
    resourceVersion,
  };
}

/** MicroTime: RFC 3339 with exactly six digits of a second. */
export function formatMicroTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '000Z');
}
