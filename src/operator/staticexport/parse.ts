// Parses an object from the Kubernetes API server into typed spec and status. Never throws. If an older client or a
// bypassed validation left an invalid spec, problems name its fields. An invalid status field is dropped, so that
// one bad field does not cost the rest of the status.

import { isRecord } from '#platform/wire/json-text.ts';
import { longestHistory, type Spec, specSchema } from './schema.ts';
import { describeProblems } from './spec-problems.ts';
import { type Condition, conditionSchema, type Status, statusSchema } from './status-schema.ts';

/** Replaces an unreadable domain. No export starts for it (RFC 2606 §2). */
const unknownDomain = 'unreadable.invalid';

/** Everything that the operator reads of the resource, and the raw status, which keeps unknown fields. */
export interface StaticExport {
  /** `undefined` when unreadable; `problems` then lists what is wrong. */
  readonly spec: Spec | undefined;
  /** Field paths with what is expected there, never values. Empty when the spec is readable. */
  readonly problems: readonly string[];
  /**
   * The readable fields of an unreadable spec: enough to keep a published link valid. It is suspended, so that half
   * a spec causes no other action. `undefined` when the spec is readable, or lacks even these fields.
   */
  readonly remains: Spec | undefined;
  readonly status: Status;
}

/** @param object anything with `spec` and `status`; other shapes read as an empty spec with problems */
export function parseStaticExport(object: {
  readonly spec: unknown;
  readonly status: unknown;
}): StaticExport {
  const spec = specSchema.safeParse(object.spec);
  return {
    spec: spec.success ? spec.data : undefined,
    problems: spec.success ? [] : describeProblems(spec.error, object.spec),
    remains: spec.success ? undefined : readRemains(object.spec),
    status: parseStatus(object.status),
  };
}

/**
 * The fields that say where the link is issued and published are required. Any other unreadable field gets its
 * widest value.
 */
function readRemains(raw: unknown): Spec | undefined {
  if (!isRecord(raw)) return undefined;
  const bad: string[] = [];
  const fields = Object.entries(specSchema.shape).flatMap(([name, schema]): readonly [string, unknown][] => {
    const read = schema.safeParse(raw[name]);
    if (!read.success) bad.push(name);
    return read.success && read.data !== undefined ? [[name, read.data]] : [];
  });
  if (bad.includes('api') || bad.includes('output')) return undefined;
  const remains = specSchema.safeParse({
    ...Object.fromEntries(fields),
    ...(bad.includes('domain') && { domain: unknownDomain }),
    ...(bad.includes('historyLimit') && { historyLimit: longestHistory }),
    suspend: true,
  });
  return remains.success ? remains.data : undefined;
}

/** Reads each field alone if necessary, and drops a field that does not match its schema. */
export function parseStatus(raw: unknown): Status {
  if (!isRecord(raw)) return {};
  const read = statusSchema.safeParse(raw);
  return read.success ? read.data : readFields(raw);
}

function readFields(raw: Readonly<Record<string, unknown>>): Status {
  const fields = Object.entries(statusSchema.shape).flatMap(
    ([name, schema]): readonly [string, unknown][] => {
      if (name === 'conditions') return [[name, parseConditions(raw[name])]];
      const read = schema.safeParse(raw[name]);
      return read.success && read.data !== undefined ? [[name, read.data]] : [];
    },
  );
  const whole = statusSchema.safeParse(Object.fromEntries(fields));
  return whole.success ? whole.data : {};
}

function parseConditions(raw: unknown): readonly Condition[] {
  if (!Array.isArray(raw)) return [];
  return raw.slice(0, 32).flatMap((one) => {
    const read = conditionSchema.safeParse(one);
    return read.success ? [read.data] : [];
  });
}
