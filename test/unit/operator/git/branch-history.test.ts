// Where branches parted and whose commits are in between, over small histories drawn as parent lists.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareHistories } from '#operator/git/branch-history.ts';
import type { Commit, Person } from '#operator/git/object-bytes.ts';

const operator: Person = { name: 'operator', email: 'o@example.com' };
const other: Person = { name: 'reviewer', email: 'r@example.com' };

/** Each line: `id parents`, with `*` for a commit of another person; a parent without a line was not fetched. */
function historyOf(...lines: readonly string[]) {
  const commits = new Map(
    lines.map((line): readonly [string, Commit] => {
      const [id = '', ...parents] = line.split(' ');
      const oid = id.replace('*', '');
      const author = id.endsWith('*') ? other : operator;
      return [oid, { oid, tree: '', parents, author, committer: author }];
    }),
  );
  return { readCommit: async (oid: string) => commits.get(oid) };
}

async function compare(lines: readonly string[], head: string, base: string) {
  const history = await compareHistories(historyOf(...lines), head, base, operator);
  return { ...history, mergeBase: history.mergeBase?.oid };
}

test('a branch of this author alone is ours, down to where it started', async () => {
  const lines = ['a*', 'b* a', 'c* b', 'x a', 'y x'];
  assert.deepEqual(await compare(lines, 'y', 'c'), {
    isMerged: false,
    mergeBase: 'a',
    isOurs: true,
    hasForeign: false,
  });
});

test('one commit of another person makes it not ours', async () => {
  const { isOurs, hasForeign } = await compare(['a*', 'x a', 'y* x', 'z y'], 'z', 'a');
  assert.deepEqual([isOurs, hasForeign], [false, true]);
  const committed = historyOf('a*', 'x a');
  const readCommit = async (oid: string) => {
    const commit = await committed.readCommit(oid);
    return commit && { ...commit, committer: other };
  };
  assert.equal((await compareHistories({ readCommit }, 'x', 'a', operator)).isOurs, false);
});

test('a branch that the other one holds is merged', async () => {
  assert.equal((await compare(['a*', 'x a', 'b* a x'], 'x', 'b')).isMerged, true);
  assert.equal((await compare(['a*', 'x a'], 'a', 'x')).isMerged, true);
});

test('a history that ends at the fetched depth is not ours, and has no known start', async () => {
  const result = await compare(['c* b', 'y x'], 'y', 'c');
  assert.deepEqual(result, { isMerged: false, mergeBase: undefined, isOurs: false, hasForeign: false });
});

test('a branch that was merged from its base has two starts, and none is chosen', async () => {
  const result = await compare(['a*', 'b* a', 'c* b', 'x a', 'y x b'], 'y', 'c');
  assert.equal(result.mergeBase, undefined);
});
