// crds/README.md is the reference of the resource: every field, reason, cause and verdict has its place in it, with
// the very sentence that the operator says. A word that is nowhere in the code is wrong there too.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import * as reasons from '#operator/staticexport/reasons.ts';
import { specSchema } from '#operator/staticexport/schema.ts';
import { exportCauses, statusSchema, verdicts } from '#operator/staticexport/status-schema.ts';
import { structuralSchema } from '../../../../crds/generate.ts';

const page = readFileSync(new URL('../../../../crds/README.md', import.meta.url), 'utf8');

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly items?: Schema | undefined;
}

function fieldsOf(schema: Schema, path: string): readonly string[] {
  if (schema.items !== undefined) return fieldsOf(schema.items, `${path}[]`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, one]) => [
    `${path}.${name}`,
    ...fieldsOf(one, `${path}.${name}`),
  ]);
}

function jsonOf(schema: z.ZodType): Schema {
  const shape: z.ZodType<Schema> = z.lazy(() =>
    z.object({ properties: z.record(z.string(), shape).optional(), items: shape.optional() }),
  );
  return shape.parse(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' }));
}

/** Paths of the fields that `kubectl explain` would have nothing to say of. */
function unexplained(schema: unknown, path: string): readonly string[] {
  const { description, properties = {}, items } = explainable.parse(schema);
  return [
    ...(description === undefined || description === '' ? [path] : []),
    ...Object.entries(properties).flatMap(([name, one]) => unexplained(one, `${path}.${name}`)),
    ...(items === undefined ? [] : unexplained(items, `${path}[]`)),
  ];
}

const explainable = z.object({
  description: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
});

test('kubectl explain has a text for every field of spec and status', () => {
  assert.deepEqual(unexplained(structuralSchema(specSchema), '.spec'), []);
  assert.deepEqual(unexplained(structuralSchema(statusSchema), '.status'), []);
  const bare = structuralSchema(z.object({ list: z.array(z.object({ one: z.string() })) }));
  assert.deepEqual(unexplained(bare, ''), ['', '.list', '.list[]', '.list[].one']);
});

test('every field of the spec is named with its path', () => {
  const missing = fieldsOf(jsonOf(specSchema), '.spec').filter((field) => !page.includes(`\`${field}`));
  assert.deepEqual(missing, []);
});

test('every field of the status is named in its row', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| `.status.'));
  const missing = Object.entries(jsonOf(statusSchema).properties ?? {}).flatMap(([name, schema]) => {
    const row = rows.find((line) => line.includes(`\`.status.${name}\``));
    if (row === undefined) return [name];
    if (name === 'conditions' || name === 'history') return [];
    const inner = Object.keys(schema.properties ?? schema.items?.properties ?? {});
    return inner.filter((field) => !row.includes(`\`${field}\``)).map((field) => `${name}.${field}`);
  });
  assert.deepEqual(missing, []);
});

const byCondition = {
  Ready: reasons.readyReasons,
  Reconciling: reasons.reconcilingReasons,
  Stalled: reasons.stalledReasons,
  Exported: reasons.exportedReasons,
  LinkFresh: reasons.linkReasons,
  Mirrored: reasons.mirrorReasons,
  TargetsSynced: reasons.targetReasons,
} satisfies Record<reasons.ConditionType, Readonly<Record<string, string>>>;

for (const [type, sentences] of Object.entries(byCondition)) {
  test(`the reasons of ${type} are listed with their sentences, and no others`, () => {
    const [, section = ''] = page.split(`#### ${type}\n`);
    const [own = ''] = section.split('\n#### ');
    const listed = [...own.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, reason, text]) => [reason, text]);
    assert.deepEqual(listed, Object.entries(sentences));
  });
}

test('every cause and every verdict is named', () => {
  for (const word of [...exportCauses, ...verdicts]) assert.ok(page.includes(`\`${word}\``), word);
});

test('every example of a spec in the page is valid', () => {
  const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
    parseAllDocuments(block).map((document) => document.toJS()),
  );
  const specs = blocks.filter((block) => block.spec !== undefined).map(({ spec }) => spec);
  assert.ok(specs.length >= 2, `${specs.length} examples`);
  for (const spec of specs) assert.deepEqual(specSchema.safeParse(spec).error?.message, undefined);
});
