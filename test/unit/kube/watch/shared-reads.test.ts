// Reads of one Secret shared over virtual time: how many requests there are, when each is sent, and who hears what.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectCluster } from '../../../../src/kube/cluster.ts';
import { shareSecretReads } from '../../../../src/kube/watch/shared-reads.ts';
import { ClusterError } from '../../../../src/wire/cluster-error.ts';
import { settle, steppedClock } from '../../../support/stepped-clock.ts';

type Secret = NonNullable<Awaited<ReturnType<ObjectCluster['readSecret']>>>;

const never = new AbortController().signal;
const notAsked = (): never => assert.fail('only Secrets are read here');
const isAborted = { code: 'Aborted', message: 'stopped while asking to get secrets "key" in namespace docs' };

const secret = (resourceVersion: string): Secret => ({
  metadata: {
    namespace: 'docs',
    name: 'key',
    uid: 'uid',
    resourceVersion,
    annotations: {},
    labels: {},
    ownerReferences: [],
  },
  data: {},
});

/** Requests in the order in which they are sent; each is answered by the test. */
function share() {
  const clock = steppedClock();
  const requests: (PromiseWithResolvers<Secret | undefined> & {
    readonly name: string;
    readonly signal: AbortSignal;
  })[] = [];
  const cluster = shareSecretReads(
    {
      readStaticExport: notAsked,
      readConfigMap: notAsked,
      applySecret: notAsked,
      applyConfigMap: notAsked,
      editDocument: notAsked,
      writeStatus: notAsked,
      readSecret: ({ name }, signal) => {
        const request = { ...Promise.withResolvers<Secret | undefined>(), name, signal };
        requests.push(request);
        const stop = (): void => request.reject(new ClusterError('Aborted', 'stopped'));
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop);
        return request.promise;
      },
    },
    clock,
  );
  const read = (signal = never, name = 'key') => cluster.readSecret({ namespace: 'docs', name }, signal);
  const version = async (asked: ReturnType<typeof read>): Promise<string | undefined> =>
    (await asked)?.metadata.resourceVersion;
  return { clock, requests, read, version };
}

test('whoever asks while a request is under way shares the next one, which is sent when that has ended', async () => {
  const { requests, read, version } = share();
  const first = read();
  const others = [read(), read(), read()];
  await settle();
  assert.equal(requests.length, 1);
  requests[0]?.resolve(secret('1'));
  await settle();
  assert.equal(requests.length, 2);
  requests[1]?.resolve(secret('2'));
  assert.equal(await version(first), '1');
  assert.deepEqual(await Promise.all(others.map(version)), ['2', '2', '2']);
});

test('an answer is never of a request that was sent before it was asked for, and none is kept', async () => {
  const { requests, read, version } = share();
  const asked = [read()];
  for (let turn = 0; turn < 5; turn += 1) {
    await settle();
    asked.push(read());
    requests[turn]?.resolve(secret(String(turn)));
  }
  await settle();
  requests[5]?.resolve(secret('5'));
  assert.deepEqual(await Promise.all(asked.map(version)), ['0', '1', '2', '3', '4', '5']);
  await settle();
  const later = read();
  assert.equal(requests.length, 7);
  requests[6]?.resolve(undefined);
  assert.equal(await later, undefined);
});

test('Secrets of other names have requests of their own, at once', async () => {
  const { requests, read } = share();
  const asked = [read(), read(never, 'other')];
  assert.deepEqual(
    requests.map(({ name }) => name),
    ['key', 'other'],
  );
  for (const { resolve } of requests) resolve(undefined);
  assert.deepEqual(await Promise.all(asked), [undefined, undefined]);
});

test('a request that hangs holds up those who ask later for a tenth of a second, not until its own end', async () => {
  const { clock, requests, read, version } = share();
  const hanging = read();
  const next = read();
  await clock.pass(99);
  assert.equal(requests.length, 1);
  await clock.pass(1);
  assert.equal(requests.length, 2);
  requests[1]?.resolve(secret('2'));
  assert.equal(await version(next), '2');
  requests[0]?.resolve(secret('1'));
  assert.equal(await version(hanging), '1');
  assert.equal(clock.waiting(), 0);
});

test('a failure is told to all who shared the request, and to nobody else', async () => {
  const { requests, read, version } = share();
  const first = read();
  const others = [read(), read()];
  requests[0]?.reject(new ClusterError('Forbidden', 'no'));
  await assert.rejects(first, { code: 'Forbidden' });
  await settle();
  requests[1]?.reject(new ClusterError('Unavailable', 'gone'));
  for (const other of others) await assert.rejects(other, { code: 'Unavailable' });
  const later = read();
  requests[2]?.resolve(secret('3'));
  assert.equal(await version(later), '3');
});

test('who stops asking hears so at once; the request goes on for the others, and ends with the last of them', async () => {
  const { requests, read, version } = share();
  const stop = [new AbortController(), new AbortController(), new AbortController()] as const;
  const alone = read(stop[0].signal);
  stop[0].abort();
  await assert.rejects(alone, isAborted);
  assert.equal(requests[0]?.signal.aborted, true);
  await settle();
  const first = read(stop[1].signal);
  const [leaving, staying] = [read(stop[2].signal), read()];
  requests[1]?.resolve(secret('1'));
  assert.equal(await version(first), '1');
  await settle();
  stop[2].abort();
  await assert.rejects(leaving, isAborted);
  assert.equal(requests[2]?.signal.aborted, false);
  requests[2]?.resolve(secret('2'));
  assert.equal(await version(staying), '2');
});

test('nobody shares a request that all have given up before it was sent', async () => {
  const { requests, read, version } = share();
  const stop = new AbortController();
  const first = read();
  const leaving = read(stop.signal);
  stop.abort();
  await assert.rejects(leaving, isAborted);
  const late = read();
  requests[0]?.resolve(secret('1'));
  assert.equal(await version(first), '1');
  await settle();
  requests.find(({ signal }, index) => index > 0 && !signal.aborted)?.resolve(secret('2'));
  assert.equal(await version(late), '2');
});

test('who has stopped before asking is not answered, and nothing is sent for nobody', async () => {
  const { requests, read } = share();
  await assert.rejects(read(AbortSignal.abort()), isAborted);
  assert.equal(requests.length, 0);
});
