// The file of authorities: taken as it is where it holds certificates, refused at the start where it does not.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { rootCertificates } from 'node:tls';
import { openCaFile, readCaFile } from '#platform/http/ca-certificates.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'authorities-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const [one = '', other = ''] = rootCertificates;

test('no file is no authorities', async () => {
  assert.equal(await readCaFile(undefined), undefined);
});

test('a file of certificates is returned whole, words between them included', async () => {
  const file = join(folder, 'two.pem');
  const text = `# our own\n${one}\n\nsubject: the other\n${other}\n`;
  await writeFile(file, text);
  assert.equal(await readCaFile(file), text);
});

const refused: readonly (readonly [string, string, RegExp])[] = [
  ['an empty file', '', /holds no certificate in PEM/],
  ['another kind of file', 'build-7\n', /holds no certificate in PEM/],
  ['a certificate cut short', one.slice(0, 200), /holds no certificate in PEM/],
  ...[`${one}${other}`, `${one} # ours\n${other}`, `${one}\n ${other}`, `${one}\nours: ${other}`].map(
    (text) =>
      ['a line that is not the marker alone', text, /begins or ends in the middle of a line/] as const,
  ),
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
    await assert.rejects(readCaFile(file), { code: 'ExtraCaInvalid', message: words });
  });
}

test('wherever a file breaks off, it is refused or holds every certificate that was begun', async () => {
  const file = join(folder, 'cut.pem');
  const first = `${one}\n`;
  const whole = `${first}# theirs\n${other}`;
  for (let end = first.length + '# theirs\n'.length + 1; end < whole.length; end += 1) {
    await writeFile(file, whole.slice(0, end));
    await assert.rejects(readCaFile(file), { code: 'ExtraCaInvalid' }, `${end} of ${whole.length}`);
  }
});

test('what OpenSSL reads is taken: line ends of Windows, a mark of byte order, blanks after a marker, words between', async () => {
  const file = join(folder, 'odd.pem');
  for (const text of [
    `${one}\n${other}`.replaceAll('\n', '\r\n'),
    `\uFEFF${one}\n`,
    `${one} \t\n\n- ours -----\n--\n# theirs\n${other}\n\nthe end`,
  ]) {
    await writeFile(file, text);
    assert.equal(await readCaFile(file), text);
  }
});

test('a file that is not there is refused by name of the flag and code', async () => {
  await assert.rejects(readCaFile(join(folder, 'absent')), {
    code: 'ExtraCaUnreadable',
    message: /--extra-ca-file cannot be read \(ENOENT\)/,
  });
});

test('a file that is replaced is read anew; one that cannot be used is told once, and what was read before stays', async () => {
  const file = join(folder, 'renewed.pem');
  await writeFile(file, one);
  const told: string[] = [];
  const authorities = await openCaFile(file, (error) => told.push(publishableCode(error)));
  assert.equal(await authorities.current(), one);
  await writeFile(file, other);
  assert.equal(await authorities.current(), other);
  await writeFile(file, 'half of it');
  for (let look = 0; look < 3; look += 1) assert.equal(await authorities.current(), other);
  await rm(file);
  assert.equal(await authorities.current(), other);
  await writeFile(file, one);
  assert.equal(await authorities.current(), one);
  await writeFile(file, '');
  assert.equal(await authorities.current(), one);
  assert.deepEqual(told, ['ExtraCaInvalid', 'ExtraCaUnreadable', 'ExtraCaInvalid']);
});

test('at the start there is nothing to go by, and a file that cannot be used is an error', async () => {
  const file = join(folder, 'none.pem');
  await assert.rejects(
    openCaFile(file, () => assert.fail('told')),
    { code: 'ExtraCaUnreadable' },
  );
});
