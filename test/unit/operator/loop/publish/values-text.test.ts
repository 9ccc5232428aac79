// The values of the outputs as text: a line for each key, and every reader of YAML reads each text back as it was.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { formatValues, type ValuesGroup } from '#operator/loop/publish/values-text.ts';
import { awkwardTexts, foreignTexts } from '../../../../support/awkward-texts.ts';
import * as fc from '../../../../support/properties.ts';

test('the group has a line for each key that is given, and each text is quoted', () => {
  const group: ValuesGroup = {
    bundleUrl: `https://bucket.example.com/docs.tar.gz?X-Amz-Date=20261127T000000Z&sig=${'ab'.repeat(100)}%2F`,
    version: '20261127-101112-deadbeef',
    ref: `oci://registry.example.com:5000/docs@sha256:${'0'.repeat(64)}`,
    digest: '0'.repeat(64),
  };
  const lines = Object.entries(group).map(([key, text]) => `  ${key}: "${text}"\n`);
  assert.equal(formatValues(group), `staticExport:\n  enabled: true\n${lines.join('')}`);
  const { version } = group;
  const least = `staticExport:\n  enabled: true\n  version: "${version}"\n`;
  assert.equal(formatValues({ version }), least);
  assert.equal(formatValues({ bundleUrl: undefined, version, ref: undefined, digest: undefined }), least);
});

function readBack(text: string): void {
  const group = { bundleUrl: text, version: text, ref: text, digest: text };
  for (const reader of ['1.1', '1.2'] as const) {
    assert.deepEqual(parse(formatValues(group), { version: reader }), {
      staticExport: { enabled: true, ...group },
    });
  }
}

for (const text of [...awkwardTexts, ...foreignTexts]) {
  test(`${JSON.stringify(text)} is read back as it was, by YAML 1.1 and by YAML 1.2`, () => readBack(text));
}

const digits = fc.string({ unit: fc.constantFrom(...'0123456789e'), minLength: 64, maxLength: 64 });

test('any text is read back as it was, by YAML 1.1 and by YAML 1.2', () => {
  fc.assert(fc.property(fc.oneof(digits, fc.string({ unit: 'binary' }), fc.string()), readBack), {
    numRuns: 1000,
  });
});
