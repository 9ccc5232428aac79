// Route tables that are begun before their bundle is verified: handed out for the same list of files only.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRoutesAhead } from '#server/content/routes-ahead.ts';
import { storedBundle } from '../fixtures.ts';

const { index } = storedBundle({ 'a.html': 'one', 'b.html': 'two' });

test('a table that was begun is the one that is taken, and once', async () => {
  let pauses = 0;
  const routes = createRoutesAhead(async () => {
    pauses += 1;
  });
  const many = storedBundle(Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`${at}.html`, ''])));
  routes.begin(many.index);
  await new Promise((resolve) => setImmediate(resolve));
  const before = pauses;
  assert.ok(before > 0, 'it is made in slices, before anybody takes it');
  const table = await routes.take(many.index);
  assert.equal(table.size, 600);
  assert.equal(pauses, before, 'nothing was made twice');
  assert.notEqual(await routes.take(many.index), table);
  assert.ok(pauses > before);
});

test('a table of other files is never handed out, even under the same digest', async () => {
  const routes = createRoutesAhead(async () => {});
  routes.begin({ ...index, files: index.files.slice(1) });
  const table = await routes.take(index);
  assert.equal(table.size, 2);
  assert.ok(table.find('/a.html') !== undefined);
  routes.begin({ ...index, files: [...index.files] });
  assert.equal((await routes.take(index)).size, 2);
});
