// The values of the outputs as text: equal to what the library writes, and read back by every reader of YAML.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, stringify } from 'yaml';
import { formatValues, type ValuesGroup } from '../../../../src/loop/publish/values-text.ts';
import * as fc from '../../../support/properties.ts';

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
const digits = fc.string({ unit: fc.constantFrom(...'0123456789e'), minLength: 64, maxLength: 64 });
const stamp = fc.date({ min: new Date('2000-01-01'), max: new Date('2099-01-01'), noInvalidDate: true });
const version = fc
  .tuple(stamp, hex(8))
  .map(([at, end]) => `${at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}-${end}`);
const bundleUrl = fc
  .tuple(fc.webUrl({ withQueryParameters: false }), hex(64))
  .map(
    ([address, signature]) =>
      `${address.replaceAll(/[^\w./:?&=%+~@-]/g, '')}?X-Amz-Date=20261127T000000Z&sig=${signature}%2F`,
  );
const usual: fc.Arbitrary<ValuesGroup> = fc.record(
  {
    bundleUrl,
    version,
    ref: hex(64).map((sha) => `oci://registry.example.com:5000/docs@sha256:${sha}`),
    digest: fc.oneof(hex(64), digits),
  },
  { requiredKeys: ['version'] },
);

test('addresses, versions and digests are written as the library writes them', () => {
  fc.assert(
    fc.property(usual, ({ bundleUrl, version, ref, digest }) => {
      const staticExport = {
        enabled: true,
        ...(bundleUrl !== undefined && { bundleUrl }),
        version,
        ...(ref !== undefined && { ref }),
        ...(digest !== undefined && { digest }),
      };
      const written = stringify({ staticExport }, { lineWidth: 0 });
      assert.equal(formatValues({ bundleUrl, version, ref, digest }), written);
    }),
    { numRuns: 500 },
  );
});

const awkward = fc.constantFrom(
  ...[
    'yes',
    'No',
    'on',
    'null',
    '~',
    '',
    'true',
    '1',
    '0x1f',
    '1e3',
    'e3',
    'E+0',
    '1_000',
    '12:30:45',
    '2026-11-27',
    '0b1',
    '0o7',
  ],
  ...[
    '- a',
    'a: b',
    'a #b',
    'a:',
    '"',
    "'",
    '{',
    '[',
    '&a',
    '*a',
    '!a',
    '|',
    '>',
    '%a',
    '@a',
    '`a',
    'a\nb',
    '\t',
    'é\u0085',
  ],
);

test('any text is read back as it was, by YAML 1.1 and by YAML 1.2', () => {
  fc.assert(
    fc.property(fc.oneof(awkward, fc.string({ unit: 'binary' }), fc.string()), (text) => {
      const group = { bundleUrl: text, version: text, ref: text, digest: text };
      for (const reader of ['1.1', '1.2'] as const) {
        assert.deepEqual(parse(formatValues(group), { version: reader }), {
          staticExport: { enabled: true, ...group },
        });
      }
    }),
    { numRuns: 1000 },
  );
});
