// That the operator and the servers judge an archive alike: nothing is promoted that a server would refuse. Each
// kind of verdict is tried at both entries as they are, the operator's port and a running server; and
// both entries are shown to be the same module with the same limits.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { z } from 'zod';
import { BundleError } from '../../src/bundle/bundle-error.ts';
import { defaultLimits } from '../../src/bundle/limits.ts';
import { operatorProgram } from '../../src/operator/flags.ts';
import { servicesOptions } from '../../src/operator/operator.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { readInvocation } from '../../src/runtime/flags/flags.ts';
import { silentLogger } from '../../src/runtime/logger.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { type ExternalServices, openExternalServices } from '../../src/services/external-services.ts';
import { bundleServer } from '../../src/site/server-flags.ts';
import { Link } from '../../src/wire/link.ts';
import { eventually } from '../support/eventually.ts';
import { noise } from '../support/noise.ts';
import type { ArchiveCases } from '../unit/bundle/cases/archive-case.ts';
import { nameCases } from '../unit/bundle/cases/name-cases.ts';
import { streamCases } from '../unit/bundle/cases/stream-cases.ts';
import { tarCases } from '../unit/bundle/cases/tar-cases.ts';
import { zipCases } from '../unit/bundle/cases/zip-cases.ts';
import { bundleDocument, makeArchive } from './bundle-server/archive.ts';
import { type LinkServer, startLinkServer } from './bundle-server/link-server.ts';
import { prepareSite, type ServedSite } from './bundle-server/served-site.ts';

const sources = join(import.meta.dirname, '../../src');
const workerUrl = new URL('../../src/bin/bundle-worker.ts', import.meta.url);

const readme = readFileSync(join(sources, 'bundle/README.md'), 'utf8');
const cases: ArchiveCases = { ...nameCases, ...tarCases, ...zipCases, ...streamCases };

/**
 * Of each verdict of the table (src/bundle/README.md), by its code, the first archive that needs no other limits than
 * the programs' own. AGREEMENT=all: every archive.
 */
const archives: ReadonlyMap<string, Buffer> = chooseArchives();

function chooseArchives(): ReadonlyMap<string, Buffer> {
  const chosen = new Map<string, Buffer>();
  const seen = new Set<string>();
  const rows = readme.matchAll(
    /^\| `([\w-]+)`\s*\|[^|]*\|\s*((?:taken|normalised|rejected|retried)(?: `\w+`)?)\s*\|$/gm,
  );
  for (const [, name = '', verdict = ''] of rows) {
    const made = cases[name]?.();
    if (made === undefined || made.limits !== undefined) continue;
    if (seen.has(verdict) && process.env['AGREEMENT'] !== 'all') continue;
    seen.add(verdict);
    chosen.set(name, made.bytes);
  }
  return chosen;
}

const failureShape = z.object({
  version: z.string(),
  attempts: z.number(),
  error: z.object({ code: z.string() }),
});

/** The code with which the server's log says that it could not use the archive of a version. */
function refusalIn(log: string, version: string): string | undefined {
  const lines = log.split('\n').filter((line) => line.includes(`"version":"${version}"`));
  const failures = lines.map((line) => failureShape.safeParse(JSON.parse(line)));
  return failures.find(({ success }) => success)?.data?.error.code;
}

/** As the operator opens them. */
function open(): Promise<ExternalServices> {
  const invocation = readInvocation(operatorProgram, '0', ['--allow-private-links'], {});
  assert.ok(invocation.outcome === 'run');
  const proxy = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined };
  const environment = { bundleWorker: workerUrl, valuesWorker: workerUrl, mirrorWorker: workerUrl, proxy };
  return openExternalServices(servicesOptions(invocation.values, environment), {
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
  });
}

function linkOf(text: string): Link {
  const link = Link.parse(text);
  assert.ok(link !== undefined);
  return link;
}

suite('the operator and a server, asked about the same archive', () => {
  let links: LinkServer;
  let site: ServedSite;
  let services: ExternalServices;

  before(async () => {
    links = await startLinkServer();
    site = await prepareSite();
    await site.start();
    services = await open();
  });
  after(async () => {
    await services?.close();
    await site?.remove();
    await links?.close();
  });

  const askOperator = async (link: string): Promise<string> => {
    try {
      return (await services.bundles.inspect(linkOf(link), AbortSignal.timeout(60_000))).digest;
    } catch (error) {
      assert.ok(error instanceof BundleError, String(error));
      return error.code;
    }
  };
  /** The document names no digest: the server judges the archive by itself, and logs why it rejected it. */
  const askServer = async (name: string, link: string): Promise<string> => {
    await site.mount(bundleDocument({ version: name, link }));
    return eventually(`a verdict on ${name}`, async () => {
      const { active } = await site.status();
      return active?.version === name ? active.digest : refusalIn(site.output(), name);
    });
  };

  test('an archive of each verdict is judged alike, and gets the same digest', async (t) => {
    const verdicts = { taken: 0, rejected: 0 };
    for (const [name, bytes] of archives) {
      links.put(name, bytes);
      const [ours, theirs] = [await askOperator(links.link(name)), await askServer(name, links.link(name))];
      assert.equal(theirs, ours, name);
      verdicts[/^[0-9a-f]{64}$/.test(ours) ? 'taken' : 'rejected'] += 1;
    }
    t.diagnostic(`${verdicts.taken} taken and ${verdicts.rejected} rejected, by both`);
    assert.ok(verdicts.taken >= 5 && verdicts.rejected >= 35, JSON.stringify(verdicts));
  });
});

test('both have their archives read by the same module in the same worker, and by nothing else', async () => {
  const read = (path: string): Promise<string> => readFile(join(sources, path), 'utf8');
  for (const path of ['services/external-services.ts', 'site/source/link-source.ts']) {
    assert.match(
      await read(path),
      /import \{ prepareInWorker \} from '(\.\.\/){1,2}bundle\/prepare\/preparation\.ts';/,
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
  const services = await open();
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
          error instanceof BundleError &&
          error.kind === 'rejected' &&
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
