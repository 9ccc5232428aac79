// That the operator and the servers judge an archive alike: nothing is promoted that a server would refuse. Archives of some
// verdicts are tried at both entries as they are, the operator's port and a running server; and both entries are shown to be
// the same module with the same limits. Every archive of the table is in test/extended/agreement.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { defaultLimits } from '#bundle/limits.ts';
import { operatorProgram } from '#operator/flags.ts';
import { readInvocation } from '#platform/runtime/flags/flags.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { bundleServer } from '#server/server-flags.ts';
import { eventually } from '../support/eventually.ts';
import { noise } from '../support/noise.ts';
import { spread } from '../support/spread.ts';
import {
  firstOfEachVerdict,
  judgeByBoth,
  linkOf,
  openOperatorServices,
  refusalIn,
} from './archive-agreement.ts';
import { bundleDocument, makeArchive } from './server/archive.ts';
import { startLinkServer } from './server/link-server.ts';
import { prepareSite } from './server/served-site.ts';

const sources = join(import.meta.dirname, '../../src');

test('an archive of every fourth verdict is judged alike, and gets the same digest', async (t) => {
  const archives = firstOfEachVerdict();
  const isTaken = ({ verdict }: (typeof archives)[number]): boolean => /^(?:taken|normalised)/.test(verdict);
  const [taken, rejected] = [archives.filter(isTaken), archives.filter((one) => !isTaken(one))];
  const known = `${taken.length} taken and ${rejected.length} rejected`;
  assert.ok(taken.length + rejected.length >= 40 && rejected.length >= 35, known);
  const chosen = [...spread(taken, 2), ...spread(rejected, 10)];
  const verdicts = await judgeByBoth(chosen);
  t.diagnostic(`${verdicts.taken} taken and ${verdicts.rejected} rejected, by both`);
  assert.deepEqual(verdicts, { taken: 2, rejected: 10 });
});

test('both have their archives read by the same module in the same worker, and by nothing else', async () => {
  const read = (path: string): Promise<string> => readFile(join(sources, path), 'utf8');
  for (const path of ['operator/services/external-services.ts', 'server/source/link-source.ts']) {
    assert.match(
      await read(path),
      /import \{ prepareInWorker \} from '#bundle\/prepare\/preparation\.ts';/,
      path,
    );
  }
  for (const path of ['bin/operator.ts', 'bin/bundle-server.ts']) {
    assert.match(await read(path), /new URL\(`\.\/bundle-worker\./, path);
  }
  assert.match(await read('bundle/prepare/preparation-run.ts'), /import \{ readArchive \} from/);
});

test('what is larger than a resource lets its servers have is refused by both, with the limit in words', async () => {
  const links = await startLinkServer();
  const limit = 64 * 1024;
  const site = await prepareSite();
  const services = await openOperatorServices();
  try {
    const flags = [`--max-bundle-size=${limit}`, `--max-archive-size=${limit}`];
    await site.start(...flags);
    const small = 'x'.repeat(limit / 2);
    const cases = {
      ArchiveTooLarge: { 'index.html': noise(limit) },
      ContentTooLarge: { 'index.html': 'x'.repeat(limit + 1) },
    };
    for (const [code, content] of Object.entries(cases)) {
      links.put(code, await makeArchive(content));
      await assert.rejects(
        services.bundles.inspect(linkOf(links.link(code)), AbortSignal.timeout(60_000), limit),
        (error) =>
          error instanceof PublishableError &&
          error.kind === 'refused' &&
          error.code === code &&
          error.message.includes('(64KiB: spec.promotion.maxBundleSize'),
      );
      await site.mount(bundleDocument({ version: code, link: links.link(code) }));
      await eventually(`a verdict on ${code}`, () =>
        refusalIn(site.output(), code) === code ? true : Promise.resolve(undefined),
      );
    }
    links.put('small', await makeArchive({ 'index.html': small }));
    const { digest } = await services.bundles.inspect(
      linkOf(links.link('small')),
      AbortSignal.timeout(60_000),
      limit,
    );
    await site.mount(bundleDocument({ version: 'small', link: links.link('small') }));
    await site.until('the small one is served', ({ active }) => active?.digest === digest);
  } finally {
    await services.close();
    await site.remove();
    await links.close();
  }
});

test('as the programs come, no server refuses for its size or count what the operator reads', () => {
  const operator = readInvocation(operatorProgram, '0', [], {});
  const folder = ['--bundle-file=/published/bundle.json', '--store=/store'];
  const server = readInvocation(bundleServer, '0', folder, {});
  assert.ok(operator.outcome === 'run' && server.outcome === 'run');
  assert.equal(operator.values.maxArchiveSize, defaultLimits.maxArchiveBytes);
  assert.equal(operator.values.maxBundleSize, defaultLimits.maxTotalBytes);
  assert.ok(server.values.maxArchiveSize >= operator.values.maxArchiveSize);
  assert.ok(server.values.maxBundleSize >= operator.values.maxBundleSize);
  assert.ok(server.values.maxFiles >= defaultLimits.maxFiles);
  assert.ok(server.values.maxFileSize >= defaultLimits.maxFileBytes);
});
