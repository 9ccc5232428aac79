// Tests how the output Secret and ConfigMap are written: the Secret first, only on change, never over another owner's
// object. A refusal is returned with what was published, and a conflict is thrown.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PublishedBundle, parsePublishedBundle } from '../../../../src/bundle/published-bundle.ts';
import type { Handles } from '../../../../src/loop/gather.ts';
import { readOutputs, seePublished } from '../../../../src/loop/publish/found-outputs.ts';
import { type OutputsWritten, writeOutputs } from '../../../../src/loop/publish/outputs.ts';
import type { OutputState } from '../../../../src/reconcile/observation.ts';
import { managedByLabels } from '../../../../src/staticexport/names.ts';
import type { ConfigMapObject, SecretObject } from '../../../../src/wire/cluster.ts';
import { ClusterError } from '../../../../src/wire/cluster-error.ts';
import type { Publication } from '../../../../src/wire/publication.ts';
import { copyOf, published, publishedLink } from '../../reconcile/cases/observations.ts';
import {
  exportObject,
  linkOf,
  metaOf,
  openPorts,
  outputName,
  outputSecretOf,
  type Ports,
  publishedBundle,
} from '../ports.ts';

const owner = exportObject();
const applySecret = `apply Secret ${outputName}`;
const applyConfigMap = `apply ConfigMap ${outputName}`;
const publication = {
  ...published,
  version: '20260105-120000-bbbbbbbb',
  jobId: 'se_2',
  digest: 'b'.repeat(64),
} satisfies Publication;
const next = {
  ...publication,
  link: { url: linkOf('next.zip'), ...publishedLink },
} satisfies PublishedBundle;
const refreshed: PublishedBundle = { ...next, link: { ...next.link, url: linkOf('refreshed.zip') } };

/** Writes the outputs as they are found in the cluster. */
async function write(
  ports: Ports,
  publish?: PublishedBundle,
  state?: OutputState,
  publishesLink = true,
): Promise<OutputsWritten> {
  const { ofCluster, signal, calls } = ports;
  const found = await readOutputs(owner.metadata, outputName, {}, ofCluster, signal);
  calls.length = 0;
  const handles: Handles = { ...found, key: undefined, rateLimitId: '' };
  const known = { state: state ?? found.state, handles };
  return writeOutputs(owner, { outputName, publishesLink }, known, publish, ofCluster, signal);
}

/** Both outputs as the operator wrote them. */
async function publishedPorts(): Promise<Ports> {
  const ports = openPorts();
  await write(ports, next);
  ports.cluster.applied.length = 0;
  return ports;
}

const textsOf = ({ cluster }: Ports): Readonly<Record<string, string>> => {
  const data = cluster.secrets.get(outputName)?.data ?? {};
  return Object.fromEntries(
    Object.entries(data).map(([key, bytes]) => [key, new TextDecoder().decode(bytes)]),
  );
};

test('a publication writes the Secret before the ConfigMap, and returns what the Secret holds', async () => {
  const ports = openPorts();
  const outputs = await write(ports, next);
  assert.deepEqual(ports.calls, [applySecret, applyConfigMap]);
  assert.deepEqual(outputs.state, {
    kind: 'ours',
    published: publication,
    isConfigMapForeign: false,
    unreadConfigMap: undefined,
  });
  assert.ok(outputs.published?.link?.url.isSame(next.link.url));
  assert.equal(outputs.isPublished, true);
  assert.equal(outputs.refusal, undefined);
});

test('the Secret holds the link and the ConfigMap holds the content only', async () => {
  const ports = await publishedPorts();
  const { 'bundle.json': bundle = '', ...texts } = textsOf(ports);
  const read = seePublished(parsePublishedBundle(bundle), 'docs/site', ports.ofCluster);
  assert.deepEqual(read, publication);
  const url = next.link.url.reveal();
  const { version, digest } = publication;
  assert.deepEqual(texts, {
    bundleUrl: url,
    version,
    'values.yaml': `staticExport:\n  enabled: true\n  bundleUrl: "${url}"\n  version: "${version}"\n`,
  });
  const configMap = ports.cluster.configMaps.get(outputName);
  assert.deepEqual(configMap?.data, {
    version,
    digest,
    'values.yaml': `staticExport:\n  enabled: true\n  version: "${version}"\n`,
  });
  assert.equal(JSON.stringify(configMap).includes('storage.example.com'), false);
});

test('both outputs are owned by the resource, and only the ConfigMap wakes Flux', async () => {
  const { cluster } = await publishedPorts();
  const secret = cluster.secrets.get(outputName)?.metadata;
  const configMap = cluster.configMaps.get(outputName)?.metadata;
  for (const metadata of [secret, configMap]) {
    assert.deepEqual(metadata?.ownerReferences, [
      {
        apiVersion: 'staticexport.dev/v1alpha1',
        kind: 'StaticExport',
        name: 'site',
        uid: 'uid-1',
        controller: true,
      },
    ]);
    assert.equal(metadata.labels['app.kubernetes.io/managed-by'], 'static-export-operator');
  }
  assert.equal(secret?.labels['reconcile.fluxcd.io/watch'], undefined);
  assert.equal(configMap?.labels['reconcile.fluxcd.io/watch'], 'Enabled');
});

test('a publication without a digest leaves the key out', async () => {
  const ports = openPorts();
  await write(ports, { ...next, digest: undefined });
  assert.equal(Object.hasOwn(ports.cluster.configMaps.get(outputName)?.data ?? {}, 'digest'), false);
});

test('outputs that are as they must be are not written', async () => {
  const ports = await publishedPorts();
  const { published: kept, isPublished } = await write(ports);
  assert.deepEqual(ports.calls, []);
  assert.ok(kept?.link?.url.isSame(next.link.url));
  assert.equal(isPublished, true);
});

test('a new link of the same version writes the Secret only', async () => {
  const ports = await publishedPorts();
  await write(ports, refreshed);
  assert.deepEqual(ports.calls, [applySecret]);
  assert.equal(textsOf(ports)['bundleUrl'], linkOf('refreshed.zip').reveal());
});

const withoutLabels = <T extends SecretObject | ConfigMapObject>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, labels: {} },
});

const drifts: Readonly<
  Record<string, readonly [drift: (ports: Ports) => void, restored: readonly string[]]>
> = {
  'a changed value in the Secret': [
    ({ cluster: { secrets } }) => {
      const secret = secrets.get(outputName);
      assert.ok(secret);
      secrets.set(outputName, { ...secret, data: { ...secret.data, version: Uint8Array.of(0x31) } });
    },
    [applySecret],
  ],
  'a Secret with its bundle.json only': [
    ({ cluster: { secrets } }) => {
      const metadata = secrets.get(outputName)?.metadata;
      secrets.set(outputName, outputSecretOf(next, metadata));
    },
    [applySecret],
  ],
  'a Secret without its labels': [
    ({ cluster: { secrets } }) => {
      const secret = secrets.get(outputName);
      assert.ok(secret);
      secrets.set(outputName, withoutLabels(secret));
    },
    [applySecret],
  ],
  'a missing ConfigMap': [({ cluster }) => cluster.configMaps.delete(outputName), [applyConfigMap]],
  'a changed value in the ConfigMap': [
    ({ cluster: { configMaps } }) => {
      const configMap = configMaps.get(outputName);
      assert.ok(configMap);
      configMaps.set(outputName, { ...configMap, data: { ...configMap.data, version: 'v0' } });
    },
    [applyConfigMap],
  ],
  'a ConfigMap without its labels': [
    ({ cluster: { configMaps } }) => {
      const configMap = configMaps.get(outputName);
      assert.ok(configMap);
      configMaps.set(outputName, withoutLabels(configMap));
    },
    [applyConfigMap],
  ],
};

for (const [name, [drift, restored]] of Object.entries(drifts)) {
  test(`${name} is restored, and a second reconcile writes nothing`, async () => {
    const ports = await publishedPorts();
    const texts = textsOf(ports);
    drift(ports);
    await write(ports);
    assert.deepEqual(ports.calls, restored);
    assert.deepEqual(textsOf(ports), texts);
    await write(ports);
    assert.deepEqual(ports.calls, []);
  });
}

test('a key that another client added to an output stays and causes no write', async () => {
  const ports = await publishedPorts();
  const secret = ports.cluster.secrets.get(outputName);
  assert.ok(secret);
  ports.cluster.secrets.set(outputName, { ...secret, data: { ...secret.data, other: Uint8Array.of(0x31) } });
  await write(ports);
  assert.deepEqual(ports.calls, []);
});

test('a lost Secret is not restored without its link', async () => {
  const ports = await publishedPorts();
  ports.cluster.secrets.delete(outputName);
  const { state, isPublished } = await write(ports);
  assert.deepEqual(ports.calls, []);
  assert.equal(state.kind, 'absent');
  assert.equal(isPublished, false);
});

const theirs = { metadata: metaOf(outputName), data: {} };

test("a publication is not written over another owner's Secret", async () => {
  const ports = openPorts();
  ports.cluster.secrets.set(outputName, theirs);
  const { state, isPublished } = await write(ports, next);
  assert.deepEqual(ports.calls, []);
  assert.deepEqual(state, { kind: 'foreign', objectKind: 'Secret' });
  assert.equal(isPublished, false);
});

test("a publication is not written where the ConfigMap is another owner's and no Secret exists", async () => {
  const ports = openPorts();
  ports.cluster.configMaps.set(outputName, theirs);
  assert.equal((await write(ports, next)).isPublished, false);
  assert.deepEqual(ports.calls, []);
});

test("a link is refreshed although the ConfigMap is another owner's", async () => {
  const ports = await publishedPorts();
  ports.cluster.configMaps.set(outputName, theirs);
  const { state } = await write(ports, refreshed);
  assert.deepEqual(ports.calls, [applySecret]);
  assert.equal(ports.cluster.configMaps.get(outputName), theirs);
  assert.equal(state.kind === 'ours' && state.isConfigMapForeign, true);
});

test('a link is refreshed although the ConfigMap is unreadable, and the ConfigMap is left alone', async () => {
  const ports = await publishedPorts();
  const state: OutputState = { kind: 'ours', published: publication, unreadConfigMap: 'forbidden' };
  ports.cluster.configMaps.delete(outputName);
  const outputs = await write(ports, refreshed, state);
  assert.deepEqual(ports.calls, [applySecret]);
  assert.equal(outputs.state.kind === 'ours' && outputs.state.unreadConfigMap, 'forbidden');
});

test('nothing is written over an unreadable Secret', async () => {
  const ports = openPorts();
  const { isPublished } = await write(ports, next, { kind: 'unreadable', why: 'forbidden' });
  assert.deepEqual(ports.calls, []);
  assert.equal(isPublished, false);
});

test('a write names the version and the uid of what was read', async () => {
  const ports = await publishedPorts();
  const secret = ports.cluster.secrets.get(outputName)?.metadata;
  await write(ports, refreshed);
  const [applied] = ports.cluster.applied;
  assert.equal(applied?.readVersion, secret?.resourceVersion);
  assert.equal(applied?.metadata.uid, secret?.uid);
});

for (const code of ['Forbidden', 'Invalid', 'Unavailable', 'NamespaceTerminating'] as const) {
  test(`a Secret that is refused with ${code} is returned as a refusal, and the ConfigMap stays as it was`, async () => {
    const ports = await publishedPorts();
    ports.cluster.refuse(applySecret, code);
    const outputs = await write(ports, { ...next, version: 'v3' });
    assert.equal(outputs.refusal?.code, code);
    assert.equal(outputs.isPublished, false);
    assert.ok(outputs.published?.link?.url.isSame(next.link.url), 'what was published before');
    assert.deepEqual(ports.calls, [applySecret]);
  });

  test(`a ConfigMap that is refused with ${code} is returned as a refusal of a published version`, async () => {
    const ports = openPorts();
    ports.cluster.refuse(applyConfigMap, code);
    const outputs = await write(ports, next);
    assert.equal(outputs.refusal?.code, code);
    assert.equal(outputs.isPublished, true);
    assert.ok(outputs.published?.link?.url.isSame(next.link.url));
  });
}

for (const call of [applySecret, applyConfigMap]) {
  test(`"${call}" that meets a conflict is thrown`, async () => {
    const ports = openPorts();
    ports.cluster.refuse(call, 'Conflict');
    await assert.rejects(write(ports, next), { code: 'Conflict' });
    assert.equal(ports.calls.at(-1), call);
  });

  test(`"${call}" that is aborted throws the reason of the abort`, async () => {
    const ports = openPorts();
    ports.cluster.before = (made) => {
      if (made !== call) return;
      ports.stop(new Error('stopped'));
      throw new ClusterError('Unavailable', 'scripted');
    };
    await assert.rejects(write(ports, next), { message: 'stopped' });
  });

  test(`an error of "${call}" that is not the API server's is thrown`, async () => {
    const ports = openPorts();
    const defect = new TypeError('defect');
    ports.cluster.before = (made) => {
      if (made === call) throw defect;
    };
    await assert.rejects(write(ports, next), defect);
  });
}

test('a Secret that was created since the read is not overwritten', async () => {
  const ports = openPorts();
  ports.cluster.before = (call) => {
    if (call === applySecret) ports.cluster.secrets.set(outputName, theirs);
  };
  await assert.rejects(write(ports, next), { code: 'Conflict' });
  assert.equal(ports.cluster.secrets.get(outputName), theirs);
  assert.equal(ports.cluster.configMaps.size, 0);
});

test('the result follows the Secret as it is stored, not as it was sent', async () => {
  const ports = openPorts();
  const stored = outputSecretOf(publishedBundle);
  ports.cluster.applySecret = async () => stored;
  const outputs = await write(ports, next);
  assert.ok(outputs.published?.link?.url.isSame(publishedBundle.link.url));
  assert.deepEqual(outputs.state.kind === 'ours' && outputs.state.published, published);
});

const ref = copyOf(publication.digest);

test('outputs of a copied bundle name its reference, and the values name the digest with it', async () => {
  const ports = openPorts();
  await write(ports, { ...next, ref });
  const { version, digest } = publication;
  const url = next.link.url.reveal();
  const copy = `  ref: "${ref}"\n  digest: "${digest}"\n`;
  const { ref: secretRef, 'values.yaml': values } = textsOf(ports);
  assert.equal(secretRef, ref);
  assert.equal(
    values,
    `staticExport:\n  enabled: true\n  bundleUrl: "${url}"\n  version: "${version}"\n${copy}`,
  );
  assert.deepEqual(ports.cluster.configMaps.get(outputName)?.data, {
    version,
    digest,
    ref,
    'values.yaml': `staticExport:\n  enabled: true\n  version: "${version}"\n${copy}`,
  });
});

test('a copied bundle has no link in its outputs where the spec wants none', async () => {
  const ports = openPorts();
  const outputs = await write(ports, { ...next, ref }, undefined, false);
  assert.equal(textsOf(ports)['bundleUrl'], undefined);
  assert.equal(JSON.stringify(textsOf(ports)).includes('storage.example.com'), false);
  assert.deepEqual([outputs.published?.ref, outputs.published?.link], [ref, undefined]);
  assert.deepEqual(outputs.state.kind === 'ours' && outputs.state.published, {
    ...publication,
    ref,
    link: undefined,
  });
  await write(ports, undefined, undefined, false);
  assert.deepEqual(ports.calls, []);
});

test('a published link leaves the outputs when the spec wants none any more, and stays without a copy', async () => {
  const ports = openPorts();
  await write(ports, { ...next, ref });
  await write(ports, undefined, undefined, false);
  assert.deepEqual(ports.calls, [applySecret]);
  assert.equal(textsOf(ports)['bundleUrl'], undefined);
  const uncopied = await publishedPorts();
  await write(uncopied, undefined, undefined, false);
  assert.deepEqual(uncopied.calls, []);
  assert.equal(textsOf(uncopied)['bundleUrl'], next.link.url.reveal());
});

const stranger = { apiVersion: 'v1', kind: 'Other', name: 'other', uid: 'uid-9' };
const earlier = { apiVersion: 'staticexport.dev/v1alpha1', kind: 'StaticExport', name: 'site', uid: 'uid-0' };

for (const [what, more, isAdopted] of [
  ['our labels and the default name', { labels: managedByLabels }, true],
  ['our labels and this name', { labels: { ...managedByLabels, 'staticexport.dev/export': 'site' } }, true],
  [
    'our labels and another name',
    { labels: { ...managedByLabels, 'staticexport.dev/export': 'api' } },
    false,
  ],
  ['no labels', { labels: {} }, false],
  ['one label of two', { labels: { 'app.kubernetes.io/managed-by': 'static-export-operator' } }, false],
  ['our labels and another owner', { labels: managedByLabels, ownerReferences: [stranger] }, false],
  [
    'our labels and the uid of an earlier resource',
    { labels: managedByLabels, ownerReferences: [earlier] },
    false,
  ],
] as const) {
  test(`a Secret with ${what} is ${isAdopted ? 'adopted, and gets its owner' : 'not adopted'}`, async () => {
    const ports = await publishedPorts();
    const [stored] = [...ports.cluster.secrets.values()].filter(
      ({ metadata }) => metadata.name === outputName,
    );
    assert.ok(stored);
    const metadata = metaOf(outputName, more);
    ports.cluster.secrets.set(outputName, { ...stored, metadata });
    const { state } = await write(ports);
    assert.equal(state.kind, isAdopted ? 'ours' : 'foreign');
    const applied = ports.cluster.applied.filter(({ metadata: { name } }) => name === outputName);
    assert.deepEqual(
      applied.flatMap(({ metadata: { ownerReferences } }) => ownerReferences.map(({ uid }) => uid)),
      isAdopted ? ['uid-1'] : [],
    );
  });
}
