// The token of agents: what passes, what a replaced file changes, and which files are refused.

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { openTokenFile } from '#server/mcp/mcp-token.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { manualClock } from '../manual-clock.ts';

const token = 'a-token-of-23-characters';
let file: string;
beforeEach((t) => {
  file = join(temporaryFolder(t), 'token');
});

const fields: readonly (readonly [field: string | undefined, isValid: boolean])[] = [
  [`Bearer ${token}`, true],
  [`bearer  ${token}`, true],
  [undefined, false],
  ['', false],
  ['Bearer', false],
  ['Bearer ', false],
  [token, false],
  [`Basic ${token}`, false],
  [`Bearer ${token}x`, false],
  [`Bearer ${token.slice(0, -1)}`, false],
  [`Bearer ${token} ${token}`, false],
  [`Bearer ${token.toUpperCase()}`, false],
];

for (const [field, isValid] of fields) {
  test(`Authorization ${JSON.stringify(field)} is ${isValid ? 'accepted' : 'refused'}`, async () => {
    writeFileSync(file, `${token}\n`);
    const check = await openTokenFile(file, manualClock(0), () => {});
    assert.equal(await check.isValid(field), isValid);
  });
}

test('a replaced token counts within seconds, and two lines are two tokens', async () => {
  const clock = manualClock(0);
  writeFileSync(file, token);
  const check = await openTokenFile(file, clock, () => {});
  writeFileSync(file, `${token}\nthe-next-token-is-valid-too\n`);
  assert.equal(await check.isValid('Bearer the-next-token-is-valid-too'), false);
  await clock.pass(5_000);
  assert.equal(await check.isValid('Bearer the-next-token-is-valid-too'), true);
  assert.equal(await check.isValid(`Bearer ${token}`), true);
  writeFileSync(file, 'the-next-token-is-valid-too\n');
  await clock.pass(5_000);
  assert.equal(await check.isValid(`Bearer ${token}`), false);
});

test('a file that becomes damaged is reported once, and the tokens before it stay valid', async () => {
  const clock = manualClock(0);
  const reports: unknown[] = [];
  writeFileSync(file, token);
  const check = await openTokenFile(file, clock, (fault, areKept) => reports.push(fault, areKept));
  writeFileSync(file, 'short');
  for (let round = 0; round < 3; round += 1) {
    await clock.pass(5_000);
    assert.equal(await check.isValid(`Bearer ${token}`), true);
  }
  assert.deepEqual(reports.slice(1), [true]);
  assert.doesNotMatch(String(reports[0]), /short/);
});

for (const [what, withdraw] of [
  ['deleted', () => rmSync(file)],
  ['empty', () => writeFileSync(file, '')],
  ['blank', () => writeFileSync(file, '\n \n')],
] as const) {
  test(`a file that is ${what} withdraws all tokens at the next reading, until it holds one again`, async () => {
    const clock = manualClock(0);
    const reports: unknown[] = [];
    writeFileSync(file, token);
    const check = await openTokenFile(file, clock, (_, areKept) => reports.push(areKept));
    assert.equal(await check.isValid(`Bearer ${token}`), true);
    withdraw();
    for (let round = 0; round < 3; round += 1) {
      await clock.pass(5_000);
      for (const field of [`Bearer ${token}`, 'Bearer ', undefined])
        assert.equal(await check.isValid(field), false);
    }
    assert.deepEqual(reports, [false]);
    writeFileSync(file, token);
    await clock.pass(5_000);
    assert.equal(await check.isValid(`Bearer ${token}`), true);
  });
}

const unusable: readonly (readonly [what: string, text: string, code?: string])[] = [
  ['an empty file', '', 'McpTokenMissing'],
  ['blank lines', '\n \n', 'McpTokenMissing'],
  ['a short token', 'fifteen-letters'],
  ['a token with a blank', 'a token of more than sixteen'],
  ['a token beyond ASCII', 'a-töken-of-23-characters'],
  ['eleven tokens', Array.from({ length: 11 }, (_, at) => `a-token-of-many-${at}`).join('\n')],
  ['more than 16 KiB', `${token}\n`.repeat(1000)],
];

for (const [what, text, code = 'McpTokenInvalid'] of unusable) {
  test(`${what} is refused at the start, with the remedy`, async () => {
    writeFileSync(file, text);
    await assert.rejects(
      openTokenFile(file, manualClock(0), () => {}),
      {
        code,
        message: /--mcp-token-file must hold .*write a random token/,
      },
    );
  });
}

test('a file that is not there is refused at the start', async () => {
  await assert.rejects(
    openTokenFile(file, manualClock(0), () => {}),
    { code: 'McpTokenMissing' },
  );
});
