// From an object as the API server stores it to typed spec and status. Never throws: a spec written by an older
// client, or past validation, comes out as problems that name fields; a status field that makes no sense is
// forgotten, so that one bad field cannot take the rest of the memory with it.

import type { z } from 'zod';
import { longestHistory, type Spec, specSchema } from './schema.ts';
import { type Condition, conditionSchema, type Status, statusSchema } from './status-schema.ts';

/** Stands for a domain that cannot be read; no export is started for it (RFC 2606 §2). */
const unknownDomain = 'unreadable.invalid';

/** Everything the operator reads of the resource, with the raw status kept for what it does not know. */
export interface StaticExport {
  /** `undefined` when unreadable; `problems` then says what is wrong. */
  readonly spec: Spec | undefined;
  /** Field paths with what zod found wrong, never values. Empty when the spec is readable. */
  readonly problems: readonly string[];
  /**
   * What can be read of an unreadable spec, field by field: enough to keep a published link alive, and suspended,
   * so that nothing more is done on half a wish. `undefined` when the spec is readable, or says not even that.
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
    problems: spec.success ? [] : describeProblems(spec.error),
    remains: spec.success ? undefined : readRemains(object.spec),
    status: parseStatus(object.status),
  };
}

/** Where the link is issued and published must be known; whatever else cannot be read is left at its widest. */
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

function describeProblems(error: z.ZodError): readonly string[] {
  const problems = error.issues.map(({ path, code, message }) => {
    // A rule of ours has a sentence of ours; zod's own might quote what was found.
    const words = code === 'custom' ? message : code;
    return `spec${path.map((part) => `.${String(part)}`).join('')} (${words})`;
  });
  return [...new Set(problems)].slice(0, 8);
}

/** Reads each field alone if it must; what does not fit its schema is left out. */
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

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
