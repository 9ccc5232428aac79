// Fields of a manifest that no schema has, each with the field that was probably meant. A Kubernetes API server drops such
// fields after a warning. Pure. Refuses: a value; only names are compared and shown.

import * as z from 'zod';
import { nearest } from '#platform/runtime/flags/nearest.ts';
import { isRecord } from '#platform/wire/json-text.ts';

/** No field is longer. A comparison of long names takes time. */
const longestName = 64;

interface UnknownField {
  readonly path: string;
  /** Every field that this map may have. */
  readonly known: readonly string[];
}

/** @param path of the map in the manifest; empty at its top */
export function fieldsBeyond(given: object, known: readonly string[], path: string): readonly UnknownField[] {
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => ({ path: path === '' ? name : `${path}.${name}`, known }));
}

/** The same at every depth, also where a value of the wrong type or a missing field makes the whole not valid. */
export function fieldsBeyondSchema(given: unknown, schema: unknown, path: string): readonly UnknownField[] {
  if (schema instanceof z.ZodOptional) return fieldsBeyondSchema(given, schema.unwrap(), path);
  if (schema instanceof z.ZodArray)
    return Array.isArray(given)
      ? given.flatMap((one, at) => fieldsBeyondSchema(one, schema.element, `${path}[${at}]`))
      : [];
  if (!(schema instanceof z.ZodObject) || !isRecord(given)) return [];
  const shape: Readonly<Record<string, unknown>> = schema.shape;
  const known = Object.keys(shape);
  return [
    ...fieldsBeyond(given, known, path),
    ...known.flatMap((name) => fieldsBeyondSchema(given[name], shape[name], `${path}.${name}`)),
  ];
}

/** @returns `spec.shedule (unknown field; did you mean schedule?)` */
export function describeUnknownField({ path, known }: UnknownField): string {
  const name = path.slice(path.lastIndexOf('.') + 1);
  const most = Math.max(2, name.length / 3);
  const meant = name.length > longestName ? undefined : nearest(name, known, most);
  return `${path} (unknown field${meant === undefined ? '' : `; did you mean ${meant}?`})`;
}
