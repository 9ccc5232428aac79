// kill -9 of the real export service while it crawls and packs a site. Whatever is left: the next start gives the archive of a crawl
// that was not killed, and asks the origin only for what it had not recorded. When it is killed is the caller's.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type CrawledSite, makeServiceFolder, type ServiceFolder, serveCrawledSite } from './crawled-site.ts';

/** Before the answer to this request, or so long after the last one. */
export type CrawlMoment = { readonly request: number } | { readonly afterLastMs: number };

/** Requests at once: an answer of each may be under way, and not recorded. */
const concurrency = 4;

/** @param momentsOf given the number of requests of a whole crawl. Each kill has a data folder of its own */
export async function killCrawls(momentsOf: (requests: number) => readonly CrawlMoment[]): Promise<void> {
  const site = await serveCrawledSite();
  try {
    const whole = await withFolder(site, async (folder) => {
      const service = await folder.start();
      const digest = await service.completed(await service.queue());
      await service.program.stop();
      return digest;
    });
    const total = site.answers.length;
    for (const moment of momentsOf(total)) {
      const name = JSON.stringify(moment);
      const { digest, asked } = await withFolder(site, (folder) => killedAt(site, folder, moment, total));
      assert.equal(digest, whole, name);
      const [least, most] =
        'request' in moment ? [total - moment.request, total - moment.request + concurrency] : [0, total];
      assert.ok(asked >= least && asked <= most, `${name}: ${asked} requests of ${total}`);
    }
  } finally {
    site.close();
  }
}

async function withFolder<T>(site: CrawledSite, work: (folder: ServiceFolder) => Promise<T>): Promise<T> {
  const folder = makeServiceFolder(site);
  site.answers.length = 0;
  try {
    return await work(folder);
  } finally {
    site.onRequest = () => {};
    folder.remove();
  }
}

async function killedAt(
  site: CrawledSite,
  folder: ServiceFolder,
  moment: CrawlMoment,
  total: number,
): Promise<{ readonly digest: string; readonly asked: number }> {
  const killed = await folder.start();
  const kill = (): void => void process.kill(killed.program.pid, 'SIGKILL');
  site.onRequest = (number) => {
    if ('request' in moment && number === moment.request) kill();
    if ('afterLastMs' in moment && number === total) setTimeout(kill, moment.afterLastMs);
  };
  const jobId = await killed.queue();
  await killed.program.exited;
  site.onRequest = () => {};
  site.answers.length = 0;
  const service = await folder.start();
  try {
    const digest = await service.completed(jobId);
    const asked = site.answers.length;
    await service.program.stop();
    assert.deepEqual(readdirSync(join(folder.data, 'spool')), []);
    assert.deepEqual(readdirSync(join(folder.data, 'archives')), [`${jobId}.tar.gz`]);
    return { digest, asked };
  } finally {
    await service.program.stop('SIGKILL');
  }
}
