// Which thread is started before the server is loaded: that of the first source that can have the bundle.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { flagName, variableName } from '#platform/runtime/flags/flags.ts';
import { firstWorker } from '#server/first-worker.ts';
import { bundleServerFlags } from '#server/server-flags.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const workers = { check: 'check', bundle: 'bundle', mirror: 'mirror' };
const ref = 'oci://registry.example.com/docs@sha256:0a';
let folder: string;
beforeEach((t) => {
  folder = temporaryFolder(t);
});

type FlagKey = 'peers' | 'bundleRef' | 'bundleFile';
type Row = readonly [
  name: string,
  files: Readonly<Record<string, string>>,
  flags: Readonly<Partial<Record<FlagKey, string>>>,
  wanted: string,
];

const rows: readonly Row[] = [
  ['a link', {}, {}, 'bundle'],
  ['a mirror by flag', {}, { bundleRef: ref }, 'mirror'],
  ['a mirror, and a bundle on disk', { current: '[]' }, { bundleRef: ref }, 'check'],
  ['a mirror, and only the copy of the list on disk', { 'current.copy': '' }, { bundleRef: ref }, 'check'],
  ['a mirror, and other servers', {}, { bundleRef: ref, peers: 'docs-peers' }, 'bundle'],
  ['bundle.json with a reference', { json: `{"ref":"${ref}"}` }, { bundleFile: 'json' }, 'mirror'],
  [
    'bundle.json with a link',
    { json: '{"bundleUrl":"https://a.example"}' },
    { bundleFile: 'json' },
    'bundle',
  ],
  ['bundle.json that is damaged', { json: '{"ref":' }, { bundleFile: 'json' }, 'bundle'],
  ['bundle.json that is not there', {}, { bundleFile: 'json' }, 'bundle'],
];

/** The three ways to give a flag its value. */
const ways = {
  'as --flag value': (flag: string, value: string) => ({ args: [flag, value], env: {} }),
  'as --flag=value': (flag: string, value: string) => ({ args: [`${flag}=${value}`], env: {} }),
  'by variable': (flag: string, value: string) => ({
    args: [],
    env: { [variableName('bundle-server', keyOf(flag))]: value },
  }),
};

function keyOf(flag: string): string {
  const key = Object.keys(bundleServerFlags).find((one) => flagOf(one) === flag);
  assert.ok(key !== undefined, `the program has no flag ${flag}`);
  return key;
}

const flagOf = (key: string): string => `--${flagName(key)}`;

for (const [way, give] of Object.entries(ways)) {
  for (const [name, files, flags, wanted] of rows) {
    test(`${name}, ${way}: the first thread is ${wanted}`, async () => {
      for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
      const { bundleFile, ...others } = flags;
      const values = {
        ...{ store: folder, ...others },
        ...(bundleFile !== undefined && { bundleFile: join(folder, bundleFile) }),
      };
      const given = Object.entries(values).map(([key, value]) => give(flagOf(key), value));
      const args = ['--log-level', 'warn', ...given.flatMap((one) => one.args)];
      const env = Object.assign({}, ...given.map((one) => one.env));
      assert.equal(await firstWorker({ args, env }, workers), wanted);
    });
  }
}

test('a bundle.json that gives nothing is not waited for', async () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const args = ['--store', folder, '--bundle-file', pipe];
  assert.equal(await firstWorker({ args, env: {} }, workers), 'bundle');
});

test('a flag wins over its variable, and the last of two flags over the first', async () => {
  await writeFile(join(folder, 'current'), '[]');
  const args = ['--store', '/nowhere', `--store=${folder}`];
  assert.equal(await firstWorker({ args, env: { BUNDLE_SERVER_STORE: '/nowhere' } }, workers), 'check');
});

const without: readonly (readonly [string, readonly string[], Readonly<Record<string, string>>])[] = [
  ['nothing', [], {}],
  ['only a question', ['--help'], {}],
  ['a flag whose value is missing', ['--store'], {}],
  ['a flag with an empty value', ['--store='], {}],
  ['an empty variable', [], { BUNDLE_SERVER_STORE: '' }],
];

for (const [name, args, env] of without) {
  test(`no thread is started for ${name}`, async () => {
    assert.equal(await firstWorker({ args, env }, workers), undefined);
  });
}
