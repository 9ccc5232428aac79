// Shared credentials over virtual time: how often their source is read while it fails, hangs, or gives refused credentials.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionError, type Credentials } from '#operator/kube/transport/connection.ts';
import { shareCredentials } from '#operator/kube/transport/shared-credentials.ts';
import { settle, steppedClock } from '../../../../support/stepped-clock.ts';

const never = new AbortController().signal;
const token = (text: string): Credentials => ({ headers: { Authorization: `Bearer ${text}` }, tls: {} });

/** @param answer to the asking of that number, from 1; `undefined` does not come */
function share(answer: (asking: number) => Credentials | Error | undefined) {
  const clock = steppedClock();
  let asked = 0;
  let ended = 0;
  let renewals = 0;
  const credentials = shareCredentials(
    {
      authenticate: (signal) => {
        asked += 1;
        signal.addEventListener('abort', () => {
          ended += 1;
        });
        const given = answer(asked);
        if (given === undefined) return new Promise(() => {});
        return given instanceof Error ? Promise.reject(given) : Promise.resolve(given);
      },
      renew: () => {
        renewals += 1;
      },
    },
    clock,
  );
  const figures = () => ({ asked, ended, renewals });
  const code = (signal = never): Promise<string> =>
    credentials.obtain(signal).then(
      ({ headers }) => headers['Authorization'] ?? '',
      (error: unknown) => (error instanceof ConnectionError ? error.code : 'not ours'),
    );
  return { clock, credentials, figures, code };
}

const failure = (): Error => new ConnectionError('CredentialsUnavailable', 'a plugin that fails');

test('a failing source is asked once a second, however many calls there are, and read again every ten', async () => {
  const { clock, figures, code } = share(failure);
  for (let tenth = 0; tenth < 300; tenth += 1) {
    assert.deepEqual(await Promise.all([code(), code()]), [
      'CredentialsUnavailable',
      'CredentialsUnavailable',
    ]);
    await clock.pass(100);
  }
  assert.deepEqual(figures(), { asked: 30, ended: 0, renewals: 3 });
});

test('one failure is forgotten after a second', async () => {
  const { clock, figures, code, credentials } = share((asking) => (asking === 1 ? failure() : token('good')));
  assert.equal(await code(), 'CredentialsUnavailable');
  credentials.doubt();
  assert.equal(await code(), 'CredentialsUnavailable', 'a connection that failed says nothing of it');
  await clock.pass(1_000);
  assert.equal(await code(), 'Bearer good');
  assert.deepEqual(figures(), { asked: 2, ended: 0, renewals: 1 });
});

test('a source that hangs for a day is asked once a minute, and each asking is ended', async () => {
  const { clock, figures, code } = share(() => undefined);
  for (let half = 0; half < 2_880; half += 1) {
    const late = new AbortController();
    const outcome = code(late.signal);
    await clock.pass(15_000);
    late.abort(new DOMException('', 'TimeoutError'));
    assert.match(await outcome, /^CredentialsLate$/);
    await clock.pass(15_000);
  }
  const { asked, ended } = figures();
  assert.ok(asked <= 1_440 && asked - ended <= 1, `${asked} asked, ${ended} ended`);
});

test('an aborted caller gets the reason, and the other callers get the credentials', async () => {
  const given = Promise.withResolvers<Credentials>();
  const credentials = shareCredentials(
    { authenticate: () => given.promise, renew: () => {} },
    steppedClock(),
  );
  const stop = new AbortController();
  const stopped = assert.rejects(credentials.obtain(stop.signal), /enough/);
  const patient = credentials.obtain(never);
  stop.abort(new Error('enough'));
  await stopped;
  given.resolve(token('good'));
  assert.equal((await patient).headers['Authorization'], 'Bearer good');
});

test('refused credentials are replaced once in ten seconds; a call with older ones only retries', async () => {
  const { clock, figures, credentials } = share((asking) => token(String(Math.min(asking, 2))));
  const old = await credentials.obtain(never);
  assert.deepEqual([credentials.replace(old), credentials.replace(old)], [true, true]);
  assert.equal(figures().renewals, 1);
  const fresh = await credentials.obtain(never);
  assert.equal(fresh.headers['Authorization'], 'Bearer 2');
  assert.deepEqual([credentials.replace(old), credentials.replace(fresh)], [true, false]);
  await clock.pass(1_000);
  const same = await credentials.obtain(never);
  assert.equal(credentials.replace(same), false, 'read again, but the same');
  await clock.pass(9_000);
  assert.equal(credentials.replace(same), true);
  assert.equal(figures().renewals, 2);
});

test('credentials that changed since, without another read, are worth a retry', async () => {
  const { clock, figures, credentials } = share((asking) => token(String(asking)));
  const first = await credentials.obtain(never);
  assert.equal(credentials.replace(first), true);
  const second = await credentials.obtain(never);
  await clock.pass(1_000);
  const third = await credentials.obtain(never);
  assert.deepEqual([credentials.replace(second), credentials.replace(third)], [true, false]);
  assert.equal(figures().renewals, 1);
});

test('credentials requested before the source was read again are not kept', async () => {
  const answers: ((credentials: Credentials) => void)[] = [];
  const clock = steppedClock();
  const credentials = shareCredentials(
    { authenticate: () => new Promise((resolve) => answers.push(resolve)), renew: () => {} },
    clock,
  );
  const first = credentials.obtain(never);
  answers[0]?.(token('old'));
  const refused = await first;
  await clock.pass(1_000);
  const slow = credentials.obtain(never);
  assert.equal(credentials.replace(refused), true);
  const next = credentials.obtain(never);
  assert.equal(answers.length, 3);
  answers[2]?.(token('new'));
  assert.equal((await next).headers['Authorization'], 'Bearer new');
  answers[1]?.(token('old'));
  await slow;
  await settle();
  assert.equal((await credentials.obtain(never)).headers['Authorization'], 'Bearer new');
});
