// The lists of names say what the programs really have.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createReports } from '#operator/controller/reports.ts';
import { createMetrics } from '#operator/metrics.ts';
import { metricNames } from '../../../../packaging/version/metric-names.ts';
import { leafPaths } from '../../../../packaging/version/schema-paths.ts';
import { readSurface } from '../../../../packaging/version/sources-surface.ts';
import { projectRoot, readVersionTree } from '../../../../packaging/version/version-tree.ts';

const tree = await readVersionTree(projectRoot);
const surface = readSurface(tree);

test('flags of every program and command are in the list', () => {
  for (const name of [
    'operator --starts-per-hour',
    'bundle-server --bundle-ref',
    'export-service --max-missing',
    'webhook-receiver --client-rate',
    'tap-static-export --catalog',
    'static-export bundle inspect --report',
    'static-export conversations gaps --fail-on-new',
  ])
    assert.ok(surface.flags.includes(name), name);
});

test('values of both charts and fields of spec and status are in the list, down to their leaves', () => {
  for (const path of ['static-export-operator image.repository', 'static-export-site server.image.tag'])
    assert.ok(surface.values.includes(path), path);
  for (const path of [
    'spec.api.keySecretRef.name',
    'spec.targets.helmRelease.name',
    'status.conditions.reason',
  ])
    assert.ok(surface.fields.includes(path), path);
  assert.ok(!surface.fields.includes('spec.api'));
});

test('metrics of the operator are those that it exposes', async () => {
  const { registry } = createMetrics({
    workers: 4,
    host: '10.0.0.1',
    queue: () => ({ waiting: 0, active: 0, delayed: 0, longestActiveMs: 0, unfinishedMs: 0 }),
    reports: createReports({ get: () => undefined }, { now: () => 0 }).list,
    watch: () => ({ missedChanges: 0, silenceSeconds: 0, objects: 0, auditedAt: 0, namespaces: [] }),
    inspections: { taken: 0, waiting: 0 },
  });
  const exposed = registry.getMetricsAsArray().map(({ name }) => name);
  const own = exposed.filter((name) => !/^(?:process|nodejs)_/.test(name));
  const code = [...tree].filter(([path]) => /^src\/operator\/(?!webhook\/).*\.ts$/.test(path));
  assert.deepEqual([...new Set(code.flatMap(([, text]) => metricNames(text)))].sort(), own.sort());
});

test('metrics of the other programs are those that their pages name', () => {
  const named = (page: string, prefix: string): ReadonlySet<string> =>
    new Set(
      [
        ...readFileSync(new URL(`../../../../${page}`, import.meta.url), 'utf8').matchAll(
          /`([a-z_]+)(?:\{[^`]*\})?`/g,
        ),
      ]
        .map(([, name = '']) => name)
        .filter((name) => name.startsWith(prefix)),
    );
  const listed = (prefix: string): ReadonlySet<string> =>
    new Set(surface.metrics.filter((name) => name.startsWith(prefix)));
  const ofServers = named('src/server/README.md', 'bundle_server_');
  assert.ok(ofServers.size > 15);
  assert.deepEqual([...ofServers.difference(listed('bundle_server_'))], []);
  const ofService = named('src/export-service/README.md', 'export_service_');
  assert.ok(ofService.size > 2);
  assert.deepEqual([...ofService.difference(listed('export_service_'))], []);
});

test('leaf paths follow definitions and items, and refuse a definition without an end', () => {
  const schema = {
    definitions: { image: { properties: { tag: {}, pull: { properties: { policy: {} } } } } },
    properties: {
      image: { $ref: '#/definitions/image' },
      targets: { items: { properties: { name: {} } } },
      hosts: { items: { type: 'string' } },
      free: { additionalProperties: { properties: { x: {} } } },
    },
  };
  assert.deepEqual(leafPaths(schema), ['free', 'hosts', 'image.pull.policy', 'image.tag', 'targets.name']);
  assert.throws(
    () =>
      leafPaths({
        definitions: { a: { $ref: '#/definitions/a' } },
        properties: { b: { $ref: '#/definitions/a' } },
      }),
    /a is missing or contains itself/,
  );
  assert.throws(() => leafPaths({ properties: { b: { $ref: '#/definitions/none' } } }), /none is missing/);
});
