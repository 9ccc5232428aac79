// Lists of objects of every size. Answers that are too large are requested again in smaller pages, from the same token; the
// page size is kept; and one tenant's objects hide no other's.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createList } from '#operator/kube/objects/resource-list.ts';
import { staticExports } from '#operator/kube/transport/resource-path.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import * as fc from '../../../../support/properties.ts';
import { FakeServer, object } from '../fake-server.ts';
import { isRefusal, never } from '../loopback-server.ts';

/** Sizes are in units of which a page holds 16. */
const unitBytes = 256 * 1024;
/** What a list in one piece may have. */
const mostUnits = 64;

/** A server with one object for each size, which reads no answer that is larger than the call allows. */
function startList(sizes: readonly number[]) {
  const server = new FakeServer(() => 0);
  server.objects = sizes.map((_, index) => object(`o${index}`, index + 1));
  const call = server.call.bind(server);
  server.call = (given) => {
    const bound = given.maxBytes === undefined ? mostUnits : given.maxBytes / unitBytes;
    server.fits = (items, from) =>
      sizes.slice(from, from + items.length).reduce((sum, size) => sum + size, 0) <= bound;
    return call(given);
  };
  const list = createList({
    transport: server,
    resource: staticExports,
    keep: ({ metadata }) => metadata.name,
  });
  const heard = { pages: 0 };
  const count = (): void => {
    heard.pages += 1;
  };
  return { server, read: () => list(count, never), heard };
}

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `o${index}`);
const take = (asked: string[]): readonly string[] => asked.splice(0);

test('a page that is too large is requested with half as many objects, from the same continue token', async () => {
  const sizes = [...Array<number>(500).fill(0.01), ...Array<number>(300).fill(0.25)];
  const { server, read, heard } = startList(sizes);
  const { objects, resourceVersion } = await read();
  assert.deepEqual(objects, names(800));
  assert.equal(heard.pages, 6);
  assert.equal(resourceVersion, '10');
  assert.deepEqual(take(server.asked), [
    '500 from 0',
    '500 from 500',
    '250 from 500',
    '125 from 500',
    '62 from 500',
    '62 from 562',
    '62 from 624',
    '62 from 686',
    '62 from 748',
  ]);
});

test('what fitted is kept for the next list, which asks for a quarter more', async () => {
  const { server, read } = startList(Array<number>(100).fill(0.25));
  await read();
  assert.deepEqual(take(server.asked), ['500 from 0', '250 from 0', '125 from 0', '62 from 0', '62 from 62']);
  await read();
  assert.deepEqual(take(server.asked), ['78 from 0', '39 from 0', '39 from 39', '39 from 78']);
  await read();
  assert.deepEqual(take(server.asked), ['49 from 0', '49 from 49', '49 from 98']);
});

test('when large objects are gone, pages grow until they are what they were, and no further', async () => {
  const { server, read } = startList(Array<number>(20).fill(9));
  await read();
  assert.equal(take(server.asked).at(-1), '1 from 19');
  server.objects = [];
  const limits: number[] = [];
  for (let round = 0; round < 40; round += 1) {
    await read();
    limits.push(Number.parseInt(take(server.asked)[0] ?? '', 10));
  }
  assert.deepEqual(limits.slice(0, 6), [2, 3, 4, 5, 7, 9]);
  assert.equal(limits.at(-1), 500);
  assert.ok(limits.every((limit, index) => limit >= (limits[index - 1] ?? 0)));
});

test('one object that alone is too large is an error that names the way, asked for once', async () => {
  const { server, read } = startList([0.1, 17, 0.1]);
  await assert.rejects(
    read(),
    isRefusal('Unavailable', /page of one StaticExport is larger than 4 MiB.* proxy/),
  );
  assert.equal(take(server.asked).filter((asked) => asked === '1 from 1').length, 1);
});

test('a page that does not come to its end in time is asked for with half as many objects, twice a list', async () => {
  const { server, read } = startList(Array<number>(200).fill(0.01));
  server.isQuick = (count) => count <= 70;
  await assert.rejects(read(), isRefusal('Unavailable', /^too slow$/));
  assert.deepEqual(take(server.asked), ['500 from 0', '250 from 0', '125 from 0']);
  assert.deepEqual((await read()).objects, names(200));
  assert.deepEqual(take(server.asked), ['62 from 0', '62 from 62', '62 from 124', '62 from 186']);
});

test('however long nothing comes to its end, pages do not get smaller than 32, and each list is given up soon', async () => {
  const { server, read } = startList(Array<number>(100).fill(0.01));
  server.isQuick = () => false;
  for (const tries of [3, 2, 1, 1]) {
    await assert.rejects(read(), isRefusal('Unavailable', /^too slow$/));
    assert.equal(take(server.asked).length, tries);
  }
  server.isQuick = () => true;
  await read();
  assert.deepEqual(take(server.asked), ['32 from 0', '32 from 32', '32 from 64', '32 from 96']);
});

test('pages that the server forgot are read in one piece, and where that is too large in pages again', async () => {
  for (const [size, last] of [
    [0.25, ['all from 0']],
    [1, ['all from 0', '15 from 0', '15 from 15']],
  ] as const) {
    const count = size === 1 ? 65 : 100;
    const { server, read } = startList(Array<number>(count).fill(size));
    const call = server.call;
    let forgets = 1;
    server.call = async (given) => {
      if (given.query?.['continue'] !== undefined && forgets > 0) {
        forgets -= 1;
        throw new ClusterError('Gone', 'the continue parameter is too old');
      }
      return call(given);
    };
    assert.deepEqual((await read()).objects, names(count));
    const asked = take(server.asked);
    assert.deepEqual(asked.slice(asked.indexOf('all from 0')).slice(0, last.length), last);
  }
});

test('a refusal is not asked for again', async () => {
  const { server, read } = startList([1]);
  server.failList = new ClusterError('Forbidden', 'may not list');
  await assert.rejects(read(), isRefusal('Forbidden', /may not list/));
  assert.deepEqual(server.asked, []);
});

test('property: objects of any size that fits are all listed, in order and once, list after list', async () => {
  const size = fc.oneof(fc.constant(0.004), fc.double({ min: 0.01, max: 16, noNaN: true }));
  await fc.assertAsync(
    fc.asyncProperty(
      fc.array(size, { maxLength: 600 }),
      fc.integer({ min: 1, max: 5 }),
      async (sizes, rounds) => {
        const { server, read } = startList(sizes);
        for (let round = 0; round < rounds; round += 1) {
          assert.deepEqual((await read()).objects, names(sizes.length));
        }
        // Nine halvings a list at most, and otherwise only pages that came.
        assert.ok(server.asked.length <= rounds * (sizes.length + 10));
      },
    ),
    { numRuns: 60 },
  );
});
