// The health check for Argo CD in docs/argo-cd-health.lua, run by Lua 5.1, the language of Argo CD's interpreter: a table
// of moments of a StaticExport, any combination of conditions against the rules, and the page that shows the file.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { mustRun } from '../support/command.ts';
import { maySkip } from '../support/may-skip.ts';
import * as fc from '../support/properties.ts';
import { chart } from './operator-chart.ts';

const script = readFileSync(join(chart, 'docs/argo-cd-health.lua'), 'utf8');
const skip = maySkip(
  'gitops',
  spawnSync('lua5.1', ['-v']).error !== undefined && 'the health check needs lua5.1',
);

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message: string;
}

interface Resource {
  readonly metadata: { readonly generation: number };
  readonly spec: { readonly suspend?: boolean };
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] };
}

/** A Lua expression with the value of the JSON. */
function luaOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(luaOf).join(', ')}}`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{${entries.map(([key, one]) => `[${JSON.stringify(key)}] = ${luaOf(one)}`).join(', ')}}`;
}

/** `STATUS MESSAGE` of each, by one interpreter. */
async function judge(resources: readonly Resource[]): Promise<readonly string[]> {
  const calls = resources.map((one) => `show({obj = ${luaOf(one)}})`);
  const program = [
    `local check = assert(loadstring(${luaText(script)}))`,
    'local function show(env)',
    '  env.ipairs = ipairs',
    '  local hs = setfenv(check, env)()',
    "  print(hs.status .. ' ' .. hs.message)",
    'end',
    ...calls,
  ].join('\n');
  return (await mustRun(['lua5.1', '-'], { input: program })).trimEnd().split('\n');
}

const luaText = (text: string): string => `[==[\n${text}]==]`;

const at = (
  generation: number,
  observedGeneration: number,
  conditions: Readonly<Record<string, string>>,
  spec: Resource['spec'] = {},
): Resource => ({
  metadata: { generation },
  spec,
  status: {
    observedGeneration,
    conditions: Object.entries(conditions).map(([type, status]) => ({
      type,
      status,
      message: `about ${type}`,
    })),
  },
});

const unobserved = 'Progressing The operator has not observed this generation.';
const moments: readonly (readonly [words: string, resource: Resource, expected: string])[] = [
  ['without a status', { metadata: { generation: 1 }, spec: {} }, unobserved],
  ['on a new object', at(1, -1, {}), unobserved],
  ['after an edit', at(2, 1, { Ready: 'True' }), unobserved],
  ['after an edit of a stalled one', at(2, 1, { Ready: 'False', Stalled: 'True' }), unobserved],
  [
    'while the first export runs',
    at(1, 1, { Ready: 'False', Reconciling: 'True', Exported: 'Unknown' }),
    'Progressing about Reconciling',
  ],
  ['when published', at(1, 1, { Ready: 'True', Exported: 'True' }), 'Healthy about Ready'],
  [
    'when the last nightly export failed',
    at(1, 1, { Ready: 'True', Exported: 'False', LinkFresh: 'False', TargetsSynced: 'Unknown' }),
    'Healthy about Ready',
  ],
  ['when stalled', at(1, 1, { Ready: 'False', Stalled: 'True' }), 'Degraded about Stalled'],
  ['when the link expired', at(1, 1, { Ready: 'False', LinkFresh: 'False' }), 'Degraded about Ready'],
  [
    'when suspended',
    at(2, 1, { Ready: 'False', Stalled: 'True' }, { suspend: true }),
    'Suspended spec.suspend is true: exports and promotions are paused.',
  ],
  ['when suspend is false', at(1, 1, { Ready: 'True' }, { suspend: false }), 'Healthy about Ready'],
];

test('each moment of a StaticExport has the health that Argo CD shows', { skip }, async () => {
  const judged = await judge(moments.map(([, resource]) => resource));
  assert.deepEqual(
    moments.map(([words], index) => `${words}: ${judged[index]}`),
    moments.map(([words, , expected]) => `${words}: ${expected}`),
  );
});

/** The rules, in the order in which they decide. */
function expectedHealth({ metadata, spec, status = {} }: Resource): string {
  const isTrue = (name: string): boolean =>
    (status.conditions ?? []).some(({ type, status: value }) => type === name && value === 'True');
  const isObserved =
    status.observedGeneration === metadata.generation &&
    (status.conditions ?? []).some(({ type }) => type === 'Ready');
  if (spec.suspend === true) return 'Suspended';
  if (!isObserved) return 'Progressing';
  if (isTrue('Stalled')) return 'Degraded';
  if (isTrue('Reconciling')) return 'Progressing';
  return isTrue('Ready') ? 'Healthy' : 'Degraded';
}

test('any combination of conditions has a health by the rules, and Progressing never without a cause', {
  skip,
}, async () => {
  const conditions = fc.dictionary(
    fc.constantFrom('Ready', 'Reconciling', 'Stalled', 'Exported', 'LinkFresh', 'TargetsSynced'),
    fc.constantFrom('True', 'False', 'Unknown'),
  );
  const resource = fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: -1, max: 3 }), conditions, fc.boolean())
    .map(([generation, observed, found, suspend]) => at(generation, observed, found, { suspend }));
  const resources = fc.sample(resource, { numRuns: 2_000, seed: 15 });
  const judged = await judge(resources);
  assert.deepEqual(
    judged.map((line) => line.split(' ')[0]),
    resources.map(expectedHealth),
  );
});

test('the page for Argo CD shows the health check exactly as the file has it', () => {
  const page = readFileSync(join(chart, 'docs/argo-cd.md'), 'utf8');
  const indented = script
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : `    ${line}`))
    .join('\n');
  const entry = `  resource.customizations.health.staticexport.dev_StaticExport: |\n${indented}\n`;
  assert.ok(page.includes(entry), 'run: indent docs/argo-cd-health.lua by four spaces into docs/argo-cd.md');
});
