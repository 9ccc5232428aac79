// What only the whole list of an archive's files shows: names that collide, the wrapping folder.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBytes } from '../../../support/read-archive.ts';
import { tarOf } from '../../../support/tar-builder.ts';

test('two Unicode forms of a name are named both, and look different', async () => {
  const [composed, decomposed] = ['guides/\u00fcber.html', 'guides/u\u0308ber.html'];
  await assert.rejects(readBytes(tarOf({ 'index.html': 'home', [decomposed]: 'a', [composed]: 'b' })), {
    code: 'UnicodeTwins',
    message: /\("guides\/u\\u\{308\}ber\.html" and "guides\/\\u\{fc\}ber\.html"\)$/,
  });
  const deep = 'folder/'.repeat(8);
  await assert.rejects(readBytes(tarOf({ [`${deep}e\u0301`]: 'a', [`${deep}\u00e9`]: 'b' })), {
    message: /\("…older\/folder\/folder\/e\\u\{301\}" and "…older\/folder\/folder\/\\u\{e9\}"\)$/,
  });
});
