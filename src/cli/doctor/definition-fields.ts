// The fields of the custom resource as this program knows them, and as a stored CustomResourceDefinition has them. A CRD
// has no version of its own; its fields say whether it is older or newer. Pure.

import * as z from 'zod';
import { specSchema } from '#operator/staticexport/schema.ts';
import { statusSchema } from '#operator/staticexport/status-schema.ts';
import { isRecord } from '#platform/wire/json-text.ts';

export interface FieldDifference {
  /** Known to this program and not to the CRD: the Kubernetes API server drops them. */
  readonly missing: readonly string[];
  /** Known to the CRD alone. */
  readonly unknown: readonly string[];
}

let known: ReadonlySet<string> | undefined;

/** Paths and values of enums of this program: `spec.targets[].type=Values`. They do not change while it runs. */
export function ownFields(): ReadonlySet<string> {
  known ??= readOwnFields();
  return known;
}

function readOwnFields(): ReadonlySet<string> {
  const json = (schema: z.ZodType): unknown => z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' });
  return fieldsOf({ properties: { spec: json(specSchema), status: json(statusSchema) } });
}

/** @param schema OpenAPI v3, of the object as a whole; only `spec` and `status` are read */
export function fieldsOf(schema: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (node: unknown, path: string): void => {
    if (!isRecord(node)) return;
    if (path !== '') found.add(path);
    const { properties, items } = node;
    for (const value of Array.isArray(node['enum']) ? node['enum'] : [])
      found.add(`${path}=${String(value)}`);
    for (const [name, child] of Object.entries(isRecord(properties) ? properties : {})) {
      if (path !== '' || name === 'spec' || name === 'status')
        visit(child, path === '' ? name : `${path}.${name}`);
    }
    visit(items, `${path}[]`);
  };
  visit(schema, '');
  return found;
}

export function compareFields(own: ReadonlySet<string>, stored: ReadonlySet<string>): FieldDifference {
  return { missing: [...own.difference(stored)].sort(), unknown: [...stored.difference(own)].sort() };
}
