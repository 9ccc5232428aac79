// A report holds what a support case needs, and neither keys nor links, whatever pods and people wrote.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectReport } from '../../../../src/cli/doctor/report-files.ts';
import { zipOf } from '../../../../src/cli/doctor/zip-file.ts';
import type { Call, Transport } from '../../../../src/kube/transport/transport.ts';
import { ClusterError } from '../../../../src/wire/cluster-error.ts';
import { readBytes } from '../../../support/read-archive.ts';
import { facts, metadata, now, operator, surroundings } from './healthy-facts.ts';

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

function transportWith(answers: (call: Call) => unknown): Transport {
  return {
    call: async (call) => answers(call),
    stream: async () => log(),
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

async function report(answers: (call: Call) => unknown) {
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
  const deployment = { ...one.deployment, containers: [container] };
  const all = facts({
    exports: [{ ...around, object }],
    operators: { isComplete: true, value: [{ ...one, deployment }] },
  });
  return collectReport({ kind: 'DoctorReport' }, all, { transport: transportWith(answers), signal });
}

const answers = ({ address }: Call): unknown => ({
  metadata: {},
  items: address.resource.plural === 'pods' ? [podOfOperator] : [event],
});

test('a report holds the checks, the resources, the operators, events and logs', async () => {
  const files = await report(answers);
  assert.deepEqual(
    files.map(({ path }) => path),
    [
      'doctor.json',
      'versions.json',
      'staticexports.json',
      'trees.json',
      'servers.json',
      'operators.json',
      'leases.json',
      'permissions.json',
      'events.json',
      'operator-pods/ops.sx.json',
      'logs/ops.sx-0.log',
    ],
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
