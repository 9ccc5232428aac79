// How `doctor` reads a cluster whose parts are slow, refuse, or allow by name only.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterClient } from '#cli/cluster/client.ts';
import { isReadable } from '#cli/cluster/reading.ts';
import type { ClusterFacts } from '#cli/doctor/cluster-state.ts';
import { checksOf } from '#cli/doctor/doctor-command.ts';
import { gatherFacts, type Scope } from '#cli/doctor/gather.ts';
import { describePermission } from '#cli/doctor/permissions.ts';
import type { Call } from '#operator/kube/transport/transport.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { healthyStatus, metadata, now, surroundings } from './healthy-state.ts';

const refused = new ClusterError('Forbidden', 'you have no permission');
const unavailable = new ClusterError('Unavailable', 'no usable answer');
const notFound = new ClusterError('NotFound', 'the list does not exist');

interface Attributes {
  readonly verb: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** A cluster of which a test replaces single answers. */
interface Answers {
  readonly objects?: readonly StaticExportObject[];
  readonly read?: () => Promise<StaticExportObject>;
  readonly list?: () => Promise<readonly StaticExportObject[]>;
  readonly call?: (call: Call) => unknown;
  readonly isAllowed?: (attributes: Attributes) => boolean;
}

class Gathering {
  time = now;
  readonly reviews: Attributes[] = [];
  readonly #answers: Answers;

  constructor(answers: Answers = {}) {
    this.#answers = answers;
  }

  async facts(scope: Partial<Scope> = {}): Promise<ClusterFacts> {
    const { objects = [surroundings().object], read, list } = this.#answers;
    const [first] = objects;
    assert.ok(first !== undefined);
    const client: ClusterClient = {
      transport: {
        call: async (call) => this.#answer(call),
        stream: () => Promise.reject(refused),
        close: async () => {},
      },
      signal: new AbortController().signal,
      namespace: 'docs',
      read: read ?? (async () => first),
      list: list ?? (async () => objects),
      patch: () => Promise.reject(refused),
    };
    const all = { name: undefined, allNamespaces: false, isPre: false, ...scope };
    return gatherFacts(client, { version: '0.1.0', node: '24.0.0' }, all, { now: () => this.time });
  }

  async #answer(call: Call): Promise<unknown> {
    const own = await this.#answers.call?.(call);
    if (own !== undefined) return own;
    const { resource, name = '', namespace = '' } = call.address;
    switch (resource.plural) {
      case 'version':
        return { gitVersion: 'v1.35.4' };
      case 'selfsubjectreviews':
        return {
          metadata: { creationTimestamp: new Date(this.time).toISOString() },
          status: { userInfo: { username: 'jane' } },
        };
      case 'selfsubjectaccessreviews': {
        const attributes = attributesOf(call.body);
        this.reviews.push(attributes);
        return { status: { allowed: this.#answers.isAllowed?.(attributes) ?? true } };
      }
      case 'leases':
        return {
          metadata: { name, namespace },
          spec: {
            holderIdentity: 'sx-0_1',
            leaseDurationSeconds: 15,
            renewTime: new Date(this.time - 2_000).toISOString(),
          },
        };
      case 'secrets':
      case 'configmaps':
        return { metadata: { name, namespace, uid: 'u', resourceVersion: '1' } };
      case 'pods':
        return { metadata: {}, items: [podOf(namespace)] };
      default:
        throw refused;
    }
  }
}

function attributesOf(body: unknown): Attributes {
  assert.ok(typeof body === 'object' && body !== null && 'spec' in body);
  const { spec } = body;
  assert.ok(typeof spec === 'object' && spec !== null && 'resourceAttributes' in spec);
  // The shape that the Kubernetes API server reads.
  const { resourceAttributes } = spec;
  assert.ok(typeof resourceAttributes === 'object' && resourceAttributes !== null);
  const texts: Record<string, string> = { verb: '', resource: '' };
  for (const [name, value] of Object.entries(resourceAttributes)) texts[name] = String(value);
  const { verb = '', resource = '', ...more } = texts;
  return { verb, resource, ...more };
}

const podOf = (namespace: string): object => ({
  metadata: { name: 'site-0', namespace, uid: 'u', resourceVersion: '1' },
  spec: {
    containers: [{ name: 'server', args: ['bundle-server'] }],
    volumes: [{ secret: { secretName: 'docs-bundle' } }],
  },
  status: { phase: 'Running' },
});

test('a server beside a container that crashes is asked, and one that crashes is named', async () => {
  const crashing = { waiting: { reason: 'CrashLoopBackOff' } };
  const served = { version: healthyStatus.active.version, digest: healthyStatus.active.digest };
  const answer = {
    active: served,
    source: { kind: 'link', state: 'in-sync', reason: 'served', published: served, lastError: null },
  };
  const serving = async (container: string, status: object | undefined) => {
    const gathering = new Gathering({
      call: ({ address: { resource, subresource, namespace = '' } }) => {
        if (resource.plural !== 'pods') return undefined;
        if (subresource === 'proxy' && status === undefined) throw unavailable;
        if (subresource === 'proxy') return status;
        const containerStatuses = [{ name: container, restartCount: 3, state: crashing }];
        return {
          metadata: {},
          items: [{ ...podOf(namespace), status: { phase: 'Running', containerStatuses } }],
        };
      },
    });
    return checksOf(await gathering.facts(), false)
      .filter(({ code }) => code === 'Server')
      .map(({ state, message }) => `${state}: ${message}`);
  };
  assert.deepEqual(await serving('app', answer), ['ok: Pod site-0 serves the published version.']);
  assert.deepEqual(await serving('server', undefined), [
    'error: Pod site-0: Its bundle server does not run (CrashLoopBackOff).',
  ]);
});

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a lease that was live when it was read is not stale after pods that hang', async () => {
  const gathering: Gathering = new Gathering({
    call: async ({ address }) => {
      if (address.subresource !== 'proxy') return undefined;
      await settled();
      gathering.time += 60_000;
      throw unavailable;
    },
  });
  const facts = await gathering.facts();
  assert.equal(gathering.time, now + 60_000);
  const [lease] = checksOf(facts, false).filter(({ code }) => code === 'OperatorLease');
  assert.deepEqual([lease?.state, lease?.message], ['ok', 'sx-0 holds the lease ops/sx, renewed 2 s ago.']);
});

test("a slow list does not move the server's clock", async () => {
  const gathering: Gathering = new Gathering({
    list: async () => {
      await settled();
      gathering.time += 60_000;
      return [surroundings().object];
    },
  });
  assert.equal((await gathering.facts()).now, now + 60_000);
});

test('StaticExports and their pods are read at once, up to a bound', async () => {
  const objects = Array.from({ length: 20 }, (_, at) => ({
    ...surroundings().object,
    metadata: metadata('docs', `docs-${at}`),
    spec: {
      domain: 'a.example.com',
      api: { keySecretRef: { name: 'export-api' } },
      output: { name: 'docs-bundle' },
    },
    status: healthyStatus,
  }));
  const [open, most] = [new Map<string, number>(), new Map<string, number>()];
  const gathering = new Gathering({
    objects,
    call: async ({ address }) => {
      const { subresource, resource } = address;
      const kind = subresource ?? resource.plural;
      if (kind !== 'proxy' && kind !== 'configmaps') return undefined;
      const count = (open.get(kind) ?? 0) + 1;
      open.set(kind, count);
      most.set(kind, Math.max(most.get(kind) ?? 0, count));
      await settled();
      await settled();
      open.set(kind, (open.get(kind) ?? 0) - 1);
      if (kind === 'proxy') throw unavailable;
      return undefined;
    },
  });
  assert.equal((await gathering.facts()).exports.length, 20);
  assert.deepEqual(Object.fromEntries(most), { proxy: 8, configmaps: 8 });
});

const said = (facts: ClusterFacts): readonly string[] =>
  facts.permissions
    .filter(({ isAllowed }) => isReadable(isAllowed) && !isAllowed.value)
    .map((one) => describePermission(one));

test('a role that names its objects is enough for these objects', async () => {
  const gathering = new Gathering({
    isAllowed: ({ verb, resource, name }) =>
      (resource !== 'staticexports' && resource !== 'secrets' && resource !== 'leases') ||
      verb === 'list' ||
      (resource === 'staticexports' && name === 'docs'),
  });
  const facts = await gathering.facts({ name: 'docs' });
  assert.deepEqual(said(facts), []);
  const named = gathering.reviews.filter(({ name }) => name !== undefined);
  // What was read needs no review.
  assert.deepEqual(
    named.map(({ verb, resource, namespace, name }) => [verb, resource, namespace, name].join(' ')),
    ['patch staticexports docs docs'],
  );
});

test('an object that a role does not name is missing by its name', async () => {
  const gathering = new Gathering({
    call: ({ address: { resource, name } }) => {
      if (resource.plural === 'secrets' && name === 'docs-bundle') throw refused;
      return undefined;
    },
    isAllowed: ({ resource }) => resource !== 'secrets',
  });
  assert.deepEqual(said(await gathering.facts()), ['get secrets "docs-bundle" in namespace docs']);
});

test('a permission that no object has is missing in general', async () => {
  const gathering = new Gathering({
    call: ({ address: { resource } }) => {
      if (resource.plural === 'secrets') throw refused;
      return undefined;
    },
    isAllowed: ({ resource, verb }) => resource !== 'secrets' && verb !== 'patch',
  });
  assert.deepEqual(said(await gathering.facts()), [
    'patch staticexports.staticexport.dev in namespace docs',
    'get secrets in namespace docs',
  ]);
});

test('reviews that are refused are kept, with the reason', async () => {
  const gathering = new Gathering({
    call: ({ address: { resource } }) => {
      if (resource.plural === 'selfsubjectaccessreviews') throw refused;
      return undefined;
    },
  });
  for (const isPre of [false, true]) {
    const facts = await gathering.facts({ isPre });
    assert.ok(facts.permissions.length > 0);
    assert.ok(facts.permissions.every(({ isAllowed }) => !isReadable(isAllowed)));
    const states = checksOf(facts, isPre)
      .filter(({ code }) => code.endsWith('Permissions'))
      .map(({ state }) => state);
    assert.deepEqual(states, ['error']);
  }
});

test('where StaticExports are not served, a name finds out by the list', async () => {
  const read = () => Promise.reject(unavailable);
  const list = () => Promise.reject(notFound);
  const facts = await new Gathering({ read, list }).facts({ name: 'docs' });
  const errors = checksOf(facts, false).filter(({ state }) => state === 'error');
  assert.deepEqual(
    errors.map(({ code }) => code),
    ['CrdInstalled'],
  );
  const other = await new Gathering({ read }).facts({ name: 'docs' });
  assert.deepEqual(
    checksOf(other, false).flatMap(({ code, state }) => (state === 'error' ? [code] : [])),
    ['StaticExport'],
  );
});
