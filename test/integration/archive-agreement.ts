// The same archives to the operator's port and to a running server: the verdict of each is the same, and so is the digest. Which
// archives is the caller's; they are those of the table in src/bundle/README.md that need only the programs' own limits.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { operatorProgram } from '#operator/flags.ts';
import { servicesOptions } from '#operator/operator.ts';
import { type ExternalServices, openExternalServices } from '#operator/services/external-services.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { readInvocation } from '#platform/runtime/flags/flags.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import { Link } from '#platform/wire/link.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { eventually } from '../support/eventually.ts';
import { workerFile } from '../support/program-file.ts';
import type { ArchiveCases } from '../unit/bundle/cases/archive-case.ts';
import { nameCases } from '../unit/bundle/cases/name-cases.ts';
import { streamCases } from '../unit/bundle/cases/stream-cases.ts';
import { tarCases } from '../unit/bundle/cases/tar-cases.ts';
import { zipCases } from '../unit/bundle/cases/zip-cases.ts';
import { bundleDocument } from './server/archive.ts';
import { startLinkServer } from './server/link-server.ts';
import { prepareSite } from './server/served-site.ts';

const sources = join(import.meta.dirname, '../../src');
const workerUrl = workerFile('bundle');

const readme = readFileSync(join(sources, 'bundle/README.md'), 'utf8');
const cases: ArchiveCases = { ...nameCases, ...tarCases, ...zipCases, ...streamCases };

export interface JudgedArchive {
  readonly name: string;
  /** As the table says it. */
  readonly verdict: string;
  readonly bytes: Buffer;
}

/** Those of the table that need no other limits than the programs' own. */
export function archivesOfTable(): readonly JudgedArchive[] {
  const rows = readme.matchAll(
    /^\| `([\w-]+)`\s*\|[^|]*\|\s*((?:taken|normalised|rejected|retried)(?: `\w+`)?)\s*\|$/gm,
  );
  return [...rows].flatMap(([, name = '', verdict = '']): readonly JudgedArchive[] => {
    const made = cases[name]?.();
    return made === undefined || made.limits !== undefined ? [] : [{ name, verdict, bytes: made.bytes }];
  });
}

/** The first archive of each verdict of the table, by its code. */
export function firstOfEachVerdict(): readonly JudgedArchive[] {
  return [...Map.groupBy(archivesOfTable(), ({ verdict }) => verdict).values()].flatMap((all) =>
    all.slice(0, 1),
  );
}

const failureShape = z.object({
  version: z.string(),
  attempts: z.number(),
  error: z.object({ code: z.string() }),
});

/** The code with which the server's log says that it could not use the archive of a version. */
export function refusalIn(log: string, version: string): string | undefined {
  const lines = log.split('\n').filter((line) => line.includes(`"version":"${version}"`));
  const failures = lines.map((line) => failureShape.safeParse(JSON.parse(line)));
  return failures.find(({ success }) => success)?.data?.error.code;
}

/** As the operator opens them. */
export function openOperatorServices(): Promise<ExternalServices> {
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

export function linkOf(text: string): Link {
  const link = Link.parse(text);
  assert.ok(link !== undefined);
  return link;
}

/**
 * Asks both about each archive.
 *
 * @returns how many both took, and how many both rejected
 */
export async function judgeByBoth(
  archives: readonly JudgedArchive[],
): Promise<{ readonly taken: number; readonly rejected: number }> {
  const links = await startLinkServer();
  const site = await prepareSite();
  const services = await openOperatorServices();
  const askOperator = async (link: string): Promise<string> => {
    try {
      return (await services.bundles.inspect(linkOf(link), AbortSignal.timeout(60_000))).digest;
    } catch (error) {
      assert.ok(error instanceof PublishableError, String(error));
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
  try {
    await site.start();
    const verdicts = { taken: 0, rejected: 0 };
    for (const { name, bytes } of archives) {
      links.put(name, bytes);
      const [ours, theirs] = [await askOperator(links.link(name)), await askServer(name, links.link(name))];
      assert.equal(theirs, ours, name);
      verdicts[/^[0-9a-f]{64}$/.test(ours) ? 'taken' : 'rejected'] += 1;
    }
    return verdicts;
  } finally {
    await services.close();
    await site.remove();
    await links.close();
  }
}
