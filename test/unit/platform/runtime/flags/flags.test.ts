import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bytes,
  duration,
  hostPort,
  httpUrl,
  list,
  oneOf,
  path,
  positiveCount,
  sizeText,
  toggle,
} from '#platform/runtime/flags/flag-kinds.ts';
import { readInvocation } from '#platform/runtime/flags/flags.ts';
import * as fc from '../../../../support/properties.ts';

const program = {
  name: 'bundle-server',
  summary: 'serves a bundle',
  flags: {
    adminListen: hostPort.withDefault('127.0.0.1:9090', 'Where health and metrics are answered'),
    bundleFile: path.optional('The mounted bundle.json'),
    apiBaseUrl: httpUrl.required('The export API'),
    keep: positiveCount.withDefault('2', 'Versions kept'),
    linkLifetime: duration.withDefault('15m', 'Life of a link'),
    origin: list('DOMAIN=URL', 'Where a domain is fetched'),
    readiness: oneOf(['always', 'bundle']).withDefault('bundle', 'When to be ready'),
    allowPrivateLinks: toggle('Fetch links that lead inside'),
  },
};
const needed = ['--api-base-url', 'https://api.example.com'];

function run(args: readonly string[], env: Record<string, string> = {}) {
  return readInvocation(program, '1.2.3', args, env);
}

function valuesOf(args: readonly string[], env: Record<string, string> = {}) {
  const invocation = run(args, env);
  assert.equal(invocation.outcome, 'run', invocation.outcome === 'run' ? '' : invocation.text);
  return invocation.outcome === 'run' ? invocation.values : assert.fail();
}

function refusalOf(args: readonly string[], env: Record<string, string> = {}): string {
  const invocation = run(args, env);
  return invocation.outcome === 'refuse'
    ? invocation.text
    : assert.fail(`not refused: ${invocation.outcome}`);
}

test('defaults are parsed like given values', () => {
  assert.deepEqual(valuesOf(needed), {
    adminListen: { host: '127.0.0.1', port: 9090 },
    bundleFile: undefined,
    apiBaseUrl: 'https://api.example.com',
    keep: 2,
    linkLifetime: 900_000,
    origin: [],
    readiness: 'bundle',
    allowPrivateLinks: false,
  });
});

test('values may follow "=" or a blank, lists may repeat and be comma-separated', () => {
  const values = valuesOf([
    ...needed,
    '--keep=5',
    '--origin',
    'a=http://x,b=http://y',
    '--origin=c=http://z',
    '--allow-private-links',
  ]);
  assert.equal(values.keep, 5);
  assert.deepEqual(values.origin, ['a=http://x', 'b=http://y', 'c=http://z']);
  assert.equal(values.allowPrivateLinks, true);
});

test('every flag has an environment variable, and the command line wins over it', () => {
  const env = {
    BUNDLE_SERVER_API_BASE_URL: 'http://env.example.com/',
    BUNDLE_SERVER_KEEP: '7',
    BUNDLE_SERVER_ALLOW_PRIVATE_LINKS: 'true',
  };
  assert.equal(valuesOf([], env).apiBaseUrl, 'http://env.example.com');
  assert.equal(valuesOf([], env).allowPrivateLinks, true);
  assert.equal(valuesOf(['--keep=3'], env).keep, 3);
});

const refusals: readonly (readonly [string, readonly string[], RegExp])[] = [
  [
    'a misspelt flag names the nearest right one',
    ['--admin-listn', 'x'],
    /unknown flag --admin-listn; did you mean --admin-listen\?/,
  ],
  ['a flag that resembles none gets no guess', ['--zzzzzzzzzzzzzzzz'], /unknown flag --zzzzzzzzzzzzzzzz\n/],
  [
    'a missing flag names itself and its variable',
    [],
    /--api-base-url \(or BUNDLE_SERVER_API_BASE_URL\) is required/,
  ],
  ['a flag without its value', [...needed, '--keep'], /--keep needs a value/],
  ['a flag in place of a value', [...needed, '--keep', '--admin-listen', 'x:1'], /--keep needs a value/],
  ['a bad port', [...needed, '--admin-listen=host'], /--admin-listen must be HOST:PORT/],
  ['a port that does not exist', [...needed, '--admin-listen=host:70000'], /must be HOST:PORT/],
  ['a bad duration', [...needed, '--link-lifetime=15'], /must be a duration such as/],
  ['a bad choice', [...needed, '--readiness=maybe'], /must be one of always, bundle/],
  ['a bad URL', ['--api-base-url=ftp://x'], /must be an http:\/\/ or https:\/\/ URL/],
  ['a stray argument is named by its place', [...needed, 'serve'], /argument 3 is not a flag/],
];
for (const [name, args, wanted] of refusals) {
  test(`refused: ${name}`, () => assert.match(refusalOf(args), wanted));
}

for (const url of [
  'https://user@x',
  'https://:word@x/a',
  'http:\\\\u:p@x',
  'https:u@x',
  'https://x/?',
  'https://x?sig=a',
  'https://x/#a',
]) {
  test(`refused as a base URL: ${url}`, () => {
    assert.match(
      refusalOf([`--api-base-url=${url}`]),
      /--api-base-url must be a URL without user, password, query and fragment/,
    );
  });
}

test('an address may be in the path of a base URL', () => {
  assert.equal(
    valuesOf(['--api-base-url=https://x.example.com:8443/@team/a/']).apiBaseUrl,
    'https://x.example.com:8443/@team/a',
  );
});

test('a stray argument is never repeated, because it may be a link or a key', () => {
  const link = 'https://store.example.com/b.tar.gz?X-Amz-Signature=s3cret';
  for (const args of [
    [link],
    [`--${link}`],
    [`--bundle-file${link}`],
    ['--api-base-url', `ftp:${link}`],
    [`--keep=${link}`],
  ]) {
    assert.doesNotMatch(refusalOf(args), /s3cret|store\.example/);
  }
});

test('an invalid environment variable is named', () => {
  assert.match(
    refusalOf(needed, { BUNDLE_SERVER_KEEP: 'many' }),
    /BUNDLE_SERVER_KEEP must be a whole number/,
  );
});

test('a switch may have a value, and never uses the next argument as its value', () => {
  for (const [args, allowed] of [
    [['--allow-private-links'], true],
    [['--allow-private-links=true'], true],
    [['--allow-private-links=false'], false],
    [['--allow-private-links', '--keep=3'], true],
  ] as const) {
    assert.equal(valuesOf([...needed, ...args]).allowPrivateLinks, allowed, args.join(' '));
  }
  assert.match(
    refusalOf([...needed, '--allow-private-links=x']),
    /--allow-private-links must be true or false/,
  );
});

test('--help is printed despite invalid or missing values, and --version prints the version', () => {
  const help = run(['--help']);
  assert.match(help.outcome === 'print' ? help.text : '', /--keep N\n/);
  assert.deepEqual(run(['--keep=x', '-h']), help);
  assert.deepEqual(run(['--version']), { outcome: 'print', text: 'bundle-server 1.2.3\n' });
});

test('no command line makes the reader throw', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(fc.string(), fc.constantFrom('--', '--keep', '--keep=', '-h', '--no-keep', '-', '--origin')),
      ),
      (args) => {
        run(args);
      },
    ),
  );
});

test('a size is written in its largest whole unit, and is read as the same size', () => {
  const units = [
    [4 * 1024 ** 3, '4GiB'],
    [1536 * 1024 ** 2, '1536MiB'],
    [512 * 1024 ** 2, '512MiB'],
    [1000, '1000'],
    [0, '0'],
  ] as const;
  for (const [size, words] of units) assert.equal(sizeText(size), words);
  fc.assert(fc.property(fc.nat(), (size) => bytes.withDefault('0', '').parse([sizeText(size)]) === size));
});

test("a variable that resembles one of the program's is reported, and a variable of the cluster is not", () => {
  const invocation = readInvocation(program, '1', needed, {
    BUNDLE_SERVER_KEPE: '3',
    BUNDLE_SERVER_SERVICE_HOST: '10.0.0.1',
    BUNDLE_SERVER_PORT: 'tcp://10.0.0.1:80',
    OTHER_KEEP: '3',
  });
  assert.ok(invocation.outcome === 'run');
  assert.deepEqual(invocation.hints, [
    'BUNDLE_SERVER_KEPE is not a variable of this program; did you mean BUNDLE_SERVER_KEEP?',
  ]);
});
