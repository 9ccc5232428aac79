// The export of conversations of the site's chart: the command accepts its arguments, and what visitors wrote stays on one
// volume: no port, no token, no shared key.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conversationSection } from '#conversations/commands/conversation-commands.ts';
import { RenderedObject, refusalOf } from './rendered-chart.ts';
import { chart, full, one, render } from './site-chart.ts';

const kinds = ['CronJob', 'PersistentVolumeClaim', 'NetworkPolicy'];
const base = { staticExport: { existingSecret: 'docs-bundle' } };
const enabled = {
  enabled: true,
  apiBaseUrl: 'https://export.example.com',
  project: 'docs',
  keySecretRef: { name: 'docs-conversations' },
};
const podOf = (objects: readonly RenderedObject[]): RenderedObject =>
  new RenderedObject(one(objects, 'CronJob').at('spec.jobTemplate.spec.template'));

const [command, report] = ['export', 'gaps'].map((verb) =>
  conversationSection.commands.find(({ words }) => words === `conversations ${verb}`),
);

for (const name of ['conversations', 'everything']) {
  test(`the command accepts every argument of ${name}`, async () => {
    assert.ok(command !== undefined);
    const [program, first, second, ...args] = podOf(await render(name)).textsAt('spec.initContainers.0.args');
    assert.deepEqual([program, first, second], ['static-export', 'conversations', 'export']);
    const invocation = command.read(args, {});
    assert.equal(invocation.outcome, 'run', invocation.outcome === 'run' ? '' : invocation.text);
  });
}

test('the report is written beside the turns after the export, and prints no words of visitors', async () => {
  assert.ok(report !== undefined);
  const pod = podOf(await render('conversations'));
  const [program, first, second, ...args] = pod.textsAt('spec.containers.0.args');
  assert.deepEqual([program, first, second], ['static-export', 'conversations', 'gaps']);
  const invocation = report.read(args, {});
  assert.equal(invocation.outcome, 'run', invocation.outcome === 'run' ? '' : invocation.text);
  const to = pod.textsAt('spec.initContainers.0.args').find((flag) => flag.startsWith('--to='));
  assert.ok(args.includes(`--from=${to?.slice('--to='.length)}`));
  assert.ok(args.includes('--to=/var/lib/conversations/reports'));
  assert.equal(pod.at('spec.containers.0.ports'), undefined);
  assert.deepEqual(
    pod.at('spec.containers.0.securityContext'),
    pod.at('spec.initContainers.0.securityContext'),
  );
});

test('without a report the export is the only container', async () => {
  const values = { conversations: { ...enabled, format: 'csv', report: { enabled: false } } };
  const pod = podOf(await render('conversations', { values }));
  assert.equal(pod.at('spec.initContainers'), undefined);
  assert.equal(pod.at('spec.containers.0.name'), 'export');
  assert.equal(pod.at('spec.containers.1'), undefined);
});

test('nothing of it is rendered unless it is enabled', async () => {
  const objects = await render('existing-secret');
  assert.deepEqual(
    objects.filter((object) => kinds.includes(String(object.at('kind')))),
    [],
  );
});

test('it runs without a site too, with an account and an alert', async () => {
  const objects = await render('conversations', {
    values: { staticExport: { enabled: false }, monitoring: { kinds: 'always' } },
  });
  assert.deepEqual(objects.map((object) => object.at('kind')).toSorted(), [
    'CronJob',
    'NetworkPolicy',
    'PersistentVolumeClaim',
    'PrometheusRule',
    'ServiceAccount',
  ]);
  assert.deepEqual(
    one(objects, 'PrometheusRule').at('spec.groups.0.rules.0.alert'),
    'StaticExportSiteConversationsOverdue',
  );
});

test('one run at a time writes state, turns and the record of its budget to the claim', async () => {
  const objects = await render('conversations');
  const job = one(objects, 'CronJob');
  const pod = podOf(objects);
  assert.equal(job.at('spec.concurrencyPolicy'), 'Forbid');
  const claim = `${full}-conversations`;
  assert.equal(one(objects, 'PersistentVolumeClaim').at('metadata.name'), claim);
  assert.deepEqual(pod.at('spec.volumes.1'), {
    name: 'data',
    persistentVolumeClaim: { claimName: claim },
  });
  assert.deepEqual(pod.at('spec.initContainers.0.volumeMounts.1'), {
    name: 'data',
    mountPath: '/var/lib/conversations',
  });
  const folders = [
    ...pod.textsAt('spec.initContainers.0.args').filter((flag) => /^--(to|state)=/.test(flag)),
    `home=${pod.at('spec.initContainers.0.env.0.value')}`,
  ].map((flag) => flag.replace(/^.*?=/, ''));
  assert.equal(new Set(folders).size, 3);
  for (const folder of folders) assert.match(folder, /^\/var\/lib\/conversations\/[a-z]+$/);
  assert.equal(
    one(objects, 'PersistentVolumeClaim').at('metadata.annotations.helm~sh/resource-policy'),
    'keep',
  );
});

test('the pod has no port, no token and no key but its own file, and meets the restricted standard', async () => {
  for (const name of ['conversations', 'everything']) {
    const pod = podOf(await render(name));
    assert.equal(pod.at('spec.automountServiceAccountToken'), false);
    assert.equal(pod.at('spec.initContainers.0.ports'), undefined);
    assert.equal(pod.at('spec.securityContext.runAsNonRoot'), true);
    assert.equal(pod.at('spec.securityContext.fsGroup'), 65532);
    assert.deepEqual(pod.at('spec.securityContext.seccompProfile'), { type: 'RuntimeDefault' });
    assert.deepEqual(pod.at('spec.initContainers.0.securityContext'), {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    assert.equal(pod.at('spec.volumes.0.secret.secretName'), 'docs-conversations');
    const key = pod.at('spec.volumes.0.secret.items.0.path');
    const args = pod.textsAt('spec.initContainers.0.args');
    assert.ok(args.includes(`--key-file=/etc/static-export-conversations/${key}`));
    assert.doesNotMatch(JSON.stringify(pod.at('spec.initContainers.0.env')), /secretKeyRef/);
  }
});

test('nothing may reach the pod, and no Service or policy of the servers selects it', async () => {
  const objects = await render('conversations', { values: { networkPolicy: { enabled: true } } });
  const name = `${full}-conversations`;
  const policy = objects.find(
    (object) => object.at('kind') === 'NetworkPolicy' && object.at('metadata.name') === name,
  );
  assert.deepEqual(policy?.at('spec.policyTypes'), ['Ingress', 'Egress']);
  assert.equal(policy?.at('spec.ingress'), undefined);
  const labels = podOf(objects).at('metadata.labels');
  assert.deepEqual(policy?.at('spec.podSelector.matchLabels'), labels);
  const selectors = objects.flatMap((object) => {
    if (object === policy) return [];
    const selector =
      object.at('spec.podSelector.matchLabels') ??
      object.at('spec.selector.matchLabels') ??
      (object.at('kind') === 'Service' ? object.at('spec.selector') : undefined);
    return selector === undefined || object.at('kind') === 'ServiceMonitor' ? [] : [Object(selector)];
  });
  assert.ok(selectors.length >= 5, `${selectors.length}`);
  for (const selector of selectors) {
    assert.notEqual(selector['app.kubernetes.io/component'] ?? 'any', 'any');
    assert.notEqual(selector['app.kubernetes.io/component'], 'conversations');
  }
});

const refused: readonly (readonly [string, object, RegExp])[] = [
  ['no project', { conversations: { ...enabled, project: '' } }, /needs conversations\.project/],
  [
    'no export API',
    { conversations: { ...enabled, apiBaseUrl: '' } },
    /needs conversations\.apiBaseUrl or export\.api\.baseUrl/,
  ],
  [
    'no key',
    { conversations: { ...enabled, keySecretRef: { name: '' } } },
    /needs conversations\.keySecretRef\.name/,
  ],
  [
    "the operator's key",
    {
      staticExport: { existingSecret: '' },
      export: { create: true, domain: 'd.example', api: { keySecretRef: { name: 'docs-conversations' } } },
      conversations: enabled,
    },
    /must not be the Secret of export\.api\.keySecretRef: use a key of its own/,
  ],
  [
    'an address with a password',
    { conversations: { ...enabled, apiBaseUrl: 'https://user:word@export.example.com' } },
    /apiBaseUrl/,
  ],
  [
    'a format that the report cannot read',
    { conversations: { ...enabled, format: 'csv' } },
    /conversations\.format=csv has no report, because conversations\.report reads ndjson and sqlite: set conversations\.report\.enabled=false/,
  ],
  ['a mistyped value', { conversations: { ...enabled, buget: '1/h' } }, /buget/],
];
for (const [name, values, words] of refused) {
  test(`${name} is refused`, async () => {
    assert.match(await refusalOf(chart, { values: { ...base, ...values } }), words);
  });
}
