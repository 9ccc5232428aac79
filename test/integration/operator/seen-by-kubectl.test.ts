// What kubectl shows of a resource at each stage, on a real API server with the real operator: the table, its wide
// form, condition messages, and events. A user must see the state and its cause.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { type ChartedCluster, startChartedCluster } from './charted-cluster.ts';
import { type OperatorProcess, startOperator } from './operator-process.ts';
import { createReader } from './resource-reader.ts';
import { goodKey, type ScriptedVendor, startVendor } from './scripted-vendor.ts';

const namespace = 'seen-by-kubectl';
const widestTerminal = 120;
let world: ChartedCluster;
let vendor: ScriptedVendor;
let operator: OperatorProcess;
let reader: ReturnType<typeof createReader>;

const staticExport = (name: string, spec: object = {}) => ({
  apiVersion: 'staticexport.dev/v1alpha1',
  kind: 'StaticExport',
  metadata: { name, namespace },
  spec: { domain: `${name}.example.com`, api: { keySecretRef: { name: 'export-api' } }, ...spec },
});

before(async () => {
  vendor = await startVendor();
  vendor.script('running.example.com', { status: () => 'running' });
  vendor.script('failing.example.com', { status: () => 'failed' });
  vendor.script('refused.example.com', {
    start: { status: 422, body: '{"error":"no such domain"}', requestId: 'req-4711' },
  });
  world = await startChartedCluster({ namespaces: [namespace], watchNamespaces: [namespace] });
  await world.apply(
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'export-api', namespace },
      stringData: { apiKey: goodKey },
    },
    staticExport('running', {
      targets: [{ name: 'argo', type: 'Values', values: { kind: 'ConfigMap', name: 'nowhere' } }],
    }),
    staticExport('published', { schedule: '0 3 * * *' }),
    staticExport('held', { promotion: { mode: 'Manual' } }),
    staticExport('pinned'),
    staticExport('suspended'),
    staticExport('refused'),
    staticExport('lost'),
  );
  reader = createReader(world, namespace);
  operator = await startOperator(world, [
    `--api-base-url=${vendor.url}`,
    '--allow-private-links',
    `--watch-namespaces=${namespace}`,
    '--request-timeout=5s',
  ]);
});

after(async () => {
  await operator?.child.stop();
  await vendor?.close();
  await world?.stop();
});

const patch = (name: string, spec: object) =>
  world.kubectl(['patch', 'sx', name, '-n', namespace, '--type=merge', '-p', JSON.stringify({ spec })]);

/** The cells of one row by column, found by where kubectl's columns begin. */
async function rowOf(name: string, ...flags: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await world.kubectl(['get', 'sx', '-n', namespace, ...flags]);
  const [head = '', ...lines] = stdout.split('\n');
  if (flags.length === 0) {
    // An age of more than two minutes, as `2m10s`, is wider than any that lasts.
    const widths = stdout.split('\n').map((line) => line.trimEnd().replace(/(\dm\d)\ds$/, '$1').length);
    const widest = Math.max(...widths);
    assert.ok(widest <= widestTerminal, `${widest} columns:\n${stdout}`);
  }
  const columns = [...head.matchAll(/\S+/g)].map(([title], at, all) => ({
    title,
    from: all[at]?.index ?? 0,
    to: all[at + 1]?.index,
  }));
  const line = lines.find((one) => one.startsWith(`${name} `)) ?? assert.fail(stdout);
  return new Map(columns.map(({ title, from, to }) => [title, line.slice(from, to).trim()]));
}

const cells = (row: ReadonlyMap<string, string>, ...titles: readonly string[]) =>
  titles.map((title) => row.get(title));

const eventOf = (name: string, reason: string) =>
  eventually(`an event ${reason} of ${name}`, async () =>
    (await reader.eventsOf(name)).find((event) => event.reason === reason),
  );

test('a running first job shows its state, percent, pages and id', async () => {
  await eventually('a poll in the table', async () =>
    (await rowOf('running', '-o', 'wide')).get('JOB') === 'running' ? true : undefined,
  );
  const row = await rowOf('running', '-o', 'wide');
  assert.deepEqual(cells(row, 'READY', 'REASON', 'VERSION', 'JOB', '%', 'PAGES', 'LINK-EXPIRES'), [
    'False',
    'Exporting',
    '',
    'running',
    '40',
    '7',
    '',
  ]);
  const [job = ''] = vendor.jobs('running.example.com');
  assert.equal(row.get('JOB-ID'), job);
  const { message } = (await reader.condition('running', 'Ready')) ?? assert.fail();
  assert.ok(message.includes(`Job ${job} at 127.0.0.1:${vendor.port}.`), message);
});

test('targets of a first export wait without a warning', async () => {
  assert.equal((await reader.condition('running', 'TargetsSynced'))?.status, 'Unknown');
  await eventOf('running', 'ExportStarted');
  assert.deepEqual(
    (await reader.eventsOf('running')).filter(({ type }) => type === 'Warning'),
    [],
  );
});

test('a published resource shows its version, pages and link; the wide output also the next times', async () => {
  await reader.awaitCondition('published', 'Ready', 'True', 'Published');
  const { status } = await reader.read('sx', 'published');
  const row = await rowOf('published', '-o', 'wide');
  assert.deepEqual(cells(row, 'READY', 'REASON', 'VERSION', 'JOB', '%', 'PAGES', 'LINK-EXPIRES'), [
    'True',
    'Published',
    status.active.version,
    'completed',
    '100',
    '1',
    status.active.linkExpirationTime,
  ]);
  assert.deepEqual(cells(row, 'EXPORTED', 'CANDIDATE', 'NEXT-REFRESH', 'NEXT-EXPORT', 'DIGEST'), [
    'Promoted',
    '',
    status.nextRefreshTime,
    status.nextExportTime,
    status.active.digest,
  ]);
});

test('a held candidate shows its pages, and the command that promotes it', async () => {
  const { message } = await reader.awaitCondition('held', 'Stalled', 'True', 'AwaitingPromotion');
  const row = await rowOf('held', '-o', 'wide');
  assert.deepEqual(cells(row, 'READY', 'REASON', 'VERSION', 'JOB', 'PAGES'), [
    'False',
    'AwaitingPromotion',
    '',
    'completed',
    '1',
  ]);
  const candidate = row.get('CANDIDATE') ?? '';
  assert.ok(message.includes(`annotation staticexport.dev/promote=${candidate}`), message);
});

test('a pin is shown, has an event at its start and its end, and then the newest version follows', async () => {
  await reader.awaitCondition('pinned', 'Ready', 'True', 'Published');
  const first: string = (await reader.read('sx', 'pinned')).status.active.version;
  vendor.script('pinned.example.com', { content: { 'index.html': '<h1>new</h1>', 'b.html': 'b' } });
  await reader.request('pinned', 'newer');
  const newer = await eventually(
    'the newer version',
    async () => {
      const { version } = (await reader.read('sx', 'pinned')).status.active;
      return version === first ? undefined : String(version);
    },
    { timeoutMs: 120_000 },
  );
  await patch('pinned', { pin: { version: first } });
  await reader.awaitCondition('pinned', 'Ready', 'True', 'Pinned');
  assert.deepEqual(cells(await rowOf('pinned', '-o', 'wide'), 'READY', 'REASON', 'VERSION', 'PAGES'), [
    'True',
    'Pinned',
    first,
    '1',
  ]);
  const pinned = await eventOf('pinned', 'Pinned');
  assert.deepEqual(
    [pinned.type, pinned.note],
    ['Normal', `Version ${first} is published because it is pinned, 1 page. It replaces ${newer}.`],
  );
  await patch('pinned', { pin: null });
  const { message } = await reader.awaitCondition('pinned', 'Ready', 'True', 'Published');
  assert.match(message, new RegExp(`${newer} is newer.*annotation staticexport\\.dev/requestedAt=`));
  assert.equal((await eventOf('pinned', 'Unpinned')).type, 'Normal');
});

test('a suspended resource is shown as suspended', async () => {
  await reader.awaitCondition('suspended', 'Ready', 'True', 'Published');
  await patch('suspended', { suspend: true });
  await reader.awaitCondition('suspended', 'Ready', 'True', 'Suspended');
  assert.deepEqual(cells(await rowOf('suspended', '-o', 'wide'), 'READY', 'REASON', 'JOB'), [
    'True',
    'Suspended',
    'completed',
  ]);
});

test('table, condition and event name a failed job', async () => {
  // A minute after the failure a second job starts.
  await world.apply(staticExport('failing'));
  const { message } = await reader.awaitCondition('failing', 'Exported', 'False', 'JobFailed');
  const [job = ''] = vendor.jobs('failing.example.com');
  const where = `Job ${job} at 127.0.0.1:${vendor.port}.`;
  assert.ok(message.includes(where), message);
  const row = await rowOf('failing', '-o', 'wide');
  assert.deepEqual(cells(row, 'READY', 'REASON', 'JOB', 'EXPORTED'), [
    'False',
    'BackingOff',
    'failed',
    'JobFailed',
  ]);
  const ready = await reader.condition('failing', 'Ready');
  assert.match(ready?.message ?? '', /Retrying at \d{4}-/);
  assert.ok((await eventOf('failing', 'JobFailed')).note.includes(where));
});

test('a refused start shows the words of the export API and its request id', async () => {
  const { message } = await reader.awaitCondition('refused', 'Exported', 'False', 'StartRefused');
  assert.match(
    message,
    /check that it exports refused\.example\.com \(BadRequest\)\. The export API answered: "no such domain"\. Request id: req-4711\. Retrying at /,
  );
  assert.equal((await reader.read('sx', 'refused')).status.failures.export.requestId, 'req-4711');
});

test('after a deletion of the output Secret the status says that no link can be obtained', async () => {
  await reader.awaitCondition('lost', 'Ready', 'True', 'Published');
  const { version } = (await reader.read('sx', 'lost')).status.active;
  vendor.script('lost.example.com', { issue: { status: 503, body: '', requestId: 'req-4712' } });
  await world.kubectl(['delete', 'secret', 'lost-bundle', '-n', namespace]);
  // The command that doctor and the runbook give.
  const annotation = 'staticexport.dev/reconcile=1';
  await world.kubectl(['annotate', 'staticexport', 'lost', '-n', namespace, annotation, '--overwrite']);
  const { message } = await reader.awaitCondition('lost', 'Ready', 'False', 'LinkExpired');
  assert.match(message, /Secret lost-bundle was deleted\. It is written again for version \d{8}-/);
  assert.match(
    message,
    /returned a server error: HTTP 503 \(ServerError\)\. Request id: req-4712\. Retrying at \S+Z\.$/,
  );
  const missing = await eventOf('lost', 'OutputMissing');
  assert.deepEqual(
    [missing.type, missing.note],
    [
      'Warning',
      `Secret ${namespace}/lost-bundle was deleted. It is written again for version ${version} with the next link.`,
    ],
  );
  const link = await reader.condition('lost', 'LinkFresh');
  assert.match(link?.message ?? '', /Secret lost-bundle was deleted/);
  vendor.script('lost.example.com', { issue: undefined });
  await reader.awaitCondition('lost', 'Ready', 'True', 'Published', 90_000);
  assert.equal((await reader.readOutput('lost')).published.version, version);
  const { length } = (await reader.eventsOf('lost')).filter(({ reason }) => reason === 'OutputMissing');
  assert.equal(length, 1, 'reported once');
});

test('every output fits a terminal, and no status broke a rule that other programs rely on', async () => {
  await rowOf('published');
  reader.assertRulesKept();
});
