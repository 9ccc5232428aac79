// The claims between the steps, checked repeatedly until they hold: a page has the text, all servers have the published
// version, a link is fresh, no job or process is new. A failure shows what a user would see.

import assert from 'node:assert/strict';
import { eventuallyInCluster } from '../support/eventually.ts';
import type { TestNodes } from '../support/node/node.ts';
import { awaitPage, full, siteSpace, type TwoCharts } from './two-charts.ts';

export interface Claims {
  /** The reason of a condition of the StaticExport. */
  condition(type: string): Promise<string>;
  until(what: string, isSo: () => Promise<boolean>): Promise<true>;
  linkIssuedAt(): Promise<string>;
  /** A link was issued after `since`. */
  freshLink(since: string): Promise<void>;
  /** The site behind its Service has the text. @returns its address */
  served(words: string): Promise<string>;
  /** Each server has the published version. */
  agreeing(): Promise<true>;
  rolledOut(): Promise<string>;
  /** Does the work, and fails if a job or a process of the site is new. */
  untouched(work: () => Promise<void>): Promise<void>;
}

export function createClaims(nodes: TestNodes, world: TwoCharts): Claims {
  const linkIssuedAt = (): Promise<string> => world.read('.status.active.linkIssueTime');
  const until = (what: string, isSo: () => Promise<boolean>): Promise<true> =>
    eventuallyInCluster<true>(
      what,
      async () => {
        if (await isSo()) return true as const;
        throw new Error(await world.look());
      },
      { everyMs: 300 },
    );
  return {
    condition: (type) => world.read(`.status.conditions[?(@.type=="${type}")].reason`),
    until,
    linkIssuedAt,
    freshLink: async (since) => {
      await until('a link that was issued since', async () => (await linkIssuedAt()) > since);
    },
    served: (words) => awaitPage(nodes, { namespace: siteSpace, service: full, path: '/guide-3' }, words),
    agreeing: () =>
      until('every server serves the published digest', async () => {
        const [published, digests] = [await world.read('.status.active.digest'), await world.servedDigests()];
        return digests.length === 1 && digests[0] === published;
      }),
    rolledOut: () =>
      world.kubectl([
        'rollout',
        'status',
        `deployment/${full}`,
        `--namespace=${siteSpace}`,
        '--timeout=480s',
      ]),
    untouched: async (work) => {
      const [jobs, lives] = [await world.jobsStarted(), await world.serverLives()];
      await work();
      assert.equal(await world.jobsStarted(), jobs, 'no job was started');
      assert.equal(await world.serverLives(), lives, 'no server was replaced or started again');
    },
  };
}
