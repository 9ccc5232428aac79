// The whole operator as a process, on a real API server, with exactly the chart's permissions, against a scripted
// vendor. All resources are created at the start and progress concurrently; each test checks one of them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { type ChartedCluster, startChartedCluster } from './charted-cluster.ts';
import { missingMetrics } from './metric-names.ts';
import { type OperatorProcess, startOperator } from './operator-process.ts';
import { createReader, requirePublishedLink } from './resource-reader.ts';
import { keySecret, namespace, resources, scriptDomains, surroundings, valuesText } from './resources.ts';
import { goodKey, type ScriptedVendor, signature, startVendor } from './scripted-vendor.ts';

let world: ChartedCluster;
let vendor: ScriptedVendor;
let operator: OperatorProcess;
let reader: ReturnType<typeof createReader>;
/** The port on which an export API answers later. */
let latePort: number;
let lateVendor: ScriptedVendor | undefined;

const flags = (): readonly string[] => [
  `--api-base-url=${vendor.url}`,
  `--allowed-api-hosts=http://127.0.0.1:${latePort}`,
  '--allow-private-links',
  `--watch-namespaces=${namespace}`,
  '--request-timeout=5s',
];

before(async () => {
  vendor = await startVendor();
  latePort = await findFreePort();
  scriptDomains(vendor);
  world = await startChartedCluster({ namespaces: [namespace], watchNamespaces: [namespace] });
  await world.apply(...surroundings);
  await world.apply(...resources(latePort));
  reader = createReader(world, namespace);
  operator = await startOperator(world, flags());
});

after(async () => {
  await operator?.child.stop();
  await vendor?.close();
  await lateVendor?.close();
  await world?.stop();
});

// First, because after three attempts the start has another key.
test('an export API that answers HTML or nothing is reported with its cause, and gets few calls', async () => {
  for (const name of ['html', 'empty']) {
    const { message } = await reader.awaitCondition(name, 'Ready', 'False', 'ExportApiUnreachable');
    assert.match(message, /did not answer as an export API \(HTTP 200\); check the base URL/);
    const starts = vendor.starts(`${name}.example.com`);
    // Once, and on a slow machine once more half a minute later, with the same key.
    assert.ok(starts.length <= 2 && new Set(starts).size === 1, `${starts}`);
  }
});

test('a refused key and a missing key are named, and cause no calls', async () => {
  await reader.awaitCondition('wrongkey', 'Stalled', 'True', 'KeyRefused');
  await reader.awaitCondition('latekey', 'Ready', 'False', 'KeyMissing');
  assert.deepEqual([vendor.jobs('wrongkey.example.com'), vendor.starts('latekey.example.com')], [[], []]);
  // Corrected now; a test below checks the result, because Secrets are read once a minute only.
  await world.apply(keySecret('wrong', goodKey), keySecret('later', goodKey));
});

test('a StaticExport becomes a Secret and a ConfigMap that name the same version, owned by it', async () => {
  await reader.awaitCondition('docs', 'Ready', 'True', 'Published');
  const object = await reader.read('sx', 'docs');
  const { secret, text, published } = await reader.readOutput('docs');
  const map = await reader.read('configmap', 'docs-bundle');
  const { version } = object.status.active;
  assert.match(version, /^\d{8}-\d{6}-[0-9a-f]{8}$/);
  assert.equal(published.version, version);
  assert.equal(published.jobId, vendor.jobs('docs.example.com')[0]);
  assert.equal(published.pages, 1);
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

test('a request starts an export: unchanged content changes no byte, new content becomes a new version', async () => {
  const earlier = await reader.readOutput('docs');
  const map = await reader.read('configmap', 'docs-bundle');
  await reader.request('docs', 'again');
  await reader.awaitCondition('docs', 'Exported', 'True', 'Unchanged');
  assert.equal((await reader.read('sx', 'docs')).status.lastHandledRequest, 'again');
  assert.equal(vendor.jobs('docs.example.com').length, 2);
  assert.equal((await reader.readOutput('docs')).text('bundle.json'), earlier.text('bundle.json'));
  assert.equal(
    (await reader.read('configmap', 'docs-bundle')).metadata.resourceVersion,
    map.metadata.resourceVersion,
  );

  vendor.script('docs.example.com', { content: { 'index.html': '<h1>new</h1>', 'b.html': 'b' } });
  await reader.request('docs', 'once more');
  await reader.awaitCondition('docs', 'Exported', 'True', 'Promoted');
  const { published } = await reader.readOutput('docs');
  assert.notEqual(published.digest, earlier.published.digest);
  assert.equal(published.pages, 2);
  await eventually('the new version in the granted document', async () => {
    const values = parse((await reader.read('configmap', 'granted')).data['values.yaml']);
    assert.equal(values.staticExport.version, published.version);
    return true;
  });
});

test("a foreign Secret with the output's name is not changed, and the status names it", async () => {
  const { message } = await reader.awaitCondition('foreign', 'Stalled', 'True', 'OutputNotOwned');
  assert.match(message, /foreign-bundle|Secret/);
  const secret = await reader.read('secret', 'foreign-bundle');
  assert.deepEqual(Object.keys(secret.data), ['precious']);
});

test('an invalid schedule stalls with a message that names it', async () => {
  const { message } = await reader.awaitCondition('badcron', 'Stalled', 'True', 'InvalidSchedule');
  assert.match(message, /schedule/i);
});

test('a failed job, an endless job and a job of unknown status keep the published version and are reported', async () => {
  await reader.awaitCondition('failing', 'Exported', 'False', 'JobFailed');
  await reader.awaitCondition('endless', 'Exported', 'False', 'TimedOut');
  const odd = await eventually('the unknown status in the resource', async () => {
    const { status } = await reader.read('sx', 'odd');
    return status?.job?.state === 'Reticulating' ? status : undefined;
  });
  assert.equal(odd.job.progress, 40);
  assert.equal((await reader.condition('odd', 'Ready'))?.status, 'False');
  assert.equal(vendor.jobs('odd.example.com').length, 1);
});

test('the operator waits for an export API that is down', async () => {
  assert.equal((await reader.condition('down', 'Ready'))?.status, 'False');
  lateVendor = await startVendor(latePort);
});

test('an unknown domain is reported with the words of the export API, without a key in them', async () => {
  const { message } = await reader.awaitCondition('nodomain', 'Stalled', 'True', 'StartRefused');
  assert.match(message, /The export API answered: "\[redacted\]: no such domain"/);
});

test('an archive that is broken, has no pages or cannot be downloaded is reported and not published', async () => {
  await reader.awaitCondition('garbage', 'Exported', 'False', 'BundleRejected');
  await reader.awaitCondition('nopages', 'Exported', 'False', 'TooFewPages');
  const { message } = await reader.awaitCondition('nohome', 'Exported', 'False', 'HomePageMissing');
  assert.match(message, /no index\.html at its root.*has 1 page, and none is its home page/);
  await eventually('a link request of the dead link', () =>
    vendor.issues('expiredlink.example.com') > 0 ? true : undefined,
  );
  await eventually('another try at the page that came in place of the archive', () =>
    vendor.issues('webpage.example.com') > 1 ? true : undefined,
  );
  assert.notEqual((await reader.condition('webpage', 'Exported'))?.reason, 'BundleRejected');
  for (const name of ['garbage', 'webpage', 'nopages', 'nohome', 'expiredlink']) {
    assert.equal((await reader.condition(name, 'Ready'))?.status, 'False');
    await assert.rejects(reader.read('secret', `${name}-bundle`), /NotFound/);
  }
});

test('users see one event for each publication and each failure', async () => {
  const count = async (name: string, reason: string) =>
    (await reader.eventsOf(name)).filter((one) => one.reason === reason).length;
  assert.equal(await count('docs', 'Promoted'), 2);
  assert.equal(await count('failing', 'JobFailed'), 1);
  assert.equal(await count('wrongkey', 'KeyRefused'), 1);
  assert.equal(await count('refreshed', 'Promoted'), 1);
});

test('a key is never sent to a host that is not allowed', async () => {
  const { message } = await reader.awaitCondition('elsewhere', 'Stalled', 'True', 'HostNotAllowed');
  assert.match(message, /add http:\/\/127\.0\.0\.2:1 to --allowed-api-hosts/);
});

test('links are refreshed before they expire, for the same version, without a download or a new ConfigMap', async () => {
  await reader.awaitCondition('refreshed', 'Ready', 'True', 'Published');
  const first = await reader.readOutput('refreshed');
  const map = await reader.read('configmap', 'refreshed-bundle');
  await eventually(
    'three more links',
    () => (vendor.issues('refreshed.example.com') >= 4 ? true : undefined),
    { timeoutMs: 120_000 },
  );
  const later = await eventually('a refreshed Secret', async () => {
    const output = await reader.readOutput('refreshed');
    const { issuedAt } = requirePublishedLink(output.published);
    return issuedAt > requirePublishedLink(first.published).issuedAt ? output : undefined;
  });
  assert.equal(later.published.version, first.published.version);
  assert.ok(requirePublishedLink(later.published).expiresAt > Date.now());
  assert.equal(
    (await reader.read('configmap', 'refreshed-bundle')).metadata.resourceVersion,
    map.metadata.resourceVersion,
  );
  assert.equal(vendor.jobs('refreshed.example.com').length, 1);
});

test('corrected keys are read within about a minute, without a watch on Secrets', async () => {
  await reader.awaitCondition('wrongkey', 'Ready', 'True', 'Published', 90_000);
  await reader.awaitCondition('latekey', 'Ready', 'True', 'Published', 90_000);
});

test('an unconfirmed start is sent again once, with the same key', async () => {
  for (const name of ['html', 'empty']) {
    const starts = await eventually('the second try', () => {
      const found = vendor.starts(`${name}.example.com`);
      return found.length >= 2 ? found : undefined;
    });
    assert.equal(starts[1], starts[0]);
    // Twice again at most; a slow machine may see the export after it, which has a key of its own.
    assert.ok(starts.filter((key) => key === starts[0]).length <= 3, `${starts}`);
  }
});

test('an export API that came up later completes the export', async () => {
  await reader.awaitCondition('down', 'Ready', 'True', 'Published', 180_000);
  assert.equal(lateVendor?.jobs('down.example.com').length, 1);
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

test('no observed status broke a rule that other programs rely on', () => {
  reader.assertRulesKept();
});

test('on SIGTERM the operator exits with 0 and releases its lease', async () => {
  await operator.child.stop('SIGTERM', 40_000);
  assert.equal(await operator.child.exited, 0);
  const { spec } = await world.api.read('lease', world.leaseName, world.operatorNamespace);
  assert.equal(spec.holderIdentity ?? '', '');
});
