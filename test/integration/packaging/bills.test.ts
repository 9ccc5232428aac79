// The bills of materials of a release, judged by the validators of both formats: of all packages that a program may hold, so that the odd
// ones among them are judged too.

import assert from 'node:assert/strict';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { readBaseLock } from '../../../packaging/base/base-lock.ts';
import { baseParts } from '../../../packaging/base/base-parts.ts';
import { type BillSubject, cyclonedxBill, spdxBill } from '../../../packaging/release/software-bill.ts';
import { findBillValidator } from '../../support/bill-validator.ts';
import { mustRun, runCommand } from '../../support/command.ts';
import { maySkip } from '../../support/may-skip.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** npm wants the packages in the folder itself, and a further work tree may have a link to them. */
const installed = dirname(realpathSync(resolve(import.meta.dirname, '../../../node_modules')));

const root = resolve(import.meta.dirname, '../../..');
const readText = (name: string): string => readFileSync(join(root, name), 'utf8');
const subject: BillSubject = {
  ...{ name: 'static-export-operator', version: '1.2.3', commit: 'c0ffee', time: '2026-01-02T03:04:05.000Z' },
  isPart: () => true,
  more: baseParts(readBaseLock(readText('packaging/base/base-lock.json')), readText('package-lock.json')),
};

for (const [form, bill, [valid, broken]] of [
  ['cyclonedx', cyclonedxBill, ['"type": "library"', '"type": "box"']],
  ['spdx', spdxBill, ['"dataLicense": "CC0-1.0"', '"dataLicense": "MIT"']],
] as const) {
  test(`the ${form} bill is valid for the validator of its format`, async (t) => {
    const found = await findBillValidator();
    if ('missing' in found) {
      t.skip(maySkip('jsonschema', found.missing) || '');
      return;
    }
    const listed = await mustRun([
      'npm',
      '--prefix',
      installed,
      'sbom',
      '--omit=dev',
      `--sbom-format=${form}`,
    ]);
    const fromNpm: unknown = JSON.parse(listed);
    const path = join(temporaryFolder(t), 'bill.json');
    const judge = async (content: string) => {
      writeFileSync(path, content);
      return runCommand([...found.command, form, path]);
    };
    const judged = await judge(bill(fromNpm, subject));
    assert.equal(judged.code, 0, `${judged.stdout}${judged.stderr}`);
    const small = bill(fromNpm, { ...subject, isPart: () => false });
    assert.ok(small.includes(valid));
    assert.equal((await judge(small.replace(valid, broken))).code, 1);
  });
}
