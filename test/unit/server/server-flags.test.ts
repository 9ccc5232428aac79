// The command line of the server: what it needs, what goes together, what is refused and how.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { flagName, type Invocation, readInvocation } from '#platform/runtime/flags/flags.ts';
import { bundleServer, bundleServerFlags } from '#server/server-flags.ts';

const read = (
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Invocation<typeof bundleServerFlags> => readInvocation(bundleServer, '1.0.0', args, env);
const secret = 'https://storage.example.com/a?X-Amz-Signature=feedc0de';

test('bundle.json and a store are enough, and the rest has defaults', () => {
  const invocation = read(['--bundle-file', '/b/bundle.json', '--store', '/s']);
  assert.ok(invocation.outcome === 'run');
  const { listen, adminListen, keep, basePath, readiness, deploymentType, pollInterval, drainLinger } =
    invocation.values;
  assert.deepEqual(
    { listen, adminListen, keep, basePath, readiness, deploymentType, pollInterval, drainLinger },
    {
      listen: { host: '0.0.0.0', port: 8080 },
      adminListen: { host: '0.0.0.0', port: 9090 },
      keep: 2,
      basePath: undefined,
      readiness: 'bundle',
      deploymentType: 'Cloud',
      pollInterval: 5000,
      drainLinger: 5000,
    },
  );
});

test('a plain link comes by flag or variable, with a version or without, and is never text again', () => {
  for (const invocation of [
    read(['--bundle-url', secret, '--version', 'v7', '--store', '/s']),
    read(['--version', 'v7', '--store', '/s'], { BUNDLE_SERVER_BUNDLE_URL: secret }),
  ]) {
    assert.ok(invocation.outcome === 'run');
    assert.equal(invocation.values.version, 'v7');
    assert.equal(invocation.values.bundleUrl?.reveal(), secret);
    assert.ok(!JSON.stringify(invocation.values).includes('feedc0de'));
  }
  assert.equal(read(['--bundle-url', 'file:///a.tar.gz', '--store', '/s']).outcome, 'run');
});

const refused: readonly (readonly [readonly string[], RegExp])[] = [
  [['--store', '/s'], /nothing to serve: set --bundle-file .*, --bundle-url .* or --bundle-ref/],
  [['--store', '/s', '--bundle-file', 'f', '--bundle-url', secret], /exclude each other/],
  [['--store', '/s', '--bundle-file', 'f', '--version', 'v7'], /--version goes with --bundle-url/],
  [['--store', '/s', '--bundle-file', 'f', '--bundle-ref', 'r'], /exclude each other/],
  [['--store', '/s', '--bundle-ref', 'r'], /--bundle-ref and --digest go together/],
  [['--store', '/s', '--bundle-url', secret, '--digest', 'e'.repeat(64)], /go together/],
  [['--store', '/s', '--bundle-ref', 'r', '--digest', 'e'], /must be 64 hex digits/],
  [
    ['--store', '/s', '--bundle-file', 'f', '--mcp-token-file', 't'],
    /--mcp-token-file .* without --mcp: add --mcp/,
  ],
  [
    ['--store', '/s', '--bundle-file', 'f', '--mcp-hosts', 'a.example'],
    /--mcp-hosts changes nothing without --mcp/,
  ],
  [['--store', '/s', '--bundle-file', 'f', '--mcp-rate', '60'], /--mcp-rate changes nothing without --mcp/],
  [['--store', '/s', '--bundle-file', 'f', '--mcp-rate', '600'], /--mcp-rate changes nothing without --mcp/],
  [['--bundle-file', 'f'], /--store \(or BUNDLE_SERVER_STORE\) is required/],
  [
    ['--store', '/s', '--bundle-url', 'feedc0de'],
    /--bundle-url must be an absolute https:, http: or file: URL/,
  ],
  [['--store', '/s', '--bundle-url', 'ftp://x/feedc0de'], /must be an absolute/],
  [['--store', '/s', '--bundel-file', 'f'], /unknown flag --bundel-file; did you mean --bundle-file\?/],
  [['--store', '/s', '--bundle-file', 'f', '--keep', '0'], /--keep must be a whole number of at least 1/],
  [['--store', '/s', '--bundle-file', 'f', '--base-path', '/a/../b'], /--base-path must be a plain path/],
  [
    ['--store', '/s', '--bundle-file', 'f', '--deployment-type', 'airgapped'],
    /must be one of Cloud, ClientHosted, AirGapped/,
  ],
  [['--store', '/s', '--bundle-file', 'f', '--readiness', 'never'], /must be one of bundle, always/],
  [['--version', '--store', '/s'], /--version needs a value/],
  [['--store', '/s', '--bundle-file', 'f', '--poll-interval', '0s'], /--poll-interval must be more than 0/],
  [['--store', '/s', '--bundle-file', 'f', '--download-timeout', '0s'], /must be more than 0/],
  [['--store', '/s', '--bundle-file', 'f', '--max-archive-size', '0'], /must be more than 0/],
  [['--store', '/s', '--bundle-file', 'f', '--max-files', '0'], /must be a whole number of at least 1/],
  [
    ['--store', '/s', '--bundle-file', 'f', '--listen', ':8080', '--admin-listen', ':8080'],
    /--listen and --admin-listen are the same address/,
  ],
];

test('invalid combinations of flags are refused with a reason, without the link', () => {
  for (const [args, words] of refused) {
    const invocation = read(args);
    assert.ok(invocation.outcome === 'refuse', args.join(' '));
    assert.match(invocation.text, words);
    assert.ok(!invocation.text.includes('feedc0de'));
  }
});

test('bare --version prints the version of the program', () => {
  assert.deepEqual(read(['--version']), { outcome: 'print', text: 'bundle-server 1.0.0\n' });
});

test('the README lists every flag, with its default, and no other', () => {
  const readme = readFileSync(join(import.meta.dirname, '../../../src/server/README.md'), 'utf8');
  const rows = [...readme.matchAll(/^\| (`--[^|]*)\|([^|]*)\|/gm)].map(([, flags = '', defaults = '']) => ({
    flags: [...flags.matchAll(/`--([a-z-]+)`/g)].map((match) => match[1]),
    defaults: [...defaults.matchAll(/`([^`]+)`/g)].map((match) => match[1]),
  }));
  const documented = rows.flatMap(({ flags }) => flags).filter((name) => name !== 'log-level');
  assert.deepEqual(documented.toSorted(), Object.keys(bundleServerFlags).map(flagName).toSorted());
  const defaults = new Map(
    rows.flatMap(({ flags, defaults: texts }) => flags.map((name, at) => [name, texts[at]])),
  );
  for (const [key, flag] of Object.entries(bundleServerFlags)) {
    if (flag.placeholder !== undefined)
      assert.equal(defaults.get(flagName(key)) ?? '', flag.defaultText ?? '', key);
  }
});
