// Signatures that the real minisign accepts, its keys, and what is refused.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseVerifyKey, signBytes, verifyBytes } from '#mirror/kit/minisign.ts';
import { parseSignKey } from '#mirror/kit/minisign-secret-key.ts';
import { maySkip } from '../../../support/may-skip.ts';
import { encryptedKey, minisignKeys } from '../../../support/minisign-keys.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const work = temporaryFolder();
const isMissing = spawnSync('minisign', ['-v']).error !== undefined;
const skip = maySkip('minisign', isMissing && 'minisign is not installed');
const file = (name: string): string => join(work, name);
const message = Buffer.from('{"format":1}\n');
const comment = 'timestamp:1769860800\tfile:kit.json\thashed';

const keys = await minisignKeys();
const signature = signBytes(message, comment, keys.key);

test('minisign accepts our signature, and shows its comment', { skip }, async () => {
  execFileSync('minisign', ['-G', '-W', '-p', file('a.pub'), '-s', file('a.key')]);
  const key = await parseSignKey(readFileSync(file('a.key'), 'utf8'), undefined);
  writeFileSync(file('kit.json'), message);
  writeFileSync(file('kit.json.minisig'), signBytes(message, comment, key));
  const shown = execFileSync('minisign', ['-V', '-p', file('a.pub'), '-m', file('kit.json')], {
    encoding: 'utf8',
  });
  assert.match(shown, /^Signature and comment signature verified\nTrusted comment: timestamp:1769860800\t/);
  const read = parseVerifyKey(readFileSync(file('a.pub'), 'utf8')) ?? assert.fail();
  assert.equal(read.id, key.id);
  verifyBytes(message, readFileSync(file('kit.json.minisig'), 'utf8'), read);
});

test('a public key is read as a file and as its line', () => {
  assert.equal(parseVerifyKey(keys.publicText)?.id, keys.key.id);
  assert.equal(parseVerifyKey(keys.publicLine)?.id, keys.key.id);
  assert.equal(parseVerifyKey(`${keys.publicLine}\n`)?.id, keys.key.id);
});

test('what is not a public key is refused', () => {
  const { publicLine, secretText } = keys;
  const texts = [
    '',
    'RW',
    secretText,
    `x${publicLine}`,
    publicLine.slice(0, -4),
    `${publicLine}\n${publicLine}\nx`,
  ];
  for (const text of [...texts, publicLine.replace(/^RW/, 'AA')])
    assert.equal(parseVerifyKey(text), undefined, text);
});

test('what is not a secret key is refused', async () => {
  const { publicText, secretText } = keys;
  for (const text of ['', publicText, secretText.slice(0, -9), secretText.replace('RWQAAEIy', 'RWQBAEIy')]) {
    await assert.rejects(parseSignKey(text, undefined), { code: 'SignKeyInvalid' });
  }
});

test('a secret key whose halves do not belong together is refused', async () => {
  const [head = '', line = ''] = keys.secretText.split('\n');
  const bytes = Buffer.from(line, 'base64');
  bytes[70] = (bytes[70] ?? 0) ^ 1;
  await assert.rejects(parseSignKey(`${head}\n${bytes.toString('base64')}\n`, undefined), {
    code: 'SignKeyInvalid',
  });
});

const encrypted = encryptedKey.text;

test('an encrypted key needs its password, and no other', async () => {
  await assert.rejects(parseSignKey(encrypted, undefined), {
    code: 'SignKeyEncrypted',
    message: /minisign -G -W/,
  });
  await assert.rejects(parseSignKey(encrypted, 'hunter3'), { code: 'SignPasswordWrong' });
  const key = await parseSignKey(encrypted, encryptedKey.password);
  verifyBytes(message, signBytes(message, comment, key), key);
});

test('an encrypted key with a cost beyond minisign’s is refused before it takes the memory', async () => {
  const [head = '', line = ''] = encrypted.split('\n');
  const bytes = Buffer.from(line, 'base64');
  bytes.writeBigUInt64LE(2n ** 60n, 38);
  bytes.writeBigUInt64LE(2n ** 60n, 46);
  await assert.rejects(parseSignKey(`${head}\n${bytes.toString('base64')}\n`, 'x'), {
    code: 'SignKeyInvalid',
  });
});

test('the same bytes, comment and key give the same signature', () => {
  assert.equal(signBytes(message, comment, keys.key), signature);
});

test('a signature of other bytes, or with another comment, is refused', () => {
  const code = { code: 'SignatureInvalid' };
  assert.throws(() => verifyBytes(Buffer.from('other'), signature, keys.key), code);
  assert.throws(() => verifyBytes(message, signature.replace('timestamp:1', 'timestamp:2'), keys.key), code);
});

test('a signature has one text: every changed byte is refused', () => {
  for (let at = 0; at < signature.length; at += 1) {
    for (const other of ['A', '\n', ' ', 'g']) {
      if (signature[at] === other) continue;
      const changed = `${signature.slice(0, at)}${other}${signature.slice(at + 1)}`;
      assert.throws(() => verifyBytes(message, changed, keys.key), { code: 'SignatureInvalid' }, `${at}`);
    }
  }
  for (const longer of [`${signature}\n`, `${signature}x`, signature.slice(0, -1), '']) {
    assert.throws(() => verifyBytes(message, longer, keys.key), { code: 'SignatureInvalid' });
  }
});
