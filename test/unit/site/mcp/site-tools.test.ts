// What reading a page costs: a page is written once for all its parts, and one that is too large is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSiteTools, maxSourceBytes } from '#site/mcp/site-tools.ts';
import { memoryBundle } from '../../../support/memory-bundle.ts';

const context = { entry: { isOwnHost: () => false, basePath: '' }, content: { digest: 'd' } };

test('the parts of a page are of one text that was written once, and pages above 1 MiB are refused', async () => {
  const written: string[] = [];
  const tools = createSiteTools({
    bundle: memoryBundle({ 'page.html': '<p>text</p>', 'large.html': ' '.repeat(maxSourceBytes + 1) }),
    search: () => 'none',
    writePage: (_html, _page, path) => {
      written.push(path);
      return 'text '.repeat(200);
    },
  });
  const first = await tools.readPage({ address: '/page', length: 500 }, context);
  assert.ok('next' in first && first.next !== undefined);
  const second = await tools.readPage({ address: '/page', from: first.next, length: 500 }, context);
  assert.ok('text' in second && first.text + second.text === 'text '.repeat(200));
  assert.match(
    JSON.stringify(await tools.readPage({ address: '/large', length: 500 }, context)),
    /too large/,
  );
  assert.deepEqual(written, ['page.html']);
});
