// The demo's steps, each a claim that is checked and not only shown: first export, edit, request without edit,
// refreshes, and a restart without the vendor.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { hashesOf } from '../../src/cli/demo/served-site.ts';
import { startSteadyRequests } from '../../src/cli/demo/steady-requests.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { eventually } from '../support/eventually.ts';
import { namespace } from './demo-cluster.ts';
import { pagesOf } from './docs-site.ts';
import {
  type DemoEnvironment,
  domain,
  linkLifetimeSeconds,
  type ResourceStatus,
  readMountedLink,
  resourceName,
  type Shown,
} from './environment.ts';
import { listArchivedPages } from './site-pages.ts';

const serverStatus = z.looseObject({
  active: z.looseObject({ version: z.string(), digest: z.string(), files: z.number() }).nullish(),
});
type Active = NonNullable<ResourceStatus['active']>;

const manifest = JSON.stringify({
  apiVersion: 'staticexport.dev/v1alpha1',
  kind: 'StaticExport',
  metadata: { name: resourceName, namespace },
  spec: {
    domain,
    api: { keySecretRef: { name: 'export-api' } },
    // A 30-second link is refreshed after 20 s, which the minimum interval of link requests must permit.
    linkRefresh: { atPercent: 60, minInterval: '5s' },
  },
});

/** `kubectl apply` to the first page served, every page compared with the origin. */
export async function publishFirst(environment: DemoEnvironment, { claims }: Shown): Promise<Active> {
  await claims.check('kubectl apply of the key Secret and the StaticExport', async () => {
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'export-api', namespace },
      stringData: { apiKey: environment.apiKey },
    };
    await environment.cluster.kubectl(['apply', '--filename=-'], JSON.stringify(secret));
    await environment.cluster.kubectl(['apply', '--filename=-'], manifest);
  });
  const active = await claims.check(
    'first export promoted',
    () =>
      eventually('an active version in status', () => environment.status()?.active, {
        timeoutMs: 15 * 60_000,
      }),
    ({ version, pages }) => `first export promoted: version ${version}, ${pages} pages`,
  );
  await claims.check(
    'first page served',
    () => waitServed(environment, active.version),
    () => `first page served at ${environment.siteUrl}/`,
  );
  await claims.check(
    'every page of the origin is reachable',
    () => comparePages(environment),
    ({ pages, identical }) =>
      `every page of the origin is reachable: ${pages} of ${pages}, ${identical} byte for byte the same`,
  );
  return active;
}

/** An edit of the origin and a request → a new version, under 50 requests a second without one bad answer. */
export async function publishEdit(environment: DemoEnvironment, { claims, progress }: Shown): Promise<void> {
  const { site } = environment;
  if (site === undefined) {
    progress.note('the edit is left out: the origin is yours');
    return;
  }
  const before = requireActive(environment);
  const steady = startSteadyRequests(
    (path) => environment.visitor.open(`${environment.siteUrl}${path}`),
    50,
    hashesOf(pagesOf(site.first)),
    systemClock,
  );
  const page = 'pino/api.md';
  const edited = await claims.check(`origin edited (${page}) and built again`, () =>
    site.edit(page, `Edited for the demo, after version ${before.version}.`),
  );
  steady.expect(hashesOf(pagesOf(edited)));
  site.origin.show(edited);
  await request(environment, 'edit');
  const after = await claims.check(
    'new version promoted and served',
    async () => {
      const active = await eventually(
        'another version in status',
        () => {
          const now = environment.status()?.active;
          return now?.version === before.version ? undefined : now;
        },
        { timeoutMs: 15 * 60_000 },
      );
      await waitServed(environment, active.version);
      return active;
    },
    ({ version }) => `new version promoted and served: ${version}`,
  );
  assert.notEqual(after.digest, before.digest);
  await sleep(1000);
  const tally = await steady.stop();
  assert.deepEqual({ ...tally, requests: 0 }, { requests: 0, failed: 0, mixed: 0, examples: [] });
  assert.ok(tally.requests > 200, `too few requests to mean anything: ${tally.requests}`);
  progress.note(`${tally.requests} requests at 50/s meanwhile: 0 failed, 0 mixed`);
}

/** A request without an edit: exported again, same digest, no promotion, no byte of the outputs changed. */
export async function requestWithoutEdit(environment: DemoEnvironment, { claims }: Shown): Promise<void> {
  const before = requireActive(environment);
  const versionsBefore = await readConfigMap(environment);
  const jobBefore = environment.status()?.job?.id;
  await request(environment, 'no-edit');
  await claims.check('a request without an edit: exported again, same digest, nothing promoted', async () => {
    await eventually(
      'the request to be handled by a finished job',
      () => {
        const status = environment.status();
        const isDone =
          status?.lastHandledRequest === 'no-edit' &&
          status.job?.id !== jobBefore &&
          status.job?.state === 'completed';
        const isSettled = status?.conditions?.some(
          ({ type, status: value }) => type === 'Exported' && value === 'True',
        );
        return isDone && isSettled === true && status?.job?.completionTime !== undefined ? true : undefined;
      },
      { timeoutMs: 15 * 60_000 },
    );
    const after = requireActive(environment);
    assert.equal(after.version, before.version);
    assert.equal(after.digest, before.digest);
    assert.equal(after.jobId, before.jobId, 'the published job changed although the content did not');
    assert.deepEqual(await readConfigMap(environment), versionsBefore);
  });
}

/** Three refreshes of a 30-second link: same version, nothing downloaded, nothing a pod template could see changed. */
export async function watchRefreshes(
  environment: DemoEnvironment,
  { claims }: Shown,
  links: Set<string>,
): Promise<void> {
  const before = requireActive(environment);
  const configMapBefore = await readConfigMap(environment);
  const downloadsBefore = await readDownloads(environment);
  const issued = new Set([before.linkIssueTime]);
  environment.onStatus(({ active }) => issued.add(active?.linkIssueTime));
  await claims.check(
    `three refreshes of a link that is valid for ${linkLifetimeSeconds} s: same version, no download, ConfigMap untouched`,
    async () => {
      await eventually('three more links', () => (issued.size >= 4 ? true : undefined), {
        timeoutMs: 10 * 60_000,
      });
      await eventually('the mounted link to follow', async () => {
        links.add((await readMountedLink(environment)).search.slice(1));
        return links.size >= 2 ? true : undefined;
      });
      assert.equal(requireActive(environment).version, before.version);
      assert.deepEqual(await readConfigMap(environment), configMapBefore);
      assert.equal(
        await readDownloads(environment),
        downloadsBefore,
        'the server downloaded something during the refreshes',
      );
    },
  );
}

/** kill -9, vendor stopped, link expired, start: the same digest from disk. */
export async function restartWithVendorGone(environment: DemoEnvironment, { claims }: Shown): Promise<void> {
  const before = await readServerActive(environment);
  await claims.check('bundle server killed with -9, export service stopped', async () => {
    await environment.programs.get('bundle-server')?.stop('SIGKILL');
    await environment.programs.get('export-service')?.stop();
    await environment.programs.get('operator')?.stop();
  });
  await claims.check('the link has expired', async () => {
    const link = await readMountedLink(environment);
    const leftMs = Number(link.searchParams.get('expires')) * 1000 - Date.now();
    await sleep(Math.max(0, leftMs) + 1000);
    await assert.rejects(fetch(link));
  });
  await claims.check(
    'started again',
    async () => {
      await environment.startBundleServer();
      const after = await eventually('the server to serve', () => readServerActive(environment));
      assert.equal(after.digest, before.digest);
      assert.equal((await environment.visitor.open(`${environment.siteUrl}/`)).status, 200);
      return after;
    },
    ({ digest }) => `started again: serves digest ${digest.slice(0, 8)} from its disk`,
  );
}

async function request(environment: DemoEnvironment, token: string): Promise<void> {
  await environment.cluster.kubectl([
    'annotate',
    '--overwrite',
    'staticexports.staticexport.dev',
    resourceName,
    `--namespace=${namespace}`,
    `staticexport.dev/requestedAt=${token}`,
  ]);
}

function requireActive(environment: DemoEnvironment): Active {
  const active = environment.status()?.active;
  assert.ok(active !== undefined, 'status has no active version');
  return active;
}

async function waitServed(environment: DemoEnvironment, version: string): Promise<void> {
  await eventually(
    `${version} served`,
    async () => {
      const active = await readServerActive(environment);
      return active.version === version ? true : undefined;
    },
    { timeoutMs: 15 * 60_000 },
  );
  assert.equal((await environment.visitor.open(`${environment.siteUrl}/`)).status, 200);
}

async function readServerActive(environment: DemoEnvironment) {
  const response = await fetch(`${environment.bundleServerAdminUrl}/status`);
  const { active } = serverStatus.parse(await response.json());
  assert.ok(active, 'the bundle server has no active bundle');
  return active;
}

/** Times the server asked for an archive, from its own metrics. */
async function readDownloads(environment: DemoEnvironment): Promise<number> {
  const text = await (await fetch(`${environment.bundleServerAdminUrl}/metrics`)).text();
  const samples = [...text.matchAll(/^\w*downloads_total(?:\{[^}]*\})? (\d+)/gm)];
  assert.ok(samples.length > 0, 'the bundle server has no metric of its downloads');
  return samples.reduce((sum, [, value]) => sum + Number(value), 0);
}

/** The part of the output that a pod template, a Helm release or a GitOps watch reads. */
async function readConfigMap(
  environment: DemoEnvironment,
): Promise<{ readonly resourceVersion: string; readonly data: unknown }> {
  const text = await environment.cluster.kubectl([
    'get',
    'configmap',
    `${resourceName}-bundle`,
    `--namespace=${namespace}`,
    '--output=json',
  ]);
  const { metadata, data } = JSON.parse(text);
  return { resourceVersion: metadata.resourceVersion, data };
}

async function comparePages(
  environment: DemoEnvironment,
): Promise<{ readonly pages: number; readonly identical: number }> {
  const { site, visitor, originUrl, siteUrl } = environment;
  const paths =
    site === undefined
      ? await listArchivedPages(await readMountedLink(environment))
      : [...pagesOf(site.first).keys()];
  let identical = 0;
  for (const path of paths) {
    // An origin of the user's may speak https.
    const answer = await fetch(`${originUrl}${path}`, { signal: AbortSignal.timeout(10_000) });
    const theirs = Buffer.from(await answer.arrayBuffer());
    const ours = await visitor.open(`${siteUrl}${path}`);
    assert.equal(ours.status, 200, `${path} answers ${ours.status}`);
    if (theirs.equals(ours.body)) identical += 1;
  }
  if (site !== undefined) assert.equal(identical, paths.length, 'pages differ from the origin');
  assert.ok(paths.length > 0, 'no pages to compare');
  return { pages: paths.length, identical };
}
