// Where a push finds its credentials.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRepository } from '#mirror/registry/repository.ts';
import { requireRegistry } from '../../../../packaging/push/push-release.ts';
import { loginFileOf, registryLogin } from '../../../../packaging/push/registry-login.ts';

const repository = readRepository('oci://r.example.com/docs/exports');
const auth = Buffer.from('a:of-the-file').toString('base64');
const config = JSON.stringify({ auths: { 'r.example.com': { auth } } });

test('the file of a login is the one that Docker, buildah and podman read', () => {
  assert.equal(loginFileOf({ HOME: '/home/a' }), '/home/a/.docker/config.json');
  assert.equal(loginFileOf({ HOME: '/home/a', DOCKER_CONFIG: '/d' }), '/d/config.json');
  assert.equal(loginFileOf({ DOCKER_CONFIG: '/d', REGISTRY_AUTH_FILE: '/auth.json' }), '/auth.json');
});

test('two variables precede the file, and none of both is a registry without login', () => {
  const variables = { REGISTRY_USERNAME: 'b', REGISTRY_PASSWORD: 'of-the-variable' };
  const password = (username: string, text: string) => ({ kind: 'password', username, password: text });
  assert.deepEqual(registryLogin(variables, config, repository), password('b', 'of-the-variable'));
  assert.deepEqual(registryLogin({}, config, repository), password('a', 'of-the-file'));
  assert.equal(registryLogin({}, undefined, repository), undefined);
  assert.equal(registryLogin({}, config, readRepository('oci://other.example.com/docs')), undefined);
});

test('half of a login is refused without its value', () => {
  const half = () => registryLogin({ REGISTRY_PASSWORD: 'of-the-variable' }, config, repository);
  assert.throws(
    half,
    /^PushRefusal: Set both REGISTRY_USERNAME and REGISTRY_PASSWORD, or neither of them\.$/,
  );
  const colon = { REGISTRY_USERNAME: 'a:b', REGISTRY_PASSWORD: 'c' };
  assert.throws(() => registryLogin(colon, config, repository), /REGISTRY_USERNAME has a colon/);
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
