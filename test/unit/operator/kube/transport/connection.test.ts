// From a kubeconfig to a connection: what is read, and the message for each misconfiguration.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { rootCertificates } from 'node:tls';
import {
  ConnectionError,
  openConnection,
  readConnectionEnvironment,
} from '#operator/kube/transport/connection.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const folder = temporaryFolder();

function write(name: string, cluster: object, user: object = {}): string {
  const file = join(folder, name);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'main', context: { cluster: 'c', user: 'u', namespace: 'docs' } }],
    'current-context': 'main',
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

const never = new AbortController().signal;
const [authority = ''] = rootCertificates;
const open = (kubeconfig: string, context?: string) =>
  openConnection({ kubeconfig, context, isInCluster: false });

test('server, namespace, CA certificate and token come from the context', async () => {
  const ca = Buffer.from(authority).toString('base64');
  const file = write(
    'good',
    { server: 'https://10.0.0.1:6443/', 'certificate-authority-data': ca },
    { token: 'abc' },
  );
  const connection = open(file);
  assert.equal(connection.server, 'https://10.0.0.1:6443');
  assert.equal(connection.namespace, 'docs');
  assert.deepEqual(await connection.authenticate(never), {
    headers: { Authorization: 'Bearer abc' },
    tls: { ca: authority },
  });
});

test('a CA certificate that is not one is refused by the name of its field, before any request', async () => {
  const data = Buffer.from('PEM').toString('base64');
  const file = write('bad-authority', { server: 'https://h', 'certificate-authority-data': data });
  await assert.rejects(open(file).authenticate(never), {
    code: 'AuthorityUnusable',
    message: /^certificate-authority of the kubeconfig cannot be used: it holds no certificate in PEM; set/,
  });
});

test('a CA certificate next to a damaged one, or with the older label, is accepted, as by OpenSSL', async () => {
  const damaged = authority.replace(/\n[A-Za-z0-9+/]{20}/, `\n${'A'.repeat(20)}`);
  const older = authority.replaceAll('CERTIFICATE', 'X509 CERTIFICATE');
  for (const [name, text] of Object.entries({ beside: `${authority}\n${damaged}`, older })) {
    const data = Buffer.from(text).toString('base64');
    const file = write(name, { server: 'https://h', 'certificate-authority-data': data }, { token: 'abc' });
    assert.equal(String((await open(file).authenticate(never)).tls.ca), text);
  }
  const file = write('damaged', {
    server: 'https://h',
    'certificate-authority-data': Buffer.from(damaged).toString('base64'),
  });
  await assert.rejects(open(file).authenticate(never), { message: /certificate 1 in it is damaged/ });
});

test('a token file is read, without its last line end', async () => {
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, 'from-file\n');
  const file = write(
    'token-file',
    { server: 'https://h' },
    { 'auth-provider': { name: 'f', config: { tokenFile } } },
  );
  assert.equal((await open(file).authenticate(never)).headers['Authorization'], 'Bearer from-file');
});

test('an empty token file is an error, not an anonymous request, until it has a token', async () => {
  const tokenFile = join(folder, 'empty-token');
  const user = { 'auth-provider': { name: 'f', config: { tokenFile } } };
  const connection = open(write('empty-token-file', { server: 'https://h' }, user));
  for (const content of ['', '\n', 'two lines\nof it', 'nön-ascii']) {
    writeFileSync(tokenFile, content);
    connection.renew();
    await assert.rejects(connection.authenticate(never), {
      code: 'CredentialsUnavailable',
      message: /neither a usable token nor a certificate with its key; check the token file/,
    });
  }
  writeFileSync(tokenFile, 'good\n');
  connection.renew();
  assert.equal((await connection.authenticate(never)).headers['Authorization'], 'Bearer good');
});

test('a user of whom the kubeconfig says nothing shows nothing, as is meant', async () => {
  const file = write('anonymous', { server: 'https://h' });
  assert.deepEqual(await open(file).authenticate(never), { headers: {}, tls: {} });
});

test('credentials that cannot be obtained are an error without their path, and may recover', async () => {
  const file = write('lost', { server: 'https://h' }, { 'client-certificate': '/nowhere/secret.pem' });
  await assert.rejects(open(file).authenticate(never), (error) => {
    assert.ok(error instanceof ConnectionError);
    assert.equal(error.code, 'CredentialsUnavailable');
    assert.doesNotMatch(error.message, /nowhere/);
    return true;
  });
});

test('nothing configured anywhere is an error that says what to give, and no server on localhost', () => {
  const { HOME, KUBECONFIG } = process.env;
  try {
    process.env['HOME'] = join(folder, 'nobody');
    delete process.env['KUBECONFIG'];
    const nothing = { kubeconfig: undefined, context: undefined, isInCluster: false };
    assert.throws(() => openConnection(nothing), { code: 'NoCluster', message: /set --kubeconfig/ });
  } finally {
    if (HOME !== undefined) process.env['HOME'] = HOME;
    if (KUBECONFIG !== undefined) process.env['KUBECONFIG'] = KUBECONFIG;
  }
});

const refusals: readonly (readonly [name: string, open: () => unknown, code: string, message: RegExp])[] = [
  ['no such file', () => open(join(folder, 'none')), 'UnreadableKubeconfig', /ENOENT/],
  [
    'an unknown context',
    () => open(write('x', { server: 'https://h' }), 'prod'),
    'UnknownContext',
    /it has main/,
  ],
  ['plain http', () => open(write('http', { server: 'http://h' })), 'PlainHttp', /unencrypted/],
  ['no URL', () => open(write('no-url', { server: 'nonsense' })), 'InvalidServer', /no usable server URL/],
  [
    'SOCKS',
    () => open(write('socks', { server: 'https://h', 'proxy-url': 'socks5://p:1' })),
    'SocksProxy',
    /HTTP/,
  ],
];
for (const [name, attempt, code, message] of refusals) {
  test(`refused: ${name}`, () => {
    assert.throws(attempt, (error) => {
      assert.ok(error instanceof ConnectionError);
      assert.equal(error.code, code);
      assert.match(error.message, message);
      return true;
    });
  });
}

/** @param context its name */
function writeContext(name: string, server: string, context: string): string {
  const file = join(folder, name);
  const text = JSON.stringify({
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token: name } }],
    contexts: [{ name: context, context: { cluster: 'c', user: 'u' } }],
    'current-context': context,
  });
  writeFileSync(file, text);
  return file;
}

const openList = (
  files: readonly string[],
  env: Readonly<Record<string, string>> = {},
  context?: string,
  isInCluster = false,
) =>
  openConnection({
    ...{ kubeconfig: undefined, context, isInCluster },
    environment: readConnectionEnvironment({ KUBECONFIG: files.join(delimiter), ...env }),
  });

test('files of KUBECONFIG are merged as by kubectl: absent ones are skipped, and the first of a name counts', async () => {
  const a = writeContext('list-a', 'https://a.example', 'first');
  const b = writeContext('list-b', 'https://b.example', 'second');
  const absent = join(folder, 'absent');
  const blanks = ['', '\n', '# none yet\n', '---\n'].map((text, at) => {
    writeFileSync(join(folder, `blank-${at}`), text);
    return join(folder, `blank-${at}`);
  });
  for (const files of [[a], [absent, a], [a, absent], [a, b], [a, a], ['', a, ''], [...blanks, a]]) {
    const connection = openList(files);
    assert.equal(connection.server, 'https://a.example', files.join());
    const { headers } = await connection.authenticate(never);
    assert.equal(headers['Authorization'], 'Bearer list-a');
  }
  assert.equal(openList([a, b], {}, 'second').server, 'https://a.example');
  assert.equal(openList([b, a]).server, 'https://b.example');
  assert.throws(() => openList([absent]), {
    code: 'NoCluster',
    message: /the files of KUBECONFIG are absent/,
  });
  // A runner's pod has a service account of its own.
  assert.equal(openList([a], {}, undefined, true).server, 'https://a.example');
  writeFileSync(join(folder, 'damaged'), '{');
  assert.throws(() => openList([a, join(folder, 'damaged')]), {
    code: 'UnreadableKubeconfig',
    message: /^a file of KUBECONFIG cannot be read/,
  });
  assert.throws(() => openList([a], {}, 'none'), { message: /^KUBECONFIG has no context "none"/ });
});

test('the API server is reached through the proxy of the environment, as by kubectl', () => {
  const HTTPS_PROXY = 'http://proxy.example:3128';
  const file = writeContext('proxied', 'https://kube.example:6443', 'main');
  assert.equal(openList([file], { HTTPS_PROXY }).proxyUrl, HTTPS_PROXY);
  assert.equal(openList([file], { HTTPS_PROXY, NO_PROXY: '.example' }).proxyUrl, undefined);
  assert.equal(openList([file], { HTTP_PROXY: HTTPS_PROXY }).proxyUrl, undefined);
  const local = writeContext('local', 'https://127.0.0.1:6443', 'main');
  assert.equal(openList([local], { HTTPS_PROXY }).proxyUrl, undefined);
  const own = write('own-proxy', { server: 'https://kube.example', 'proxy-url': 'http://own.example:1' });
  assert.equal(openList([own], { HTTPS_PROXY, NO_PROXY: '*' }).proxyUrl, 'http://own.example:1');
});

const plugin = (script: string, more: object = {}): object => ({
  exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', script], ...more },
});
const token = `{"status":{"token":"'"$TOKEN"'"}}`;

test('a credentials plugin gets what kubectl gives it, and runs once for a token that does not expire', async () => {
  const runs = join(folder, 'runs');
  const script = `echo "$KUBERNETES_EXEC_INFO" >> '${runs}'; printf '%s' '${token}'`;
  const own = {
    provideClusterInfo: true,
    env: [{ name: 'TOKEN', value: 'abc' }],
    interactiveMode: 'IfAvailable',
  };
  const cluster = { server: 'https://kube.example', 'tls-server-name': 'other.example' };
  const file = write('plugin', cluster, plugin(script, own));
  const { PATH = '' } = process.env;
  const connection = openConnection({
    ...{ kubeconfig: file, context: undefined, isInCluster: false },
    environment: readConnectionEnvironment({ PATH }),
  });
  for (let count = 0; count < 2; count += 1) {
    assert.equal((await connection.authenticate(never)).headers['Authorization'], 'Bearer abc');
  }
  const [info, ...more] = readFileSync(runs, 'utf8').trim().split('\n');
  assert.deepEqual(more, []);
  assert.deepEqual(JSON.parse(info ?? ''), {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      cluster: { server: 'https://kube.example', 'tls-server-name': 'other.example' },
    },
  });
});

test('the path of a plugin starts at the folder of its kubeconfig, and null is as absent', async () => {
  const answer = '{"status":{"token":"abc","clientCertificateData":null,"clientKeyData":null}}';
  writeFileSync(join(folder, 'near'), `#!/bin/sh\nprintf '%s' '${answer}'\n`, { mode: 0o755 });
  const user = { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: './near' } };
  const file = write('plugin', { server: 'https://kube.example' }, user);
  for (const connection of [open(file), openList([file])]) {
    assert.equal((await connection.authenticate(never)).headers['Authorization'], 'Bearer abc');
  }
});

test('a plugin that fails, or needs a terminal that the program has not, is named with its reason', async () => {
  for (const [user, why] of [
    [plugin('exit 3'), /PluginFailed: its exit code is 3/],
    [plugin('echo no'), /its answer is not an ExecCredential/],
    [plugin('exit 0', { interactiveMode: 'Always' }), /it needs a terminal on standard input/],
    [{ exec: { command: join(folder, 'none') } }, /\(ENOENT\).* the exec plugin of the kubeconfig$/],
  ] as const) {
    const connection = open(write('plugin', { server: 'https://kube.example' }, user));
    await assert.rejects(connection.authenticate(never), { code: 'CredentialsUnavailable', message: why });
  }
});
