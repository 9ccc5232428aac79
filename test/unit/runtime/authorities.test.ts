// The file of authorities: taken as it is where it holds certificates, refused at the start where it does not.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { rootCertificates } from 'node:tls';
import { readAuthorities } from '../../../src/runtime/authorities.ts';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'authorities-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const [one = '', other = ''] = rootCertificates;

test('no file is no authorities', async () => {
  assert.equal(await readAuthorities(undefined), undefined);
});

test('a file of certificates is returned whole, words between them included', async () => {
  const file = join(folder, 'two.pem');
  const text = `# our own\n${one}\n\nsubject: the other\n${other}\n`;
  await writeFile(file, text);
  assert.equal(await readAuthorities(file), text);
});

const refused: readonly (readonly [string, string, RegExp])[] = [
  ['an empty file', '', /holds no certificate in PEM/],
  ['another kind of file', 'build-7\n', /holds no certificate in PEM/],
  ['a certificate cut short', one.slice(0, 200), /holds no certificate in PEM/],
  [
    'a damaged second certificate',
    `${one}\n${other.replace(/MII/, 'AAA')}`,
    /certificate 2 in it is damaged/,
  ],
];

for (const [what, text, words] of refused) {
  test(`${what} is refused with words that name the flag`, async () => {
    const file = join(folder, 'wrong.pem');
    await writeFile(file, text);
    await assert.rejects(readAuthorities(file), { code: 'ExtraCaInvalid', message: words });
  });
}

test('a file that is not there is refused by name of the flag and code', async () => {
  await assert.rejects(readAuthorities(join(folder, 'absent')), {
    code: 'ExtraCaUnreadable',
    message: /--extra-ca-file cannot be read \(ENOENT\)/,
  });
});
