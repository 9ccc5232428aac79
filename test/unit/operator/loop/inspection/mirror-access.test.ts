// How the mirror of a resource is reached: the operator's rules come before the Secret, and a Secret that cannot be
// read is a failure that names it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FoundMirrorAccess, findMirrorAccess } from '#operator/loop/inspection/mirror-access.ts';
import type { MirrorPlace, Mirrors } from '#operator/loop/ports.ts';
import { noMirrors } from '#operator/loop/ports.ts';
import type { WantedMirror } from '#operator/staticexport/wanted-mirror.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { mirror } from '../../reconcile/cases/observations.ts';
import { bytesOf, openRecorded, type Recorded } from '../recorded-simulation.ts';

type Asked = readonly [place: Omit<MirrorPlace, 'secret'>, hasSecret: boolean];

/** A simulation whose mirrors allow every place, and what they were asked about. */
function openAllowed(refuse: Mirrors['refuse'] = () => undefined): {
  readonly recorded: Recorded;
  readonly asked: Asked[];
  readonly find: (wanted?: WantedMirror) => Promise<FoundMirrorAccess>;
} {
  const asked: Asked[] = [];
  const recorded = openRecorded();
  const mirrors: Mirrors = {
    ...noMirrors,
    refuse: (...one) => {
      asked.push(one);
      return refuse(...one);
    },
  };
  const { simulation, context, signal } = recorded;
  simulation.cluster.putSecret(registry, { username: 'robot', password: 's3cret' });
  const metadata = simulation.object()?.metadata ?? assert.fail();
  const find = (wanted = mirror) =>
    findMirrorAccess(wanted, { ...metadata, uid: 'uid-1' }, { ...context, mirrors }, signal);
  return { recorded, asked, find };
}

const registry = { namespace: 'docs', name: 'registry' };
const owner = { namespace: 'docs', name: 'site', uid: 'uid-1', isExclusive: false };
const { address, endpoint, region, pathStyle } = mirror;

test('a place has the bytes of its Secret, and the resource that owns it', async () => {
  const { recorded, asked, find } = openAllowed();
  const secret = { name: 'registry', data: { username: bytesOf('robot'), password: bytesOf('s3cret') } };
  const place = { address, endpoint, region, pathStyle, owner };
  assert.deepEqual(await find(), { kind: 'found', place: { ...place, secret } });
  assert.deepEqual(asked, [[place, true]]);
  assert.deepEqual(recorded.calls, ['readSecret registry']);
});

test('with retention the place belongs to the resource alone', async () => {
  const { find } = openAllowed();
  const found = await find({ ...mirror, unlistedMs: 86_400_000 });
  assert.deepEqual(found.kind === 'found' && found.place.owner, { ...owner, isExclusive: true });
});

test("the operator's default mirror is reached without a Secret", async () => {
  const { recorded, asked, find } = openAllowed();
  const found = await find({ ...mirror, secretName: undefined });
  assert.equal(found.kind === 'found' && found.place.secret, undefined);
  assert.equal(asked[0]?.[1], false);
  assert.deepEqual(recorded.calls, []);
});

test('no Secret is read for a place that is not allowed', async () => {
  const failure = { code: 'HostNotAllowed', message: 'Add the host.', retryAfterMs: undefined };
  const { recorded, find } = openAllowed(() => failure);
  assert.deepEqual(await find(), { kind: 'failed', failure });
  assert.deepEqual(recorded.calls, []);
});

test('a Secret that does not exist is named', async () => {
  const { recorded, find } = openAllowed();
  recorded.simulation.cluster.secrets.delete('docs/registry');
  const message = 'Secret registry does not exist. Create it.';
  const failure = { code: 'SecretMissing', message, retryAfterMs: undefined };
  assert.deepEqual(await find(), { kind: 'failed', failure });
});

test('a Secret that the operator may not read is named, with the refusal', async () => {
  const { recorded, find } = openAllowed();
  recorded.refuse('readSecret registry', 'Forbidden');
  const message = 'Secret registry cannot be read: readSecret registry: Forbidden';
  const failure = { code: 'SecretUnreadable', message, retryAfterMs: undefined };
  assert.deepEqual(await find(), { kind: 'failed', failure });
});

test('a read that the end of the reconcile aborted throws the reason of the abort', async () => {
  const { recorded, find } = openAllowed();
  recorded.before = () => {
    recorded.stop(new Error('stopped'));
    throw new ClusterError('Unavailable', 'scripted');
  };
  await assert.rejects(find(), { message: 'stopped' });
});

test('an error that is not the API server’s is thrown', async () => {
  const { recorded, find } = openAllowed();
  const defect = new TypeError('defect');
  recorded.before = () => {
    throw defect;
  };
  await assert.rejects(find(), defect);
});
