// The readers that never stop: what they count as failed, and what as mixed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashOf, type OpenPath, startSteadyRequests } from '#cli/demo/steady-requests.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const editionOf = (text: string) => new Map([['/', hashOf(bytes(text))]]);

/** Each answer in its order; the last one again and again. */
async function talliesOf(answers: readonly (string | number | Error)[]) {
  const clock = virtualClock();
  const open: OpenPath = async () => {
    const answer = (answers.length > 1 ? left.shift() : undefined) ?? answers.at(-1) ?? 200;
    if (answer instanceof Error) throw answer;
    return typeof answer === 'number'
      ? { status: answer, body: bytes('') }
      : { status: 200, body: bytes(answer) };
  };
  const left = [...answers];
  const readers = startSteadyRequests(open, 10, editionOf('old'), clock);
  readers.expect(editionOf('new'));
  await clock.pass(100 * answers.length + 50);
  return readers.stop();
}

test('requests go on at their rate, and bytes of either edition are right', async () => {
  const tally = await talliesOf(['old', 'old', 'new', 'new']);
  assert.deepEqual(tally, { requests: 4, failed: 0, mixed: 0, examples: [] });
});

test('a status other than 200 and a lost connection are failures', async () => {
  const lost = Object.assign(new Error('lost'), { code: 'ECONNRESET' });
  const { failed, mixed, examples } = await talliesOf(['old', 503, lost, 'new']);
  assert.deepEqual([failed, mixed], [2, 0]);
  assert.deepEqual(examples, ['/: status 503', '/: ECONNRESET']);
});

test('the old edition after the new one is mixed, and so are bytes of no edition', async () => {
  const { failed, mixed, examples } = await talliesOf(['old', 'new', 'old', 'other', 'new']);
  assert.deepEqual([failed, mixed], [0, 2]);
  assert.deepEqual(examples, ['/: the old edition after the new one', '/: bytes of no edition']);
});
