// Reports of an outage: its beginning, its change into another, its end; and which of several is reported.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Outage, troubleOf } from '#operator/kube/watch/outage.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';

function start() {
  const told: (string | undefined)[] = [];
  return { told, outage: new Outage((trouble) => told.push(trouble?.message)) };
}

const down = (words: string) => new ClusterError('Unavailable', words);
const refused = new ClusterError('Forbidden', 'may not');

test('attempts that fail alike are one outage, another failure is another one', () => {
  const { told, outage } = start();
  for (const words of ['reset', 'refused', 'timeout']) outage.begin('watch', down(words));
  outage.begin('watch', refused);
  outage.end('watch');
  outage.end('watch');
  assert.deepEqual(told, ['reset', 'may not', undefined]);
});

test('the message of the last attempt is the present one', () => {
  const { outage } = start();
  outage.begin('watch', down('reset'));
  outage.begin('watch', down('timeout'));
  assert.equal(outage.current()?.message, 'timeout');
});

test('the first watch that opens is reported, an audit that succeeds before it is not', () => {
  const { told, outage } = start();
  outage.end('audit');
  assert.deepEqual(told, []);
  outage.end('watch');
  outage.end('audit');
  assert.deepEqual(told, [undefined]);
});

test('a watch that cannot be opened counts before one that brings nothing, and that before an audit', () => {
  const { told, outage } = start();
  outage.begin('audit', refused);
  outage.begin('heldBack', down('nothing comes'));
  outage.begin('watch', down('reset'));
  assert.equal(outage.of('audit'), refused);
  outage.end('watch');
  outage.end('heldBack');
  outage.end('audit');
  assert.deepEqual(told, ['may not', 'nothing comes', 'reset', 'nothing comes', 'may not', undefined]);
});

test('an error that is not a ClusterError is reported without its message, which may hold anything', () => {
  assert.equal(troubleOf(refused), refused);
  const found = troubleOf(new TypeError('secret'));
  assert.equal(found.code, 'Unavailable');
  assert.doesNotMatch(found.message, /secret/);
});
