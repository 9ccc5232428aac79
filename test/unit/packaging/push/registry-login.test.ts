// Where a push finds its credentials.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readRepository } from '#mirror/registry/repository.ts';
import { type LoginFile, loginPaths, readLoginFiles } from '../../../../packaging/push/login-files.ts';
import { requireRegistry } from '../../../../packaging/push/push-release.ts';
import { registryLogin } from '../../../../packaging/push/registry-login.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const repository = readRepository('oci://r.example.com/docs/exports');
const auth = Buffer.from('a:of-the-file').toString('base64');
const config = JSON.stringify({ auths: { 'r.example.com': { auth } } });

test('logins are sought where Docker, buildah, podman and helm leave them, in one order', () => {
  for (const [env, uid, paths] of [
    [
      { HOME: '/h' },
      1000,
      [
        '/h/.docker/config.json',
        '/run/containers/1000/auth.json',
        '/h/.config/containers/auth.json',
        '/h/.config/helm/registry/config.json',
      ],
    ],
    [
      { HOME: '/h', DOCKER_CONFIG: '/d', XDG_RUNTIME_DIR: '/r', XDG_CONFIG_HOME: '/c' },
      1000,
      [
        '/d/config.json',
        '/r/containers/auth.json',
        '/c/containers/auth.json',
        '/c/helm/registry/config.json',
      ],
    ],
    [
      { HOME: '/h', HELM_CONFIG_HOME: '/e' },
      undefined,
      ['/h/.docker/config.json', '/h/.config/containers/auth.json', '/e/registry/config.json'],
    ],
    [
      { HOME: '/h', HELM_CONFIG_HOME: '/e', HELM_REGISTRY_CONFIG: '/f.json' },
      undefined,
      ['/h/.docker/config.json', '/h/.config/containers/auth.json', '/f.json'],
    ],
    [{ HOME: '/h', DOCKER_CONFIG: '/d', REGISTRY_AUTH_FILE: '/auth.json' }, 1000, ['/auth.json']],
  ] as const)
    assert.deepEqual(loginPaths(env, uid), paths);
});

test('a named file must exist, and others may be missing', async (t) => {
  const folder = temporaryFolder(t);
  await mkdir(join(folder, 'containers'));
  await writeFile(join(folder, 'containers/auth.json'), config);
  await mkdir(join(folder, 'config.json'));
  const env = { HOME: folder, XDG_RUNTIME_DIR: folder, DOCKER_CONFIG: folder };
  const files = await readLoginFiles(env, undefined);
  assert.deepEqual(
    files.map(({ text, fault }) => text ?? fault),
    ['EISDIR', config, undefined, undefined],
  );
  const missing = join(folder, 'missing.json');
  await assert.rejects(readLoginFiles({ ...env, REGISTRY_AUTH_FILE: missing }, undefined), {
    name: 'PushRefusal',
    message: `REGISTRY_AUTH_FILE names ${missing}, which does not exist. Log in with that file, or unset the variable.`,
  });
});

const file = (path: string, text?: string): LoginFile => ({ path, text });
const password = (username: string, text: string) => ({ kind: 'password', username, password: text });

test('two variables precede the files, and none of both is a registry without login', () => {
  const variables = { REGISTRY_USERNAME: 'b', REGISTRY_PASSWORD: 'of-the-variable' };
  const files = [file('/one'), file('/two', config)];
  assert.deepEqual(registryLogin(variables, files, repository), password('b', 'of-the-variable'));
  assert.deepEqual(registryLogin({}, files, repository), password('a', 'of-the-file'));
  assert.equal(registryLogin({}, [file('/one')], repository), undefined);
  assert.equal(registryLogin({}, files, readRepository('oci://other.example.com/docs')), undefined);
});

const other = JSON.stringify({ auths: { 'r.example.com': { auth: Buffer.from('c:d').toString('base64') } } });
const elsewhere = JSON.stringify({ auths: { 'x.example.com': { auth } } });
const helper = JSON.stringify({ credsStore: 'desktop' });
const isTheRemedy = 'Set REGISTRY_USERNAME and REGISTRY_PASSWORD.';
for (const [name, files, expected] of [
  ['the first file that names the host', [file('/1', elsewhere), file('/2', other), file('/3', config)], 'c'],
  ['a file after one with a helper', [file('/1', helper), file('/2', other)], 'c'],
  ['a file after a broken one', [file('/1', '{'), file('/2', other)], 'c'],
  ['a file after one that cannot be read', [{ ...file('/1'), fault: 'EACCES' }, file('/2', other)], 'c'],
  [
    'a helper alone',
    [file('/1', helper), file('/2', elsewhere)],
    `/1: The docker config leaves the credentials of registry r.example.com to a credential helper, which cannot run here. ${isTheRemedy}`,
  ],
  [
    'a broken file',
    [file('/1', elsewhere), file('/2', '{')],
    `/2: The docker config is not JSON of the form {"auths": {"HOST": {"auth": "…"}}}. ${isTheRemedy}`,
  ],
  [
    'a file that cannot be read',
    [{ ...file('/1'), fault: 'EACCES' }],
    `/1 cannot be read (EACCES). ${isTheRemedy}`,
  ],
] as const) {
  test(`logins: ${name}`, () => {
    if (expected === 'c') assert.deepEqual(registryLogin({}, files, repository), password('c', 'd'));
    else
      assert.throws(() => registryLogin({}, files, repository), { name: 'PushRefusal', message: expected });
  });
}

test('half of a login is refused without its value', () => {
  const half = () => registryLogin({ REGISTRY_PASSWORD: 'of-the-variable' }, [], repository);
  assert.throws(
    half,
    /^PushRefusal: Set both REGISTRY_USERNAME and REGISTRY_PASSWORD, or neither of them\.$/,
  );
  const colon = { REGISTRY_USERNAME: 'a:b', REGISTRY_PASSWORD: 'c' };
  assert.throws(() => registryLogin(colon, [], repository), /REGISTRY_USERNAME has a colon/);
});

test('a place in a registry has a host and a path, in lower case and without a scheme', () => {
  assert.equal(requireRegistry('r.example.com:5000/docs'), 'r.example.com:5000/docs');
  for (const text of [
    'oci://r.example.com/docs',
    'https://r.example.com/docs',
    'r.example.com/Docs',
    'r.example.com/docs/',
  ])
    assert.throws(() => requireRegistry(text), /Write HOST\/PATH in lower case, without a scheme\.$/, text);
});
