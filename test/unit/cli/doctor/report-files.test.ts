// A report holds what a support case needs, and neither keys nor links, whatever pods and people wrote.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { requireNewReport, zipOf } from '#cli/doctor/report.ts';
import { collectReport } from '#cli/doctor/report-files.ts';
import type { Call, Transport } from '#operator/kube/transport/transport.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { readBytes } from '../../../support/read-archive.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { words } from '../../../support/words.ts';
import { facts, metadata, now, operator, surroundings } from './healthy-state.ts';

const key = 'svc_Kx81hT2mQ9';
const signature = 'c2lnbmF0dXJl';
const link = `https://s3.example.com/a.tgz?X-Amz-Signature=${signature}`;

async function* log(): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`{"level":"info","message":"started"}\n{"key":"${key}"}\n`);
  yield Buffer.from(`downloading ${link}\n`);
}

const podOfOperator = {
  metadata: { ...metadata('ops', 'sx-0'), annotations: { 'vault.example.com/token': key } },
  spec: {
    containers: [
      { name: 'operator', image: 'sx:0.1.0', env: [{ name: 'HTTPS_PROXY', value: `http://u:${key}@p` }] },
    ],
  },
  status: { phase: 'Running' },
};

function transportWith(
  answers: (call: Call) => unknown,
  logged: () => AsyncGenerator<Uint8Array> = log,
): Transport {
  return {
    call: async (call) => answers(call),
    stream: async ({ query }) => {
      assert.equal(query?.['limitBytes'], undefined);
      return logged();
    },
    close: async () => {},
  };
}

const event = {
  metadata: { name: 'e' },
  eventTime: '2026-11-23T11:00:00.000000Z',
  type: 'Warning',
  reason: 'LinkExpired',
  note: `see ${link}`,
  regarding: { kind: 'StaticExport', namespace: 'docs', name: 'docs' },
};

async function report(answers: (call: Call) => unknown, logged = log) {
  const signal = new AbortController().signal;
  const around = surroundings();
  const object = {
    ...around.object,
    metadata: metadata('docs', 'docs', {
      annotations: {
        'kubectl.kubernetes.io/last-applied-configuration': `{"key":"${key}"}`,
        'staticexport.dev/requestedAt': 't',
      },
    }),
  };
  const container = {
    name: 'operator',
    image: 'sx',
    args: ['operator', `--password=${key}`],
    command: [],
    env: [],
    envFrom: [],
    ports: [],
  };
  const one = operator();
  const sidecar = { ...container, name: 'proxy', args: ['--cookie-secret', 'secretcookievaluexyz'] };
  const deployment = { ...one.deployment, containers: [container, sidecar] };
  const all = facts({
    exports: [{ ...around, object }],
    operators: { isComplete: true, value: [{ ...one, deployment }] },
  });
  return collectReport({ kind: 'DoctorReport' }, all, { transport: transportWith(answers, logged), signal });
}

const answers = ({ address }: Call): unknown => ({
  metadata: {},
  items: address.resource.plural === 'pods' ? [podOfOperator] : [event],
});

test('a report holds the checks, the resources, the operators, events and logs', async () => {
  const files = await report(answers);
  assert.deepEqual(
    files.map(({ path }) => path),
    words(`
      doctor.json versions.json staticexports.json trees.json servers.json operators.json leases.json
      permissions.json events.json operator-pods/ops.sx.json logs/ops.sx-0.log
    `),
  );
  const textOf = (path: string): string => files.find((one) => one.path === path)?.text ?? '';
  assert.match(textOf('logs/ops.sx-0.log'), /"message":"started"/);
  assert.match(textOf('events.json'), /LinkExpired/);
  assert.match(textOf('staticexports.json'), /docs\.example\.com/);
});

test('no file of a report has a key, a link or the value of a variable', async () => {
  for (const { path, text } of await report(answers)) {
    for (const secret of [key, 'Kx81hT2mQ9', signature, 'HTTPS_PROXY']) {
      assert.equal(text.includes(secret), false, `${path}: ${text}`);
    }
  }
});

test('arguments of a sidecar are not in a report', async () => {
  const text = (await report(answers)).find(({ path }) => path === 'operators.json')?.text ?? '';
  const [{ containers }] = JSON.parse(text);
  assert.deepEqual(containers, [
    { name: 'operator', image: 'sx', args: ['operator', '[redacted]'] },
    { name: 'proxy', image: 'sx' },
  ]);
});

test('events are asked for by what they regard, page by page, and others are left out', async () => {
  const selectors: string[] = [];
  const eventOf = (name: string, kind: string, regarding: string) => ({
    ...event,
    metadata: { name, namespace: 'ops' },
    regarding: { kind, namespace: 'ops', name: regarding },
  });
  const files = await report(({ address, query = {} }) => {
    if (address.resource.plural === 'pods') return { metadata: {}, items: [podOfOperator] };
    const { fieldSelector = '', continue: next } = query;
    if (next === undefined) selectors.push(fieldSelector);
    if (fieldSelector === 'regarding.kind=ReplicaSet') {
      const names = ['sx-5d4f', 'sx-other-5d4f', 'unrelated'];
      return { metadata: {}, items: names.map((name) => eventOf(name, 'ReplicaSet', name)) };
    }
    if (fieldSelector !== 'regarding.uid=u') return { metadata: {}, items: [] };
    return next === undefined
      ? { metadata: { continue: 'two' }, items: [eventOf('a', 'Pod', 'first')] }
      : { metadata: {}, items: [eventOf('b', 'Pod', 'last')] };
  });
  const found: readonly { readonly regarding: string }[] = JSON.parse(
    files.find(({ path }) => path === 'events.json')?.text ?? '',
  );
  assert.deepEqual(found.map(({ regarding }) => regarding).sort(), [
    'Pod/ops/first',
    'Pod/ops/last',
    'ReplicaSet/ops/sx-5d4f',
  ]);
  assert.ok(selectors.every((selector) => selector.startsWith('regarding.')));
  assert.ok(selectors.includes('regarding.kind=Lease,regarding.name=sx'));
});

test('of a long log the end is kept, from a whole line', async () => {
  async function* long(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < 40; at += 1) yield Buffer.from(`${at} ${'x'.repeat(64 * 1024)}\n`);
    yield Buffer.from('the crash\n');
  }
  const files = await report(answers, long);
  const text = files.find(({ path }) => path === 'logs/ops.sx-0.log')?.text ?? '';
  assert.match(text, /^\d+ x{65536}\n/);
  assert.match(text, /\nthe crash\n$/);
  assert.ok(text.length > 900_000 && text.length <= 1024 * 1024, String(text.length));
});

test('what is not readable is named in its file', async () => {
  const files = await report(() => {
    throw new ClusterError('Forbidden', 'you have no permission to list it');
  });
  for (const path of ['events.json', 'operator-pods/ops.sx.json']) {
    assert.match(files.find((one) => one.path === path)?.text ?? '', /you have no permission/);
  }
});

test('the archive is a zip that an independent reader takes', async () => {
  const files = [
    { path: 'a/b.json', text: '{}\n' },
    { path: 'c.log', text: 'é' },
  ];
  const { contents } = await readBytes(await zipOf(files, now));
  assert.deepEqual(contents, { 'a/b.json': '{}\n', 'c.log': Buffer.from('é').toString('latin1') });
});

test('a report of doctor in a missing folder is refused before the cluster is read', async (t) => {
  const file = join(temporaryFolder(t), 'none', 'report.zip');
  await assert.rejects(requireNewReport(file), { code: 'DestinationMissing', outcome: 'usage' });
});
