// The demo's steps. Each ends in a claim that is checked: first export, refresh of the link, new version, two exports that
// must not be published, and a restart without the vendor. Owns their order and what each claim means.

import type { PublishedBundle, PublishedLink } from '#bundle/published-bundle.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { CliError } from '../cli-error.ts';
import type { Progress } from '../output/progress.ts';
import { type Claims, insist, until } from './claims.ts';
import type { DemoEnvironment } from './environment.ts';
import { findSecrets, readAdminPages, secretsOf } from './secret-search.ts';
import { compareSite, hashesOf, readDownloads, untilServed } from './served-site.ts';
import type { SiteEdition } from './site-pages.ts';
import { type SteadyRequests, startSteadyRequests } from './steady-requests.ts';

export interface StoryContext {
  readonly demo: DemoEnvironment;
  readonly claims: Claims;
  readonly progress: Progress;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const requestsPerSecond = 50;
/** After a swap, so that the tally covers the new version too. */
const requestsAfterSwap = 25;

/** Until the first export is served. @returns what readers get */
export async function startAndPublish(story: StoryContext): Promise<SiteEdition> {
  const { demo, claims } = story;
  await claims.check(
    'Starting an export service and a bundle server',
    () => Promise.all([demo.start('export-service'), demo.start('bundle-server')]),
    () => 'a docs site, an export service and a bundle server are running',
  );
  return publishFirst(story);
}

/** @returns what is served at the end */
export async function tellStory(story: StoryContext): Promise<PublishedBundle> {
  const { demo } = story;
  const first = await startAndPublish(story);
  await watchRefresh(story);
  const edition = demo.site.canChange ? await publishOthers(story, first) : first;
  const published = await demo.readPublished();
  const pages = await readAdminPages(demo);
  await restartWithoutVendor(story, published, edition);
  await searchSecrets(story, pages);
  return published;
}

/** While readers go on. @returns what is published at the end */
async function publishOthers(story: StoryContext, first: SiteEdition): Promise<SiteEdition> {
  const { demo, clock } = story;
  const readers = startSteadyRequests(
    (path) => demo.visitor.open(`${demo.siteUrl()}${path}`),
    requestsPerSecond,
    hashesOf(first),
    clock,
  );
  try {
    const changed = await publishChange(story, readers);
    await holdShrunken(story, readers, changed);
    await ignoreEmpty(story, readers, changed);
    return changed;
  } finally {
    await readers.stop();
  }
}

async function publishFirst({ demo, claims, progress, clock, signal }: StoryContext): Promise<SiteEdition> {
  await claims.check(
    'Exporting the site',
    async () => {
      await demo.run({ once: true, request: false }, progress, signal);
      const published = await demo.readPublished();
      const { pages = published.pages } = demo.site;
      insist(published.pages === pages, `the export has ${published.pages} pages`);
      return published;
    },
    ({ version, pages }) => `first export published: version ${version}, ${pages} pages`,
  );
  await claims.check(
    'Waiting for the bundle server',
    async () => {
      const { version } = await demo.readPublished();
      await untilServed(version, { demo, clock, signal });
    },
    () => `served for your browser at ${demo.siteUrl()}/`,
  );
  const edition = await demo.site.show('first');
  await claims.check(
    'Comparing with the origin',
    async () => {
      if (!demo.site.canChange) return compareSite(demo, edition);
      const paths = [...edition.keys(), '/no-such-page'];
      for (const path of paths) {
        const theirs = await demo.visitor.open(`${demo.site.url}${path}`);
        const ours = await demo.visitor.open(`${demo.siteUrl()}${path}`);
        const isSame = theirs.status === ours.status && theirs.body.equals(ours.body);
        insist(isSame, `${path} is not what the origin answers (${ours.status})`);
      }
      return paths.length;
    },
    (count) =>
      demo.site.canChange
        ? `${count} of ${count} addresses answer as the origin does, byte for byte`
        : `${count} of ${count} pages are those of the archive, byte for byte`,
  );
  return edition;
}

/** While `run` goes on as the operator does. */
async function watchRefresh({ demo, claims, progress, clock, signal }: StoryContext): Promise<void> {
  await claims.check(
    'Waiting for the link to be refreshed',
    async () => {
      const before = await demo.readPublished();
      const [status, downloads] = [await demo.readServerStatus(), await readDownloads(demo)];
      const stop = new AbortController();
      const silent = { ...progress, advance: () => {} };
      const running = demo.run(
        { once: false, request: false },
        silent,
        AbortSignal.any([signal, stop.signal]),
      );
      const first = linkOf(before);
      const lifetimeMs = first.expiresAt - first.issuedAt;
      const refreshed = until(
        'another link',
        async () => {
          const now = await demo.readPublished();
          const leftMs = Math.max(0, first.expiresAt - clock.now());
          progress.advance(100 - (100 * leftMs) / lifetimeMs, `the link expires in ${seconds(leftMs)}`);
          return linkOf(now).url.isSame(first.url)
            ? undefined
            : { now, leftMs: first.expiresAt - clock.now() };
        },
        { clock, signal, timeoutMs: 20_000 + lifetimeMs },
      );
      try {
        // A run that fails ends the wait.
        const { now, leftMs } = await Promise.race([refreshed, running.then(() => refreshed)]);
        insist(leftMs > 0, 'the link had expired before it was refreshed');
        insist(now.version === before.version, `the refresh changed the version to ${now.version}`);
        const { status: answer } = await demo.visitor.open(linkOf(now).url.reveal(), { range: 'bytes=0-0' });
        insist(answer === 206, `the new link answers ${answer}`);
        await until(
          'the new link in the bundle server’s status',
          async () => {
            const { state, published } = (await demo.readServerStatus()).source;
            // Not before it is in sync: a download takes its time, and would be counted at its end.
            const isTaken = Date.parse(published?.linkIssuedAt ?? '') === linkOf(now).issuedAt;
            return isTaken && state === 'in-sync' ? true : undefined;
          },
          { clock, signal },
        );
        insist((await demo.readServerStatus()).swaps === status.swaps, 'the bundle server swapped');
        insist((await readDownloads(demo)) === downloads, 'the bundle server downloaded the archive again');
        return leftMs;
      } finally {
        stop.abort();
        await Promise.allSettled([running, refreshed]);
      }
    },
    (leftMs) => `link refreshed ${seconds(leftMs)} before it expires: same version, no download`,
  );
}

async function publishChange(
  { demo, claims, progress, clock, signal }: StoryContext,
  readers: SteadyRequests,
): Promise<SiteEdition> {
  const { changed } = await claims.check(
    'Exporting the changed site, while readers go on',
    async () => {
      const before = await demo.readPublished();
      const changed = await demo.site.show('changed');
      readers.expect(hashesOf(changed));
      await demo.run({ once: true, request: true }, progress, signal);
      const after = await demo.readPublished();
      insist(after.version !== before.version, 'the version did not change');
      await untilServed(after.version, { demo, clock, signal });
      await compareSite(demo, changed);
      const { requests } = readers.tally();
      await until(
        'further requests',
        async () => (readers.tally().requests >= requests + requestsAfterSwap ? true : undefined),
        { clock, signal },
      );
      requireNoFailure(readers);
      return { version: after.version, changed };
    },
    ({ version }) => `new version ${version}: ${readers.tally().requests} requests, 0 failed`,
  );
  return changed;
}

async function holdShrunken(
  story: StoryContext,
  readers: SteadyRequests,
  published: SiteEdition,
): Promise<void> {
  const { claims, demo } = story;
  await claims.check(
    'Exporting a site that lost most of its pages',
    async () => {
      await demo.site.show('shrunken');
      await exportInVain(story, readers, published, 'PageCountDropped');
    },
    () => 'an export that lost most of its pages is held (PageCountDropped)',
  );
}

async function ignoreEmpty(
  story: StoryContext,
  readers: SteadyRequests,
  published: SiteEdition,
): Promise<void> {
  const { claims, demo } = story;
  await claims.check(
    'Exporting a site without pages',
    async () => {
      await demo.site.show('empty');
      await exportInVain(story, readers, published, 'JobFailed');
    },
    () => `an export that fails changes nothing: ${readers.tally().requests} requests, 0 failed`,
  );
}

/** An export that must not be published. @param published what readers get meanwhile. @param code why not */
async function exportInVain(
  { demo, progress, signal }: StoryContext,
  readers: SteadyRequests,
  published: SiteEdition,
  code: string,
): Promise<void> {
  const before = await demo.readPublished();
  const failure = await demo.run({ once: true, request: true }, progress, signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  signal.throwIfAborted();
  insist(failure !== undefined, 'the export was published');
  if (!(failure instanceof CliError)) throw failure;
  insist(failure.code === code, `the export ended with ${failure.code}: ${failure.message}`);
  insist((await demo.readPublished()).version === before.version, 'the published version changed');
  await compareSite(demo, published);
  requireNoFailure(readers);
}

/** The demo has no mirror, so what it publishes has a link. */
function linkOf({ link }: PublishedBundle): PublishedLink {
  if (link === undefined) throw new TypeError('the demo publishes a link');
  return link;
}

async function restartWithoutVendor(
  { demo, claims, clock, signal }: StoryContext,
  published: PublishedBundle,
  edition: SiteEdition,
): Promise<void> {
  await claims.check(
    'Killing the export service and the bundle server',
    async () => {
      const { url } = linkOf(await demo.readPublished());
      await Promise.all([demo.kill('export-service'), demo.kill('bundle-server')]);
      const answer = await demo.visitor.open(url.reveal()).catch(() => undefined);
      insist(answer === undefined, 'the link still leads to an archive');
    },
    () => 'export service and bundle server killed; the link leads nowhere',
  );
  await claims.check(
    'Starting the bundle server again',
    async () => {
      await demo.start('bundle-server');
      const { active, source } = await untilServed(published.version, { demo, clock, signal });
      insist(source.kind === 'disk', `the bundle came from ${source.kind}`);
      insist(active?.digest === published.digest, 'the bundle server serves another digest');
      return compareSite(demo, edition);
    },
    (count) => `started again from its disk: ${count} of ${count} files are the checked bytes`,
  );
}

async function searchSecrets(
  { demo, claims }: StoryContext,
  adminPages: ReadonlyMap<string, string>,
): Promise<void> {
  await claims.check(
    'Searching for the key and the links',
    async () => {
      const texts = new Map([
        ...adminPages,
        ...demo.written(),
        ...(await demo.readObjects()),
        ['the claims', JSON.stringify(claims.list)] as const,
      ]);
      const found = findSecrets(texts, secretsOf(demo.key, demo.linkQueries));
      insist(found.length === 0, `a key or a link is in ${found.join(', ')}`);
      insist(demo.linkQueries.size >= 2, 'too few links were seen');
      const bytes = [...texts.values()].reduce((sum, text) => sum + text.length, 0);
      return { count: texts.size, kib: Math.ceil(bytes / 1024) };
    },
    ({ count, kib }) =>
      `the key and ${demo.linkQueries.size} links are in none of ${count} outputs (${kib} KiB searched)`,
  );
}

function requireNoFailure(readers: SteadyRequests): void {
  const { failed, mixed, examples } = readers.tally();
  insist(failed + mixed === 0, `${failed} requests failed and ${mixed} were mixed: ${examples.join('; ')}`);
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
