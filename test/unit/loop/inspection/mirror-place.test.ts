// How the mirror of a resource is reached: the operator's rules come before the Secret, and a Secret that cannot be
// read is a failure that names it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FoundPlace, findMirrorPlace } from '../../../../src/loop/inspection/mirror-place.ts';
import type { MirrorPlace, Mirrors } from '../../../../src/loop/ports.ts';
import { noMirrors } from '../../../../src/loop/ports.ts';
import type { WantedMirror } from '../../../../src/staticexport/wanted-mirror.ts';
import { ClusterError } from '../../../../src/wire/cluster-error.ts';
import { mirror } from '../../reconcile/cases/observations.ts';
import { bytesOf, exportObject, metaOf, openPorts, type Ports } from '../ports.ts';

type Asked = readonly [place: Omit<MirrorPlace, 'secret'>, hasSecret: boolean];

/** Ports whose mirrors allow every place, and what they were asked about. */
function openAllowed(): { readonly ports: Ports; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const mirrors: Mirrors = {
    ...noMirrors,
    refuse: (...one) => {
      asked.push(one);
      return undefined;
    },
  };
  const ports = openPorts({}, mirrors);
  const data = { username: bytesOf('robot'), password: bytesOf('s3cret') };
  ports.cluster.secrets.set('registry', { metadata: metaOf('registry'), data });
  return { ports, asked };
}

const find = ({ ofAction, signal }: Ports, wanted: WantedMirror = mirror): Promise<FoundPlace> =>
  findMirrorPlace(wanted, exportObject().metadata, ofAction, signal);
const owner = { namespace: 'docs', name: 'site', uid: 'uid-1', isExclusive: false };
const { address, endpoint, region, pathStyle } = mirror;

test('a place has the bytes of its Secret, and the resource that owns it', async () => {
  const { ports, asked } = openAllowed();
  const secret = { name: 'registry', data: { username: bytesOf('robot'), password: bytesOf('s3cret') } };
  const place = { address, endpoint, region, pathStyle, owner };
  assert.deepEqual(await find(ports), { kind: 'found', place: { ...place, secret } });
  assert.deepEqual(asked, [[place, true]]);
  assert.deepEqual(ports.calls, ['read Secret registry']);
});

test('with retention the place belongs to the resource alone', async () => {
  const { ports } = openAllowed();
  const found = await find(ports, { ...mirror, unlistedMs: 86_400_000 });
  assert.deepEqual(found.kind === 'found' && found.place.owner, { ...owner, isExclusive: true });
});

test("the operator's default mirror is reached without a Secret", async () => {
  const { ports, asked } = openAllowed();
  const found = await find(ports, { ...mirror, secretName: undefined });
  assert.equal(found.kind === 'found' && found.place.secret, undefined);
  assert.equal(asked[0]?.[1], false);
  assert.deepEqual(ports.calls, []);
});

test('no Secret is read for a place that is not allowed', async () => {
  const failure = { code: 'HostNotAllowed', message: 'Add the host.', retryAfterMs: undefined };
  const ports = openPorts({}, { ...noMirrors, refuse: () => failure });
  assert.deepEqual(await find(ports), { kind: 'failed', failure });
  assert.deepEqual(ports.calls, []);
});

test('a Secret that does not exist is named', async () => {
  const { ports } = openAllowed();
  ports.cluster.secrets.delete('registry');
  const message = 'Secret registry does not exist. Create it.';
  const failure = { code: 'SecretMissing', message, retryAfterMs: undefined };
  assert.deepEqual(await find(ports), { kind: 'failed', failure });
});

test('a Secret that the operator may not read is named, with the refusal', async () => {
  const { ports } = openAllowed();
  ports.cluster.refuse('read Secret registry', 'Forbidden');
  const message = 'Secret registry cannot be read: read Secret registry: Forbidden';
  const failure = { code: 'SecretUnreadable', message, retryAfterMs: undefined };
  assert.deepEqual(await find(ports), { kind: 'failed', failure });
});

test('a read that the end of the reconcile aborted throws the reason of the abort', async () => {
  const { ports } = openAllowed();
  ports.cluster.before = () => {
    ports.stop(new Error('stopped'));
    throw new ClusterError('Unavailable', 'scripted');
  };
  await assert.rejects(find(ports), { message: 'stopped' });
});

test('an error that is not the API server’s is thrown', async () => {
  const { ports } = openAllowed();
  const defect = new TypeError('defect');
  ports.cluster.before = () => {
    throw defect;
  };
  await assert.rejects(find(ports), defect);
});
