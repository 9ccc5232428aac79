import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PublishableError, publishableCode, publishableMessage } from '#platform/wire/publishable-error.ts';

class ExampleError extends PublishableError {}

test("this project's errors are published unchanged, and keep their cause", () => {
  const cause = new Error('GET https://h/?sig=secret');
  const error = new ExampleError('LinkExpired', 'the link is dead; wait for a fresh one', { cause });
  assert.equal(error.name, 'ExampleError');
  assert.equal(publishableCode(error), 'LinkExpired');
  assert.equal(publishableMessage(error), 'the link is dead; wait for a fresh one');
  assert.equal(error.cause, cause);
});

test('a foreign message is never repeated', () => {
  const error = new TypeError('fetch failed: https://h/?sig=secret');
  assert.equal(publishableMessage(error), 'unexpected TypeError');
});

test('the code of a system error is found among the causes', () => {
  const system = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:443'), { code: 'ECONNREFUSED' });
  assert.equal(publishableCode(new TypeError('fetch failed', { cause: system })), 'ECONNREFUSED');
});

test('a code that is not the system’s is not published', () => {
  assert.equal(publishableCode(Object.assign(new Error('x'), { code: 'https://h/?sig=secret' })), 'Error');
});

test('a value that is not an error has a code, and circular causes end', () => {
  assert.equal(publishableCode('boom'), 'UnknownError');
  const circle = new Error('round');
  circle.cause = circle;
  assert.equal(publishableCode(circle), 'Error');
});
