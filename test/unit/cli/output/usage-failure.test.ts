// Which format a wrong command line asks for.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askedFormat } from '#cli/output/usage-failure.ts';

for (const [args, variable, format] of [
  [['get', '-o', 'json', '--nope'], undefined, 'json'],
  [['nope', '--output=yaml'], undefined, 'yaml'],
  [['get', '--output', 'json'], undefined, 'json'],
  [['get', '-ojson'], undefined, 'json'],
  [['get', '-o=json'], undefined, 'json'],
  [['get', '-qo', 'json'], undefined, 'json'],
  [['get', '-qojson'], undefined, 'json'],
  [['get', '-o', 'json', '-o', 'yaml'], undefined, 'yaml'],
  [['get', '-o', 'jsn'], undefined, 'text'],
  [['get', '-o'], undefined, 'text'],
  [['get', '-nfoo', '-o', 'json', '-lfoo'], undefined, 'json'],
  [['get'], 'json', 'json'],
  [['get', '-o', 'text'], 'json', 'text'],
  [[], 'xml', 'text'],
] as const) {
  test(`"${args.join(' ')}"${variable === undefined ? '' : ` with the variable ${variable}`} asks for ${format}`, () => {
    assert.equal(askedFormat(args, variable), format);
  });
}
