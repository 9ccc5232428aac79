// The operator's flags of mirrors: which combinations are refused, and what becomes of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operatorProgram } from '#operator/flags.ts';
import { defaultMirrorOf, mirrorHostsOf } from '#operator/mirror-flags.ts';
import { readInvocation } from '#platform/runtime/flags/flags.ts';

const read = (...args: readonly string[]) => readInvocation(operatorProgram, '0', args, {});

function valuesOf(...args: readonly string[]) {
  const invocation = read(...args);
  assert.ok(invocation.outcome === 'run', JSON.stringify(invocation));
  return invocation.values;
}

const repository = '--default-mirror=oci://h.example.com/docs/{namespace}/{name}';
const bucket = '--default-mirror=s3://bucket/{namespace}/{name}';
const isPlain = '--default-mirror-endpoint=http://s3.example.com';

for (const [args, reason] of [
  [['--allowed-mirror-hosts=a.example.com,https://b.example.com/path'], /entry 2 must be HOST, HOST:PORT or/],
  [['--default-mirror=oci://h.example.com/docs'], /\{namespace\}\/\{name\} or s3/],
  [
    ['--default-mirror=oci://h.example.com/Docs/{namespace}/{name}'],
    /^--default-mirror: The address of the OCI/,
  ],
  [['--default-mirror=s3://B/{namespace}/{name}'], /^--default-mirror: The address of the mirror/],
  [
    ['--default-mirror-credentials=/x'],
    /--default-mirror-credentials has no effect without --default-mirror/,
  ],
  [['--default-mirror-region=eu-west-1'], /--default-mirror-region has no effect/],
  [['--allow-http-default-mirror'], /--allow-http-default-mirror has no effect/],
  [[repository, '--default-mirror-path-style'], /--default-mirror-path-style is for s3:\/\//],
  [[bucket, isPlain], /plain HTTP; write https:\/\/, or add --allow-http-default-mirror/],
  [[bucket, '--default-mirror-endpoint=https://s3.example.com/path'], /^--default-mirror: The endpoint/],
  [[bucket, '--default-mirror-region=EU'], /^--default-mirror: The region/],
] as const) {
  test(`${args.join(' ')} is refused`, () => {
    const invocation = read(...args);
    assert.ok(invocation.outcome === 'refuse', invocation.outcome);
    assert.match(invocation.reason, reason);
  });
}

test('without the flags no mirror is allowed', () => {
  const none = { allowedHosts: [], allowPrivateHosts: false, defaultMirror: undefined };
  assert.deepEqual(mirrorHostsOf(valuesOf()), none);
  assert.equal(defaultMirrorOf(valuesOf()), undefined);
});

test('the flags become hosts, and the settings of the loop without the connection', () => {
  const values = valuesOf(
    ...['--allowed-mirror-hosts=registry.example.com,http://10.0.0.1:5000', '--allow-private-mirror-hosts'],
    ...[bucket, isPlain, '--allow-http-default-mirror', '--default-mirror-path-style'],
    '--default-mirror-credentials=/etc/mirror',
  );
  const own = {
    address: 's3://bucket/{namespace}/{name}',
    ...{ endpoint: 'http://s3.example.com', region: 'us-east-1', pathStyle: true },
  };
  assert.deepEqual(mirrorHostsOf(values), {
    allowedHosts: ['registry.example.com', 'http://10.0.0.1:5000'],
    allowPrivateHosts: true,
    defaultMirror: { ...own, credentialsFolder: '/etc/mirror', isHttpAllowed: true },
  });
  assert.deepEqual(defaultMirrorOf(values), own);
});

test('a repository needs its address alone', () => {
  const { address } = defaultMirrorOf(valuesOf(repository)) ?? {};
  assert.equal(address, 'oci://h.example.com/docs/{namespace}/{name}');
});
