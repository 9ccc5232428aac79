// The whole operator as a process, on a real API server, with exactly the chart's permissions, against a scripted
// vendor: what it stores there, what kubectl shows of it, and the commands of crds/README.md. The simulation plays the rest.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { parse } from 'yaml';
import { eventually } from '../../support/eventually.ts';
import { missingMetrics } from './metric-names.ts';
import { startEnvironment } from './operator-environment.ts';
import { requirePublishedLink } from './resource-reader.ts';
import { signature } from './scripted-vendor.ts';

const namespace = 'published';
const widestTerminal = 120;
const valuesText = '# the site\nreplicas: 2\nstaticExport:\n  enabled: false # for now\n  version: none\n';

const valuesMap = (name: string, owner: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, annotations: { 'staticexport.dev/allow-from': `${namespace}/${owner}` } },
  data: { 'values.yaml': valuesText },
});
const valuesTarget = (name: string) => ({ name, type: 'Values', values: { kind: 'ConfigMap', name } });

const { world, vendor, reader, staticExport, start } = await startEnvironment({ namespaces: [namespace] });
vendor.script('running.example.com', { status: () => 'running' });
vendor.script('failing.example.com', { status: () => 'failed' });
vendor.script('refused.example.com', {
  start: {
    ...{ status: 422, type: 'application/json', requestId: 'req-4711' },
    body: JSON.stringify({ error: 'svc_echo-Kx81hT2mQ9: no such domain' }),
  },
});
await world.apply(
  valuesMap('granted', 'docs'),
  valuesMap('ungranted', 'another'),
  staticExport('docs', {
    targets: [valuesTarget('granted'), valuesTarget('ungranted')],
    schedule: '0 3 * * *',
  }),
  staticExport('running'),
  staticExport('held', { promotion: { mode: 'Manual' } }),
  staticExport('failing'),
  staticExport('refused'),
);
const operator = await start(['--request-timeout=5s']);

/** These cells of one row, found by where kubectl's columns begin. */
async function cellsOf(name: string, ...titles: readonly string[]): Promise<readonly (string | undefined)[]> {
  const { stdout } = await world.kubectl(['get', 'sx', '-n', namespace, '-o', 'wide']);
  const [head = '', ...lines] = stdout.split('\n');
  const columns = [...head.matchAll(/\S+/g)];
  const line = lines.find((one) => one.startsWith(`${name} `)) ?? assert.fail(stdout);
  return titles.map((title) => {
    const at = columns.findIndex(([found]) => found === title);
    return line.slice(columns[at]?.index, columns[at + 1]?.index).trim();
  });
}

const eventOf = (name: string, reason: string) =>
  eventually(`an event ${reason} of ${name}`, async () =>
    (await reader.eventsOf(name)).find((event) => event.reason === reason),
  );

test('a running first job shows its state, percent, pages and id, and its targets wait without a warning', async () => {
  await eventually('a poll in the table', async () =>
    (await cellsOf('running', 'JOB'))[0] === 'running' ? true : undefined,
  );
  const [job = ''] = vendor.jobs('running.example.com');
  const titles = ['READY', 'REASON', 'VERSION', 'JOB', '%', 'PAGES', 'LINK-EXPIRES', 'JOB-ID'];
  const cells = ['False', 'Exporting', '', 'running', '40', '7', '', job];
  assert.deepEqual(await cellsOf('running', ...titles), cells);
  const { message = '' } = (await reader.condition('running', 'Ready')) ?? {};
  assert.ok(message.includes(`Job ${job} at 127.0.0.1:${vendor.port}.`), message);
  await eventOf('running', 'ExportStarted');
  assert.ok((await reader.eventsOf('running')).every(({ type }) => type !== 'Warning'));
});

test('a StaticExport becomes a Secret and a ConfigMap that name the same version, owned by it', async () => {
  await reader.awaitCondition('docs', 'Ready', 'True', 'Published');
  const object = await reader.read('sx', 'docs');
  const { secret, text, published } = await reader.readOutput('docs');
  const map = await reader.read('configmap', 'docs-bundle');
  const { version, digest, linkExpirationTime } = object.status.active;
  assert.match(version, /^\d{8}-\d{6}-[0-9a-f]{8}$/);
  const [jobId] = vendor.jobs('docs.example.com');
  assert.deepEqual([published.version, published.jobId, published.pages], [version, jobId, 1]);
  const link = requirePublishedLink(published).url.reveal();
  assert.match(link, new RegExp(`signature=${signature}$`));
  assert.equal(text('version'), version);
  assert.deepEqual(parse(text('values.yaml')), { staticExport: { enabled: true, bundleUrl: link, version } });
  assert.deepEqual(parse(map.data['values.yaml']), { staticExport: { enabled: true, version } });
  assert.equal(map.data.digest, published.digest);
  for (const { metadata } of [secret, map]) {
    const { uid, controller } = metadata.ownerReferences[0];
    assert.deepEqual([uid, controller], [object.metadata.uid, true]);
  }
  assert.equal((await fetch(link)).status, 200);
  const { nextRefreshTime, nextExportTime } = object.status;
  assert.deepEqual(await cellsOf('docs', 'READY', 'REASON', 'VERSION', 'JOB', '%', 'PAGES', 'LINK-EXPIRES'), [
    'True',
    'Published',
    version,
    'completed',
    '100',
    '1',
    linkExpirationTime,
  ]);
  assert.deepEqual(await cellsOf('docs', 'EXPORTED', 'CANDIDATE', 'NEXT-REFRESH', 'NEXT-EXPORT', 'DIGEST'), [
    'Promoted',
    '',
    nextRefreshTime,
    nextExportTime,
    digest,
  ]);
});

test('a values document with consent is changed in its values keys only; one without is not changed', async () => {
  const { version } = (await reader.read('sx', 'docs')).status.active;
  // `Ready` does not wait for targets.
  await reader.awaitCondition('docs', 'TargetsSynced', 'False', 'NotGranted');
  const expected = valuesText
    .replace('enabled: false', 'enabled: true')
    .replace('version: none', `version: "${version}"`);
  await eventually('the granted document', async () => {
    assert.equal((await reader.read('configmap', 'granted')).data['values.yaml'], expected);
    return true;
  });
  assert.equal((await reader.read('configmap', 'ungranted')).data['values.yaml'], valuesText);
});

test('a held candidate shows its pages, and the command that promotes it', async () => {
  const { message } = await reader.awaitCondition('held', 'Stalled', 'True', 'AwaitingPromotion');
  const cells = await cellsOf('held', 'READY', 'REASON', 'VERSION', 'JOB', 'PAGES');
  assert.deepEqual(cells, ['False', 'AwaitingPromotion', '', 'completed', '1']);
  const [candidate = ''] = await cellsOf('held', 'CANDIDATE');
  assert.ok(
    candidate !== '' && message.includes(`annotation staticexport.dev/promote=${candidate}`),
    message,
  );
});

test('table, condition and one event name a failed job', async () => {
  const { message } = await reader.awaitCondition('failing', 'Exported', 'False', 'JobFailed');
  const [job = ''] = vendor.jobs('failing.example.com');
  assert.ok(message.includes(`Job ${job} at 127.0.0.1:${vendor.port}.`), message);
  // A minute later a second job starts.
  const [exported] = await cellsOf('failing', 'EXPORTED');
  assert.equal(exported, 'JobFailed');
  assert.ok((await eventOf('failing', 'JobFailed')).note.includes(`Job ${job} at`));
});

test('a refused start shows the words of the export API without a key in them, and its request id', async () => {
  const { message } = await reader.awaitCondition('refused', 'Exported', 'False', 'StartRefused');
  assert.match(
    message,
    /check that it exports refused\.example\.com \(BadRequest\)\. The export API answered: "\[redacted\]: no such domain"\. Request id: req-4711\. /,
  );
  assert.equal((await reader.read('sx', 'refused')).status.failures.export.requestId, 'req-4711');
});

test('the table fits a terminal', async () => {
  const { stdout } = await world.kubectl(['get', 'sx', '-n', namespace]);
  // An age of more than two minutes, as `2m10s`, is wider than any that lasts.
  const widths = stdout.split('\n').map((line) => line.trimEnd().replace(/(\dm\d)\ds$/, '$1').length);
  assert.ok(Math.max(...widths) <= widestTerminal, stdout);
});

/** The first command of the README that contains all of these words, with `token` for what a shell would fill in. */
async function runOfReadme(token: string, ...words: readonly string[]): Promise<unknown> {
  const readme = await readFile(new URL('../../../crds/README.md', import.meta.url), 'utf8');
  const commands = [...readme.matchAll(/(?:^|`)kubectl ([^`\n]+)/gm)].map(([, command = '']) =>
    command.trim(),
  );
  const command = commands.find((one) => words.every((word) => one.includes(word)));
  assert.ok(command !== undefined, `no command with ${words.join(', ')}`);
  const filled = command.replaceAll(/"?\$token"?|\$\(date \+%s\)/g, token).replaceAll("'", '');
  return world.kubectl([...filled.split(' '), '-n', namespace]);
}

const requestAndWait = async (token: string): Promise<void> => {
  await runOfReadme(token, 'annotate sx docs', 'requestedAt="$token"');
  await runOfReadme(token, 'wait sx docs', 'lastCompletedRequest');
};

test('a client that waits for its request reads its own outcome, not the previous one', async () => {
  const before = (await reader.readOutput('docs')).published;
  vendor.script('docs.example.com', { content: { 'index.html': '<h1>new</h1>', 'b.html': 'b' } });
  await requestAndWait('with-new-content');
  const after = (await reader.readOutput('docs')).published;
  assert.notEqual(after.version, before.version);
  assert.equal((await reader.read('sx', 'docs')).status.active.version, after.version);
  await runOfReadme('', 'wait sx docs', 'condition=Exported');

  // The earlier good state must not count as the answer.
  vendor.script('docs.example.com', { status: (poll) => (poll < 4 ? 'running' : 'failed') });
  await requestAndWait('that-fails');
  assert.equal((await reader.condition('docs', 'Exported'))?.reason, 'JobFailed');
  await assert.rejects(runOfReadme('', 'wait sx docs', 'condition=Exported'));
});

test('a requested reconcile restores a deleted output, and a requested link replaces the link of the same version', async () => {
  const first = (await reader.readOutput('docs')).published;
  await world.kubectl(['delete', 'secret', 'docs-bundle', '-n', namespace]);
  await runOfReadme('now', 'annotate sx docs', 'staticexport.dev/reconcile');
  const read = async () => (await reader.readOutput('docs')).published;
  const second = await eventually('the output', read, { timeoutMs: 30_000 });
  await runOfReadme('leaked', 'annotate sx docs', 'refreshRequestedAt=');
  await eventually('the token', async () => {
    const { status } = await reader.read('sx', 'docs');
    return status.lastHandledRefresh === 'leaked' || undefined;
  });
  const published = [first, second, await read()];
  assert.equal(new Set(published.map(({ version }) => version)).size, 1);
  assert.equal(new Set(published.map((one) => requirePublishedLink(one).url.reveal())).size, 3);
});

test('metrics show what is published, and drop a deleted resource', async () => {
  const before = await eventually('all metrics', async () => {
    const { text } = await operator.get('/metrics');
    assert.deepEqual(missingMetrics(text), []);
    return text;
  });
  const label = `namespace="${namespace}",name="docs"`;
  assert.match(before, new RegExp(`^staticexport_ready\\{${label}\\} 1$`, 'm'));
  assert.match(before, new RegExp(`^staticexport_pages\\{${label}\\} 2$`, 'm'));
  assert.match(before, /^leader_election_master_status\{name="staticexport"\} 1$/m);
  assert.match(
    before,
    /^controller_runtime_reconcile_total\{controller="staticexport",result="requeue_after"\} \d+$/m,
  );
  await world.api.remove('sx', 'docs', namespace);
  await eventually('metrics without the deleted resource', async () =>
    (await operator.get('/metrics')).text.includes(label) ? undefined : true,
  );
  // Targets keep their last value.
  assert.match((await reader.read('configmap', 'granted')).data['values.yaml'], /version: "\d{8}-/);
});

test('no status broke a rule that other programs rely on, and on SIGTERM the operator releases its lease', async () => {
  reader.assertRulesKept();
  await operator.child.stop('SIGTERM', 40_000);
  assert.equal(await operator.child.exited, 0);
  const { spec } = await world.api.read('lease', world.leaseName, world.operatorNamespace);
  assert.equal(spec.holderIdentity ?? '', '');
});
