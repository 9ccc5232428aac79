// Replaces `src/operator/staticexport/parse.ts`: specs and statuses of the fake cluster never change in place, so each is
// parsed once. Values other than objects are parsed every time.

import { isSameStatus } from '#operator/reconcile/status/status.ts';
import {
  parseStatus as readStatus,
  parseStaticExport as readWhole,
  type StaticExport,
} from '#operator/staticexport/parse.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
import { byIdentity, frozen } from './memory.ts';

export type { StaticExport } from '#operator/staticexport/parse.ts';

/** A value that equals its parsed form is kept, so unchanged fields keep their identity. */
const statusOf = byIdentity((raw: object): Status => {
  const read = readStatus(raw);
  return frozen(Object.isFrozen(raw) && isSameStatus(raw, read) ? raw : read);
});
const specOf = byIdentity((spec: object) => {
  const { status: _status, ...read } = readWhole({ spec, status: undefined });
  return frozen(read);
});
/** The same object while spec and status are the same. */
const wholes = byIdentity((spec: object) =>
  byIdentity((status: object): StaticExport => frozen({ ...specOf(spec), status: statusOf(status) })),
);

export function parseStatus(raw: unknown): Status {
  return isObject(raw) ? statusOf(raw) : readStatus(raw);
}

export function parseStaticExport(object: {
  readonly spec: unknown;
  readonly status: unknown;
}): StaticExport {
  const { spec, status } = object;
  return isObject(spec) && isObject(status) ? wholes(spec)(status) : readWhole(object);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
