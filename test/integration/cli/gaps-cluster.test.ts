// `conversations gaps --bundle sx/NAME` with a real API server and the real operator: the published site is read by its link,
// or from its mirror where it has none. Each thing that is missing has an exit code and says what to do.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type GapReport, parseReport } from '#conversations/gaps/report-schema.ts';
import { runInProcess } from '../../support/cli-in-process.ts';
import type { CommandResult } from '../../support/command.ts';
import { type DockerRegistry, noRegistry, startDockerRegistry } from '../../support/docker-registry.ts';
import { sampleTurn } from '../../support/sample-turn.ts';
import { declareSecret } from '../../support/secret-watch.ts';
import { noS3, startVersitygw, type Versitygw } from '../../support/versitygw.ts';
import { type ChartedCluster, startChartedCluster } from '../operator/charted-cluster.ts';
import { type OperatorProcess, startOperator } from '../operator/operator-process.ts';
import { createReader } from '../operator/resource-reader.ts';
import { goodKey, type ScriptedVendor, startVendor } from '../operator/scripted-vendor.ts';
import { staticExport as exportOf, kubeconfigWith } from './environment/served-cluster.ts';

const namespace = 'gaps-cluster';
const staticExport = (name: string, spec: object = {}): object => exportOf(name, spec, namespace);
const password = declareSecret('the password', 'pass-word-of-the-mirror');
const content = { 'index.html': '<h1>home</h1>', 'guide.html': '<h1>guide</h1>' };

suite('gaps of a site that a cluster publishes', { skip: noRegistry || noS3 }, () => {
  let world: ChartedCluster;
  let vendor: ScriptedVendor;
  let operator: OperatorProcess;
  let reader: ReturnType<typeof createReader>;
  let registry: DockerRegistry;
  let s3: Versitygw;
  let folder: string;

  const credentials = (name: string, files: Readonly<Record<string, string>>): string => {
    const path = join(folder, name);
    mkdirSync(path, { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
    return path;
  };
  const gaps = (bundle: string, ...more: readonly string[]): Promise<CommandResult> =>
    runInProcess([
      ...['conversations', 'gaps'],
      ...['--from', join(folder, 'turns.ndjson'), '--bundle', bundle, '-n', namespace, ...more],
    ]);
  const report = async (bundle: string, ...more: readonly string[]): Promise<GapReport> => {
    const { code, stdout, stderr } = await gaps(bundle, '--format', 'json', ...more);
    assert.equal(code, 0, stderr);
    const read = parseReport(stdout);
    assert.ok(read !== undefined);
    return read;
  };
  const refused = async (bundle: string, ...more: readonly string[]) => {
    const { code, stdout } = await gaps(bundle, '-o', 'json', ...more);
    const { code: errorCode, message, next } = JSON.parse(stdout);
    return { code, errorCode, message: String(message), next: String(next) };
  };
  /** The page that the site has is mapped, and the one that it lacks is named. */
  const assertMapped = async (name: string, read: GapReport): Promise<void> => {
    const { published } = await reader.readOutput(name);
    assert.deepEqual(read.bundle, { version: published.version, digest: published.digest });
    assert.deepEqual(
      read.missingPages.map(({ page }) => page),
      ['/gone'],
    );
    assert.ok(read.pages.some(({ page }) => page === '/guide'));
  };

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gaps-cluster-'));
    const turns = Array.from({ length: 12 }, (_, index) =>
      sampleTurn({
        query: `How do I set up SSO, attempt ${index}?`,
        conversation: `conversation-${index}`,
        timestamp: new Date(Date.now() - (index + 1) * 3_600_000).toISOString(),
        resolution_status: 'unanswered',
        page_url: 'https://docs.example.com/guide',
        sources: [
          { title: 'Guide', url: 'https://docs.example.com/guide' },
          { title: 'Gone', url: 'https://docs.example.com/gone' },
        ],
      }),
    );
    writeFileSync(join(folder, 'turns.ndjson'), turns.map((turn) => `${JSON.stringify(turn)}\n`).join(''));
    [vendor, registry, s3] = await Promise.all([
      startVendor(),
      startDockerRegistry({ users: { docs: password } }),
      startVersitygw(),
    ]);
    await s3.createBucket('docs');
    for (const name of ['docs', 'linkless', 'bucket', 'both'])
      vendor.script(`${name}.example.com`, { content });
    world = await startChartedCluster({ namespaces: [namespace], watchNamespaces: [namespace] });
    const { accessKeyId, secretAccessKey } = s3.rootKey;
    const secret = (name: string, stringData: Readonly<Record<string, string>>) => ({
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData },
    });
    await world.apply(
      secret('export-api', { apiKey: goodKey }),
      secret('mirror', { username: 'docs', password }),
      secret('bucket', { accessKeyId, secretAccessKey }),
      staticExport('unpublished', { api: { keySecretRef: { name: 'missing' } } }),
      staticExport('docs'),
      staticExport('linkless', {
        mirror: { oci: { repository: `${registry.host}/docs/site`, secretRef: { name: 'mirror' } } },
        output: { link: 'Never' },
      }),
      staticExport('both', {
        mirror: { oci: { repository: `${registry.host}/docs/both`, secretRef: { name: 'mirror' } } },
      }),
      staticExport('bucket', {
        mirror: {
          s3: {
            endpoint: s3.origin,
            bucket: 'docs',
            prefix: 'site',
            pathStyle: true,
            secretRef: { name: 'bucket' },
          },
        },
        output: { link: 'Never' },
      }),
    );
    reader = createReader(world, namespace);
    operator = await startOperator(world, [
      ...[`--api-base-url=${vendor.url}`, '--allow-private-links', `--watch-namespaces=${namespace}`],
      `--allowed-mirror-hosts=http://${registry.host},http://${new URL(s3.origin).host}`,
      '--allow-private-mirror-hosts',
    ]);
    for (const name of ['docs', 'linkless', 'bucket', 'both'])
      await reader.awaitCondition(name, 'Ready', 'True', 'Published');
    // The library of Kubernetes reads it from this process itself.
    process.env['KUBECONFIG'] = world.controlPlane.kubeconfig;
  });
  after(async () => {
    await operator?.child.stop();
    await vendor?.close();
    await world?.stop();
    await registry?.close();
    await s3?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('a link is read by the name of its StaticExport, and by itself', async () => {
    await assertMapped('docs', await report('sx/docs', '--allow-private-links'));
    const { published } = await reader.readOutput('docs');
    const { version, link } = published;
    await assertMapped('docs', await report(link?.url.reveal() ?? '', '--bundle-version', version));
    const private_ = await refused('sx/docs');
    assert.match(private_.message, /--allow-private-links|private/);
  });

  test('without a link, the copy is read from a registry with a login, and from a bucket', async () => {
    const login = credentials('login', { username: 'docs', password });
    const linkless = await report('sx/linkless', '--mirror-credentials', login, '--allow-http-mirror');
    await assertMapped('linkless', linkless);
    const auth = { [registry.host]: { auth: Buffer.from(`docs:${password}`).toString('base64') } };
    const docker = credentials('docker', { 'config.json': JSON.stringify({ auths: auth }) });
    assert.deepEqual(
      (await report('sx/linkless', '--mirror-credentials', docker, '--allow-http-mirror')).bundle,
      linkless.bundle,
    );
    const { accessKeyId, secretAccessKey } = s3.rootKey;
    const key = credentials('key', { accessKeyId, secretAccessKey });
    const s3Flags = ['--mirror-endpoint', s3.origin, '--mirror-path-style', '--allow-http-mirror'];
    await assertMapped('bucket', await report('sx/bucket', '--mirror-credentials', key, ...s3Flags));
  });

  test('a mirror that refuses or is not reached names its flags and --bundle FILE', async () => {
    const wrong = credentials('wrong', { username: 'docs', password: 'another' });
    for (const [flags, code, errorCode] of [
      [['--allow-http-mirror'], 2, 'Denied'],
      [['--allow-http-mirror', '--mirror-credentials', wrong], 2, 'Denied'],
      [['--mirror-credentials', credentials('empty', {})], 2, 'InvalidCredentials'],
      [[], 5, 'Unreachable'],
    ] as const) {
      const found = await refused('sx/linkless', ...flags);
      assert.deepEqual([found.code, found.errorCode], [code, errorCode], found.message);
      if (errorCode === 'InvalidCredentials') continue;
      assert.match(found.next, /--mirror-credentials.*--bundle FILE/);
      assert.doesNotMatch(found.message, /Retrying/);
    }
  });

  test('a name that does not exist, or publishes nothing, or whose output may not be read: exit 8', async () => {
    const missing = await refused('sx/nothing');
    assert.deepEqual([missing.code, missing.errorCode], [8, 'NotFound']);
    const unpublished = await refused('sx/unpublished');
    assert.equal(unpublished.code, 8);
    assert.match(`${unpublished.message} ${unpublished.next}`, /unpublished/);
    const rule = { apiGroups: ['staticexport.dev'], resources: ['staticexports'], verbs: ['get', 'list'] };
    const file = await kubeconfigWith(world, 'viewer', [rule], namespace);
    const forbidden = await refused('sx/docs', '--kubeconfig', file, '--allow-private-links');
    assert.deepEqual([forbidden.code, forbidden.errorCode], [8, 'Forbidden']);
    assert.match(forbidden.next, /static-export doctor/);
  });

  test('a vendor that is gone: the link ends with 5, and the mirror is read all the same', async () => {
    await vendor.close();
    assert.equal((await refused('sx/docs', '--allow-private-links')).code, 5);
    const login = credentials('login', { username: 'docs', password });
    await assertMapped(
      'linkless',
      await report('sx/linkless', '--mirror-credentials', login, '--allow-http-mirror'),
    );
    const both = ['sx/both', '--allow-private-links', '--mirror-credentials', login] as const;
    await assertMapped('both', await report(...both, '--allow-http-mirror'));
    assert.match(
      (await gaps(...both, '--allow-http-mirror')).stderr,
      /The link cannot be read \(\w+\)\. Reading the copy in the mirror/,
    );
  });
});
