// What the charts hold of their own values beside values.yaml: files/defaults.yaml, with which a template completes values
// that are missing, and a schema that admits `null` for each value, and for `export` every field of a StaticExport. All
// follow from values.yaml, values.schema.json and the resource's schema, so that a new value needs no line of its own. A
// value whose comment explains `null` keeps it.

import { stringify } from 'yaml';
import { z } from 'zod';

/** A key of values.yaml. */
export interface ValuesEntry {
  readonly name: string;
  /** Its comment. */
  readonly words: string;
  readonly value: unknown;
  /** Of a section. */
  readonly children: readonly ValuesEntry[] | undefined;
}

const schemaShape = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  minItems: z.number().optional(),
  required: z.array(z.string()).default([]),
  $ref: z.string().optional(),
});
type Schema = Readonly<Record<string, unknown>>;
const objectOf = (value: unknown): Schema => z.record(z.string(), z.unknown()).catch({}).parse(value);

/** For each value two things: what it is in a section that is missing, and what it is where only the value is missing. */
export function defaultsText(entries: readonly ValuesEntry[], schema: unknown): string {
  const head =
    '# Generated from values.yaml by "npm run generate". Each list: the value in a missing section, and a missing value.\n';
  const flowing = { collectionStyle: 'flow' as const, lineWidth: 0 };
  const lines = (group: readonly ValuesEntry[], at: Schema, indent: string): readonly string[] =>
    group.flatMap(({ name, words, value, children }) => {
      const own = objectOf(objectOf(at['properties'])[name]);
      if (children !== undefined) return [`${indent}${name}:`, ...lines(children, own, `${indent}  `)];
      const pair = [value ?? null, missingValue(words, value, own)];
      return [`${indent}${name}: ${stringify(pair, flowing).trim()}`];
    });
  return `${head}${lines(entries, objectOf(schema), '').join('\n')}\n`;
}

/** An empty list or map, because `null` is the usual way to remove a default one; of other values the default. */
function missingValue(words: string, value: unknown, schema: Schema): unknown {
  if (words.includes('`null`')) return null;
  if (Array.isArray(value)) return schemaShape.parse(schema).minItems === undefined ? [] : value;
  if (typeof value === 'object' && value !== null) return {};
  return value ?? null;
}

/** The schema, with `null` for each value that is not required. Items of lists stay, because helm removes none. */
export function admitNull(schema: unknown): unknown {
  const root = objectOf(schema);
  const items = new Set(JSON.stringify(root).match(/(?<="items":\{"\$ref":"#\/definitions\/)\w+/g));
  const definitions = Object.entries(objectOf(root['definitions'])).map(([name, definition]) => [
    name,
    items.has(name) ? admitBelow(definition) : admitHere(definition),
  ]);
  const isWithout = root['definitions'] === undefined;
  return { ...admitBelow(root), ...(isWithout ? {} : { definitions: Object.fromEntries(definitions) }) };
}

/** Values of `export` that are no fields of the resource's spec. */
const besideSpec = ['create', 'name', 'labels', 'annotations'];

/** The schema, whose `export` has every field of the resource and no other. What it says of a field stays. */
export function admitSpec(schema: unknown, spec: unknown): unknown {
  const root = objectOf(schema);
  const sections = objectOf(root['properties']);
  if (sections['export'] === undefined) return schema;
  return { ...root, properties: { ...sections, export: withFieldsOf(sections['export'], spec, besideSpec) } };
}

function withFieldsOf(section: unknown, spec: unknown, others: readonly string[] = []): Schema {
  const found = objectOf(section);
  const fields = Object.entries(objectOf(objectOf(spec)['properties']));
  if (fields.length === 0) return found;
  const held = objectOf(found['properties']);
  const properties = [
    ...others.map((name) => [name, held[name]]),
    ...fields.map(([name, field]) => [name, withFieldsOf(held[name], field)]),
  ];
  return {
    type: 'object',
    additionalProperties: false,
    ...found,
    properties: Object.fromEntries(properties),
  };
}

function admitHere(schema: unknown): Schema {
  const { type, enum: choices } = schemaShape.parse(schema);
  const types = type === undefined ? [] : [type].flat();
  return {
    ...admitBelow(schema),
    ...(types.length === 0 || types.includes('null') ? {} : { type: [...types, 'null'] }),
    ...(choices === undefined || choices.includes(null) ? {} : { enum: [...choices, null] }),
  };
}

function admitBelow(schema: unknown): Schema {
  const found = objectOf(schema);
  const { required } = schemaShape.parse(schema);
  const properties = Object.entries(objectOf(found['properties'])).map(([name, own]) => [
    name,
    required.includes(name) ? admitBelow(own) : admitHere(own),
  ]);
  const { additionalProperties: more, items } = found;
  return {
    ...found,
    ...(found['properties'] === undefined ? {} : { properties: Object.fromEntries(properties) }),
    ...(typeof more === 'object' ? { additionalProperties: admitHere(more) } : {}),
    ...(typeof items === 'object' ? { items: admitBelow(items) } : {}),
  };
}
