// Credentials in a docker config: which entry is used for which repository, as Docker and kubelet choose it, and what is
// wrong with the others. No message may hold a value of the config.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findCredentials } from '#mirror/registry/docker-config.ts';
import { readRegistryCredentials } from '#mirror/registry/registry-credentials.ts';
import { type RegistryRepository, readRepository } from '#mirror/registry/repository.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import * as fc from '../../../support/properties.ts';
import { runToItsEnd } from '../../../support/watchdog.ts';

const repository = readRepository('oci://registry.example.com/docs/site');
const pair = (text: string): string => Buffer.from(text).toString('base64');
const configOf = (auths: unknown, more: object = {}): string => JSON.stringify({ auths, ...more });
const usernameOf = (config: string, of: RegistryRepository): string | undefined => {
  const found = findCredentials(config, of);
  return found?.kind === 'password' ? found.username : undefined;
};

function refusal(work: () => unknown): PublishableError {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof PublishableError);
    assert.equal(error.code, 'InvalidCredentials');
    assert.doesNotMatch(error.message, /hunter2|bot/);
    return error;
  }
  return assert.fail('it should have been refused');
}

describe('the key of an entry', () => {
  for (const [key, address, isMatch] of [
    ['registry.example.com', 'registry.example.com/docs', true],
    ['https://registry.example.com', 'registry.example.com/docs', true],
    ['https://registry.example.com/', 'registry.example.com/docs', true],
    ['https://registry.example.com/v1/', 'registry.example.com/docs', true],
    ['https://registry.example.com/v2/', 'registry.example.com/docs', true],
    ['http://registry.example.com/v2', 'registry.example.com/docs', true],
    ['Registry.Example.com', 'registry.example.com/docs', true],
    ['registry.example.com:443', 'registry.example.com/docs', true],
    ['registry.example.com:5000', 'registry.example.com:5000/docs', true],
    ['registry.example.com:5000', 'registry.example.com/docs', false],
    ['registry.example.com', 'registry.example.com:5000/docs', false],
    ['example.com', 'registry.example.com/docs', false],
    ['registry.example.com.evil.example', 'registry.example.com/docs', false],
    ['registry.example.com/docs', 'registry.example.com/docs', true],
    ['registry.example.com/docs', 'registry.example.com/docs/site', true],
    ['registry.example.com/v2/docs/site', 'registry.example.com/docs/site', true],
    ['registry.example.com/docs/site', 'registry.example.com/docs', false],
    ['registry.example.com/doc', 'registry.example.com/docs', false],
    ['*.example.com', 'registry.example.com/docs', true],
    ['reg*.*.com', 'registry.example.com/docs', true],
    ['*.example.com', 'a.registry.example.com/docs', false],
    ['*.com', 'registry.example.com/docs', false],
    ['*.example.com:5000', 'registry.example.com:5000/docs', true],
    ['*.example.com', 'registry.example.com:5000/docs', false],
    ['r*x*y.example.com', 'registry.example.com/docs', false],
    ['regist*try.example.com', 'registry.example.com/docs', false],
    ['https://index.docker.io/v1/', 'docker.io/acme/docs', true],
    ['docker.io', 'index.docker.io/acme/docs', true],
    ['docker.io/acme', 'docker.io/acme/docs', true],
    ['docker.io/other', 'docker.io/acme/docs', false],
    ['https://index.docker.io/v1/', 'registry.example.com/docs', false],
    ['[::1]:5000', '[::1]:5000/docs', true],
    ['', 'registry.example.com/docs', false],
  ] as const) {
    test(`${key} ${isMatch ? 'matches' : 'does not match'} ${address}`, () => {
      const found = usernameOf(
        configOf({ [key]: { auth: pair('bot:hunter2') } }),
        readRepository(`oci://${address}`),
      );
      assert.equal(found, isMatch ? 'bot' : undefined);
    });
  }

  test('with the longest path is used, and a wildcard last', () => {
    const keys = [
      '*.example.com',
      'registry.example.com/docs',
      'https://registry.example.com/v1/',
      'registry.example.com/docs/site',
    ];
    const auths = Object.fromEntries(keys.map((key) => [key, { username: key, password: 'hunter2' }]));
    const rest = { ...auths };
    for (const key of [keys[3], keys[1]]) {
      assert.equal(usernameOf(configOf(rest), repository), key);
      delete rest[key ?? ''];
    }
    delete auths[keys[1] ?? ''];
    assert.equal(
      usernameOf(
        configOf({
          '*.example.com': { username: 'a', password: 'b' },
          'registry.example.com': { username: 'c', password: 'd' },
        }),
        repository,
      ),
      'c',
    );
  });

  test('with many wildcards costs no more than its length', () => {
    const longHost = readRepository(`oci://${'a'.repeat(63)}.example.com/docs`);
    const key = `${'*a'.repeat(2000)}b.example.com`;
    assert.equal(
      runToItsEnd(() => usernameOf(configOf({ [key]: { auth: pair('bot:hunter2') } }), longHost)),
      undefined,
    );
  });

  const parts = fc.constantFrom('a', 'b', 'ab');
  const paths = fc.array(parts, { minLength: 1, maxLength: 3 });
  test('is the longest prefix of the repository, whatever else the config names', () => {
    fc.assert(
      fc.property(
        fc.array(paths, { maxLength: 6 }),
        paths,
        fc.constantFrom('', 'https://', 'http://'),
        (keys, path, scheme) => {
          const names = keys.map((key) => ['r.example', ...key].join('/'));
          const auths = Object.fromEntries(
            names.map((name) => [scheme + name, { username: name, password: 'x' }]),
          );
          const prefixes = path.map((_part, at) => ['r.example', ...path.slice(0, at + 1)].join('/'));
          const expected = prefixes.reverse().find((prefix) => names.includes(prefix));
          assert.equal(
            usernameOf(configOf(auths), readRepository(`oci://r.example/${path.join('/')}`)),
            expected,
          );
        },
      ),
    );
  });
});

describe('an entry', () => {
  for (const [name, entry, expected] of [
    [
      'auth',
      { auth: pair('bot:hunter2:with:colons') },
      { kind: 'password', username: 'bot', password: 'hunter2:with:colons' },
    ],
    [
      'auth without padding',
      { auth: pair('bot:hunter2x').replace(/=+$/, '') },
      { kind: 'password', username: 'bot', password: 'hunter2x' },
    ],
    [
      'auth with the padding of old versions',
      { auth: pair('bot:hunter2\0\0') },
      { kind: 'password', username: 'bot', password: 'hunter2' },
    ],
    ['an empty password', { auth: pair('bot:') }, { kind: 'password', username: 'bot', password: '' }],
    [
      'username and password',
      { username: 'bot', password: 'hunter2', email: 'x' },
      { kind: 'password', username: 'bot', password: 'hunter2' },
    ],
    [
      'auth before username',
      { username: 'a', password: 'b', auth: pair('bot:hunter2') },
      { kind: 'password', username: 'bot', password: 'hunter2' },
    ],
    [
      'an identity token',
      { auth: pair('bot:'), identitytoken: 'hunter2' },
      { kind: 'identityToken', identityToken: 'hunter2' },
    ],
    [
      'a registry token',
      { registrytoken: 'hunter2', identitytoken: 'x' },
      { kind: 'registryToken', registryToken: 'hunter2' },
    ],
    ['nothing', {}, undefined],
    [
      'empty texts',
      { auth: '', username: '', password: '', identitytoken: '', registrytoken: '' },
      undefined,
    ],
  ] as const) {
    test(`with ${name} is read`, () => {
      assert.deepEqual(findCredentials(configOf({ 'registry.example.com': entry }), repository), expected);
    });
  }

  for (const [name, entry] of [
    ['auth that is not base64', { auth: 'bot:hunter2' }],
    ['auth without a colon', { auth: pair('hunter2') }],
    ['auth without a user name', { auth: pair(':hunter2') }],
    ['a user name with a colon', { username: 'bo:t', password: 'hunter2' }],
    ['a registry token that no header can carry', { registrytoken: 'hunter2\r\nx: y' }],
  ] as const) {
    test(`with ${name} is refused, if it is for this registry`, () => {
      const error = refusal(() => findCredentials(configOf({ 'registry.example.com': entry }), repository));
      assert.match(error.message, /registry\.example\.com/);
      assert.equal(findCredentials(configOf({ 'other.example.com': entry }), repository), undefined);
    });
  }

  test('without credentials leaves the choice to a shorter key', () => {
    const auths = { 'registry.example.com/docs': {}, 'registry.example.com': { auth: pair('bot:hunter2') } };
    assert.equal(usernameOf(configOf(auths), repository), 'bot');
  });
});

describe('a credential helper', () => {
  const helpers = { credHelpers: { 'registry.example.com': 'ecr-login' } };

  test('that would be asked is refused, with what to do', () => {
    for (const config of [
      configOf({}, helpers),
      configOf({ 'registry.example.com': {} }, { credsStore: 'desktop' }),
    ]) {
      const { message } = refusal(() => findCredentials(config, repository));
      assert.match(
        message,
        /credential helper, which cannot run here\. Write user name and password into auths/,
      );
    }
  });

  test('of another registry, or beside credentials of this one, changes nothing', () => {
    const other = configOf({}, { credHelpers: { 'other.example.com': 'gcloud' } });
    assert.equal(findCredentials(other, repository), undefined);
    const both = configOf(
      { 'registry.example.com': { auth: pair('bot:hunter2') } },
      { ...helpers, credsStore: 'desktop' },
    );
    assert.equal(usernameOf(both, repository), 'bot');
  });
});

describe('a config', () => {
  for (const [name, text] of [
    ['no JSON', 'hunter2'],
    ['another form', '["hunter2"]'],
    ['the form of .dockercfg', '{"auths":"hunter2"}'],
    ['an entry that is not an object', '{"auths":{"registry.example.com":"hunter2"}}'],
    ['more than 1 MiB', configOf({ x: { auth: 'a'.repeat(1024 * 1024) } })],
  ] as const) {
    test(`with ${name} is refused`, () => {
      assert.match(
        refusal(() => findCredentials(text, repository)).message,
        /Write it with `kubectl create secret/,
      );
    });
  }

  test('without entries names no credentials', () => {
    assert.equal(findCredentials('{}', repository), undefined);
    assert.equal(
      findCredentials('{"auths":{},"HttpHeaders":{"a":"b"},"psFormat":"x"}', repository),
      undefined,
    );
  });

  test('of any text ends with credentials, with none, or with a refusal that quotes nothing', () => {
    const texts = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.json(),
      fc
        .dictionary(
          fc.constantFrom('registry.example.com', 'https://*.example.com/v1/', '__proto__', '*'),
          fc.anything({ maxDepth: 1 }),
        )
        .map((auths) => configOf(auths)),
    );
    fc.assert(
      fc.property(texts, (text) => {
        try {
          findCredentials(text, repository);
        } catch (error) {
          assert.ok(error instanceof PublishableError && error.code === 'InvalidCredentials', String(error));
        }
      }),
    );
  });
});

describe('a Secret', () => {
  const read = (data: Readonly<Record<string, string | Buffer>>): unknown =>
    readRegistryCredentials(
      'docs/registry',
      Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value)])),
      repository,
    );
  const bot = { kind: 'password', username: 'bot', password: 'hunter2' };

  test('holds a docker config, or a user name and a password', () => {
    const config = configOf({ 'registry.example.com': { auth: pair('bot:hunter2') } });
    assert.deepEqual(read({ '.dockerconfigjson': config }), bot);
    assert.deepEqual(read({ 'config.json': config, username: 'a', password: 'b' }), bot);
    assert.deepEqual(read({ username: 'bot\n', password: 'hunter2\r\n' }), bot);
  });

  for (const [name, data, message] of [
    [
      'nothing',
      {},
      /^The Secret docs\/registry has neither \.dockerconfigjson, nor username and password\. Write one of them\.$/,
    ],
    ['no password', { username: 'bot' }, /has neither/],
    [
      'another registry',
      { '.dockerconfigjson': configOf({ x: { auth: pair('bot:hunter2') } }) },
      /has no credentials for registry registry\.example\.com\. Add the host to auths in \.dockerconfigjson\.$/,
    ],
    [
      'bytes that are not text',
      { username: Buffer.from([0xff]), password: 'hunter2' },
      /value of username that is not UTF-8/,
    ],
    ['a user name with a colon', { username: 'bo:t', password: 'hunter2' }, /user name with a colon/],
  ] as const) {
    test(`with ${name} is refused`, () => {
      assert.match(refusal(() => read(data)).message, message);
    });
  }
});
