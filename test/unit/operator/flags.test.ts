// The operator's command line: what is needed (nothing), what does not go together, what each default is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operatorProgram, reconcileTimeoutOf } from '#operator/flags.ts';
import { flagName, readInvocation } from '#platform/runtime/flags/flags.ts';

const read = (...args: readonly string[]) => readInvocation(operatorProgram, '0', args, {});

test('the operator runs without any flag', () => {
  const invocation = read();
  assert.equal(invocation.outcome, 'run');
  if (invocation.outcome !== 'run') return;
  assert.deepEqual(invocation.values.watchNamespaces, []);
  assert.equal(invocation.values.leaseDuration, 15_000);
  assert.equal(invocation.values.inspectConcurrency, 2);
  assert.equal(invocation.values.allowPrivateLinks, false);
  assert.equal(invocation.values.allowPrivateGitHosts, false);
});

test('private hosts of git targets and private links are allowed separately', () => {
  for (const flag of ['allowPrivateGitHosts', 'allowPrivateLinks'] as const) {
    const invocation = read(`--${flagName(flag)}`);
    assert.ok(invocation.outcome === 'run');
    const { allowPrivateGitHosts, allowPrivateLinks } = invocation.values;
    assert.deepEqual(
      { allowPrivateGitHosts, allowPrivateLinks },
      { allowPrivateGitHosts: false, allowPrivateLinks: false, [flag]: true },
    );
  }
});

for (const [args, reconcileMs] of [
  [[], 300_000],
  [['--request-timeout=40s'], 300_000],
  [['--request-timeout=60s'], 420_000],
  [['--request-timeout=60s', '--reconcile-timeout=361s'], 361_000],
] as const) {
  test(`with ${args.join(' ') || 'no flag'} a reconcile has ${reconcileMs / 1000} s`, () => {
    const invocation = read(...args);
    assert.ok(invocation.outcome === 'run');
    assert.equal(reconcileTimeoutOf(invocation.values), reconcileMs);
  });
}

const refusals: readonly (readonly [args: readonly string[], words: RegExp])[] = [
  [['--workers=0'], /--workers must be a whole number from 1 to 64/],
  [['--workers=999999999'], /--workers must be a whole number from 1 to 64/],
  [['--inspect-concurrency=0'], /--inspect-concurrency must be a whole number from 1 to 64/],
  [['--inspect-concurrency=1.5'], /--inspect-concurrency must be a whole number from 1 to 64/],
  [['--request-timeout=0s'], /--request-timeout must be more than 0/],
  [['--max-bundle-size=0'], /--max-bundle-size must be more than 0/],
  [['--lease-duration=1s'], /--lease-duration must be at least 3s/],
  ...['*', '-A', 'Docs', 'docs,a b', `docs,${'x'.repeat(64)}`].map(
    (names) =>
      [[`--watch-namespaces=${names}`], /--watch-namespaces must be names .* omit it for all/] as const,
  ),
  ...['*.example.com', '2001:db8::1', 'api.example.com/prefix', 'ftp://api.example.com'].map(
    (entry) =>
      [
        [`--allowed-api-hosts=ok.example.com,${entry}`],
        /--allowed-api-hosts: entry 2 must be HOST, HOST:PORT or http:\/\/HOST:PORT/,
      ] as const,
  ),
  [['--reconcile-timeout=30s'], /--reconcile-timeout must exceed 6 × --request-timeout/],
  [
    ['--request-timeout=1m', '--reconcile-timeout=6m'],
    /--reconcile-timeout must exceed 6 × --request-timeout/,
  ],
  [['--api-base-url=export.example.com'], /--api-base-url must be an http/],
  [
    ['--api-base-url=https://docs:word@export.example.com'],
    /--api-base-url must be a URL without user, password/,
  ],
  [['--watch-namespace=a'], /did you mean --watch-namespaces/],
];
for (const [args, words] of refusals) {
  test(`refused: ${args.join(' ')}`, () => {
    const invocation = read(...args);
    assert.equal(invocation.outcome, 'refuse');
    if (invocation.outcome === 'refuse') assert.match(invocation.text, words);
  });
}
