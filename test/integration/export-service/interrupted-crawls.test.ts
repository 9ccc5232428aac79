// Crawls of the real program that are killed or stopped, and crawls of a site that did not change. All moments of a kill are in
// test/extended/kills/crawl-kills.test.ts.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type CrawledSite, makeServiceFolder, type ServiceFolder, serveCrawledSite } from './crawled-site.ts';
import { killCrawls } from './killed-crawls.ts';

async function siteAndFolder(t: TestContext): Promise<{ site: CrawledSite; folder: ServiceFolder }> {
  const site = await serveCrawledSite();
  t.after(site.close);
  const folder = makeServiceFolder(site);
  t.after(folder.remove);
  return { site, folder };
}

test('a crawl that is killed goes on where it ended, and its archive is that of a whole crawl', () =>
  killCrawls((requests) => [{ request: 2 }, { request: Math.round(requests * 0.6) }, { afterLastMs: 1 }]));

test('a crawl that a stop of the service interrupts goes on with the next start', async (t) => {
  const { site, folder } = await siteAndFolder(t);
  const first = await folder.start();
  const isHalf = Promise.withResolvers<void>();
  site.onRequest = (number) => {
    if (number === 40) isHalf.resolve();
  };
  const jobId = await first.queue();
  await isHalf.promise;
  await first.program.stop();
  const before = site.answers.length;
  const second = await folder.start();
  await second.completed(jobId);
  const again = site.answers.slice(before).filter((answer) => site.answers.indexOf(answer) < before);
  // Of each request that was under way, and robots.txt as a file.
  assert.ok(again.length <= 5, again.join());
  await second.program.stop();
});

test('an unchanged site sends no body again, also after a restart; of a changed one, what changed', async (t) => {
  const { site, folder } = await siteAndFolder(t);
  const first = await folder.start();
  const firstDigest = await first.completed(await first.queue());
  const asked = [...site.answers].sort();
  await first.program.stop();

  const second = await folder.start();
  site.answers.length = 0;
  assert.equal(await second.completed(await second.queue()), firstDigest);
  assert.deepEqual([...site.answers].sort(), asked.map((answer) => answer.replace(/200$/, '304')).sort());

  site.answers.length = 0;
  const changed = `${site.bodies.get('/p7')} changed`;
  site.bodies.set('/p7', changed);
  assert.notEqual(await second.completed(await second.queue()), firstDigest);
  assert.deepEqual(
    site.answers.filter((answer) => answer.endsWith(' 200')),
    ['/p7 200'],
  );
  await second.program.stop();
  // One crawl is kept, with each body once.
  const kept = join(folder.data, 'crawls', 'docs.example.com');
  const hashOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');
  assert.deepEqual(readdirSync(join(folder.data, 'crawls')), ['docs.example.com']);
  assert.deepEqual(
    readdirSync(kept).sort(),
    [...[...site.bodies.values()].map(hashOf), 'answers.sqlite'].sort(),
  );
  for (const name of readdirSync(kept)) {
    if (name !== 'answers.sqlite') assert.equal(hashOf(readFileSync(join(kept, name))), name);
  }
});
