// Statuses as versions of this operator wrote them on a real API server, kept for good: every later version reads
// all of each. A file is never changed; a version that writes something new adds one.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import { parseStatus } from '#operator/staticexport/parse.ts';
import { statusSchema } from '#operator/staticexport/status-schema.ts';
import { words } from '../../support/words.ts';

const folder = join(import.meta.dirname, '../../fixtures/status');
const files = readdirSync(folder);

const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));

for (const file of files) {
  test(`${file} is read without loss`, () => {
    const stored = read(file);
    assert.deepEqual(parseStatus(stored), stored);
  });
}

/** `failures.link.count`, `targets[].reason`: every field that a value has, or that a schema knows. */
function* fieldsOf(value: unknown, path = ''): Generator<string> {
  if (Array.isArray(value)) for (const one of value) yield* fieldsOf(one, `${path}[]`);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      const field = path === '' ? name : `${path}.${name}`;
      yield field;
      yield* fieldsOf(inner, field);
    }
  }
}

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>> | undefined;
  readonly items?: Shape | undefined;
}

const shapeSchema: z.ZodType<Shape> = z.lazy(() =>
  z.object({ properties: z.record(z.string(), shapeSchema).optional(), items: shapeSchema.optional() }),
);
const schema = shapeSchema.parse(z.toJSONSchema(statusSchema, { target: 'openapi-3.0' }));

function* fieldsOfSchema({ properties = {}, items }: Shape, path = ''): Generator<string> {
  if (items !== undefined) yield* fieldsOfSchema(items, `${path}[]`);
  for (const [name, inner] of Object.entries(properties)) {
    const field = path === '' ? name : `${path}.${name}`;
    yield field;
    yield* fieldsOfSchema(inner, field);
  }
}

/** Fields that need a rejected candidate, a requested link, a contested target, a target of 0.2.0, a git target, an outage of minutes, a forbidden call, or a second refusal of the same key. */
const seldom: readonly string[] = words(`
  active.copyLossTime candidate.ref failures.*.refreshRequest
  failures.*.request failures.*.said failures.*.secretVersion failures.mirror failures.retention
  active.projectId history[].projectId job.projectId
  active.basePath candidate.basePath history[].basePath job.basePath
  candidate.repair candidate.repairRevision
  hook hook.firstTime hook.lastTime hook.token lastHandledHook lastHandledRefresh
  refusedKey.request refusedKey.requestId refusedKey.said rejected rejected.generation rejected.inputHash
  rejected.request rejected.versions rejected.versions[].digest rejected.versions[].rejectionTime
  failures.start rejected.versions[].version start.hook startTimes targets[].changes targets[].changes[].key
  targets[].changes[].value targets[].contestedGeneration targets[].failures targets[].heldVersion
  targets[].lastTransitionTime targets[].linkIssueTime targets[].ref targets[].retryTime
  targets[].revertTimes targets[].type targets[].writeTime targets[].written targets[].written.branch
  targets[].written.keyPath targets[].written.keys unlistedCopies unlistedCopies[].digest
  unlistedCopies[].firstSeenTime
`);
/** All operations have one shape. */
const withoutOperation = (field: string): string => field.replace(/^failures\.\w+\./, 'failures.*.');

test('the fixtures hold every field of an ordinary status', () => {
  const kept = new Set(files.flatMap((file) => [...fieldsOf(read(file))].map(withoutOperation)));
  const lacking = new Set([...fieldsOfSchema(schema)].map(withoutOperation)).difference(kept);
  assert.deepEqual([...lacking].sort(), seldom.toSorted());
});
