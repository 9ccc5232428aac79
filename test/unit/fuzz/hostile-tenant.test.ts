// The hostile tenant's generators: a seed gives the same again, everything is bounded, and no address leads out of the
// loopback network.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diceOf } from '../../fuzz/mutation.ts';
import { type AnswerContext, stages } from '../../fuzz/tenant/answer.ts';
import { listAnswerKinds, makeAnswer } from '../../fuzz/tenant/answers.ts';
import type { TenantContext } from '../../fuzz/tenant/context.ts';
import { listWorstDocuments, makeDocument } from '../../fuzz/tenant/documents.ts';
import { makeInput } from '../../fuzz/tenant/inputs.ts';
import type { TenantInput } from '../../fuzz/tenant/objects.ts';
import { listWorstInputs } from '../../fuzz/tenant/worst-inputs.ts';
import { goodKey, signature } from '../../integration/operator/scripted-vendor.ts';

const context: TenantContext = {
  namespace: 'hostile',
  hostileUrl: 'http://127.0.0.3:8001/api',
  neighbourUrl: 'http://127.0.0.2:8002/api',
  trapUrl: 'http://127.0.0.4:8003/api',
  gitOrigin: 'https://127.0.0.3:8004',
  registry: '127.0.0.3:8005',
  servedNamespace: 'served',
  servedOutput: 'first-bundle',
};
const answerContext: AnswerContext = {
  jobId: 'j1',
  key: 'svc_key',
  filesUrl: 'http://127.0.0.3:8001/files',
  trapUrl: 'http://127.0.0.4:8003/trap',
  now: Date.UTC(2026, 0, 1),
};
const inputs = (count: number): readonly TenantInput[] =>
  Array.from({ length: count }, (_, at) => makeInput(at, diceOf(at), context));

test('a number and its dice give the same input again', () => {
  assert.deepEqual(inputs(100), inputs(100));
});

test('each known shape of document is as long as the operator reads, and no longer', () => {
  const chars = listWorstDocuments().map(({ text }) => text.length);
  assert.ok(chars.every((count) => count <= 256 * 1024));
  assert.ok(chars.filter((count) => count > 200_000).length > 30);
});

test('some documents by dice are longer than what the operator reads, and all fit into an object', () => {
  const chars = Array.from({ length: 300 }, (_, at) => makeDocument(diceOf(at)).text.length);
  assert.ok(chars.some((count) => count > 256 * 1024));
  assert.ok(chars.every((count) => count < 1_000_000));
});

test('a long campaign has no more objects than a short one', () => {
  const names = (count: number): number =>
    new Set(
      inputs(count).flatMap(({ writes }) =>
        writes.map(({ object }) => `${object.kind}/${object.metadata.name}`),
      ),
    ).size;
  assert.ok(names(2_000) < 600);
});

test('every answer of every call is bounded in bytes and in time', () => {
  for (const stage of stages) {
    for (const kind of listAnswerKinds(stage)) {
      for (let seed = 0; seed < 20; seed += 1) {
        const { pieces } = makeAnswer(stage, diceOf(seed), answerContext, kind);
        const bytes = pieces.reduce((sum, piece) => sum + piece.bytes.length * piece.times, 0);
        const ms = pieces.reduce((sum, { times, everyMs = 0 }) => sum + times * everyMs, 0);
        assert.ok(bytes < 110 * 1024 * 1024, `${kind}: ${bytes} bytes`);
        assert.ok(ms < 60_000, `${kind}: ${ms} ms`);
      }
    }
  }
});

test('no address in an input or an answer is outside of the loopback network', () => {
  const answers = stages.flatMap((stage) =>
    listAnswerKinds(stage).flatMap((kind) =>
      Array.from({ length: 20 }, (_, seed) => makeAnswer(stage, diceOf(seed), answerContext, kind)),
    ),
  );
  const sent = answers.flatMap(({ pieces }) => pieces.map(({ bytes }) => bytes.slice(0, 2_000).toString()));
  const written = inputs(500).flatMap(({ writes }) =>
    writes.map(({ object }) => (object.kind === 'StaticExport' ? JSON.stringify(object['spec'] ?? {}) : '')),
  );
  const found = new Set<string>();
  for (const text of [...sent, ...written]) {
    for (const [, place = ''] of text.matchAll(/(?:https?|ftp):\/\/([^/?#\s"]*)/gi)) found.add(place);
  }
  assert.ok(found.size > 15, `${found.size} addresses`);
  assert.deepEqual(
    [...found].filter((place) => reachable(place) !== undefined),
    [],
  );
});

/** What the address leads to, unless that is this machine or nothing. */
function reachable(place: string): string | undefined {
  if (!URL.canParse(`http://${place}`)) return undefined;
  const { hostname } = new URL(`http://${place}`);
  return /^(127\.|0\.0\.0\.|\[::1\]$|\[::ffff:7f|localhost$)|\.invalid$|%|127\.0\.0\.\d+\.?$/.test(hostname)
    ? undefined
    : hostname;
}

test('no input holds a key or a link of the honest vendor', () => {
  const text = JSON.stringify([inputs(300), listWorstInputs(context, 20)]);
  assert.equal(text.includes(goodKey) || text.includes(signature), false);
});
