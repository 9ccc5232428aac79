// What the bundle server serves and reports, compared with what it should. Owns the reading of both. Refuses to take the
// server's report for its answers: both are asked.

import type { Clock } from '#platform/runtime/clock.ts';
import { insist, until } from './claims.ts';
import type { DemoEnvironment, DemoServerStatus } from './environment.ts';
import type { SiteEdition } from './site-pages.ts';
import { type EditionHashes, hashOf } from './steady-requests.ts';

interface ServedContext {
  readonly demo: DemoEnvironment;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Until the version is served and stored: its download counts, and a restart finds it, only then. */
export function untilServed(
  version: string,
  { demo, clock, signal }: ServedContext,
): Promise<DemoServerStatus> {
  return until(
    `version ${version} in the bundle server’s status`,
    async () => {
      const status = await demo.readServerStatus();
      const isStored = status.source.state === 'in-sync';
      return isStored && status.active?.version === version ? status : undefined;
    },
    { clock, signal },
  );
}

/** @returns the number of files. @throws {ClaimFailed} where one is not served as in that edition */
export async function compareSite(demo: DemoEnvironment, edition: SiteEdition): Promise<number> {
  for (const [path, { body }] of edition) {
    const answer = await demo.visitor.open(`${demo.siteUrl()}${path}`);
    insist(
      answer.status === 200 && answer.body.equals(body),
      `${path} is not what was published (${answer.status})`,
    );
  }
  return edition.size;
}

/** How often the bundle server asked for an archive, by its own metrics. */
export async function readDownloads(demo: DemoEnvironment): Promise<number> {
  const text = await demo.readAdminPage('bundle-server', '/metrics');
  const samples = [...text.matchAll(/^\w*downloads_total(?:\{[^}]*\})? (\d+)/gm)];
  insist(samples.length > 0, 'the bundle server has no metric of its downloads');
  return samples.reduce((sum, [, value]) => sum + Number(value), 0);
}

export function hashesOf(edition: SiteEdition): EditionHashes {
  return new Map([...edition].map(([path, { body }]) => [path, hashOf(body)]));
}
