// Certificates and tokens that change under a running operator. Rotated ones are used without a restart, invalid ones are
// reported without their text, and renewals of the lease wait for nothing.

import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, test } from 'node:test';
import { createLeaseStore } from '#operator/kube/objects/lease-store.ts';
import { createTransport } from '#operator/kube/transport/transport.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { createAuthority } from '../../../support/pki.ts';
import { sendJson } from '../../../support/scripted-api-server.ts';
import { arrives, type ScriptedCluster, startScriptedCluster, staticExport } from './scripted-cluster.ts';

let world: ScriptedCluster;
const unhandled: unknown[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(reason));
const names = { dns: ['localhost'], ips: ['127.0.0.1'] };
const address = { resource: { group: '', version: 'v1', plural: 'x', kind: 'X' }, name: 'x' };
const never = new AbortController().signal;

/** `NotFound` is the answer of a server that was reached and accepted us. */
const ask = (transport = world.transport): Promise<string> =>
  transport.call({ verb: 'get', method: 'GET', address }, never).then(
    () => 'answered',
    (error: unknown) => (error instanceof ClusterError ? `${error.code}: ${error.message}` : 'not ours'),
  );
const authorizations = () => world.api.requests.map(({ authorization }) => authorization);

beforeEach(async () => {
  world = await startScriptedCluster((api) => api.put(staticExport('a')));
  await arrives('a first watch', () => world.reflector.isSynced() && world.api.watches.length > 0);
});
afterEach(async () => {
  await world.close();
  assert.deepEqual(unhandled, []);
});

test('a rotated CA certificate is used from the next connection on, without a restart', async () => {
  const next = await createAuthority();
  // As a projected volume does it: the new one before the server shows it.
  writeFileSync(world.caFile, `${world.authority.certificatePem}\n${next.certificatePem}`);
  assert.match(await ask(), /^NotFound/);
  world.api.present(await next.issueServer(names));
  await ask();
  assert.match(await ask(), /^NotFound/);
  await world.passUntil('a watch on the new certificate', 1_000, () => world.api.watches[1]);
});

const untrusted = [
  [
    'expired',
    () => world.authority.issueServer({ ...names, hasExpired: true }),
    'that has expired \\(CERT_HAS_EXPIRED\\)\\. Renew',
  ],
  [
    'for another host',
    () => world.authority.issueServer({ dns: ['other.example.com'], ips: [] }),
    'for another name \\(ERR_TLS_CERT_ALTNAME_INVALID\\)\\. .* tls-server-name in the kubeconfig',
  ],
  [
    'of an unknown authority',
    async () => (await createAuthority()).issueServer(names),
    '\\((UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT_IN_CHAIN|CERT_SIGNATURE_FAILURE)\\)\\. .* certificate-authority in the kubeconfig',
  ],
] as const;
for (const [what, certificate, words] of untrusted) {
  test(`a certificate that is ${what} is refused with its reason, and calls succeed once it is replaced`, async () => {
    world.api.present(await certificate());
    // What was on a connection that this closed ends with it.
    await ask();
    assert.match(
      await ask(),
      new RegExp(`^Unavailable: no usable answer .* to get x "x": it showed a certificate .*${words}`),
    );
    world.api.put(staticExport('b'));
    world.api.present(await world.authority.issueServer(names));
    await ask();
    assert.match(await ask(), /^NotFound/);
    await world.passUntil('the change meanwhile', 1_000, () =>
      world.wakes.includes('ns/b') ? true : undefined,
    );
  });
}

const unusable = [
  ['missing', (file: string) => rmSync(file), /it cannot be read \(ENOENT\)/],
  ['a folder', (file: string) => [rmSync(file), mkdirSync(file)], /it cannot be read \(EISDIR\)/],
  ['of another kind', (file: string) => writeFileSync(file, 'build-7\n'), /it holds no certificate in PEM/],
  ['cut short', (file: string) => truncateSync(file, 200), /it holds no certificate in PEM/],
] as const;
for (const [what, spoil, why] of unusable) {
  test(`a file of CA certificates that is ${what} is named by its field, and calls succeed once it is fixed`, async () => {
    spoil(world.caFile);
    // What was read before is good for a second.
    await world.clock.pass(1_000);
    const words = await ask();
    assert.match(words, /^Unavailable: certificate-authority of the kubeconfig cannot be used: /);
    assert.match(words, why);
    assert.match(words, /; set the Kubernetes API server's CA certificates/);
    assert.doesNotMatch(words, /ca\.pem/);
    rmSync(world.caFile, { recursive: true, force: true });
    writeFileSync(world.caFile, world.authority.certificatePem);
    await world.clock.pass(1_000);
    assert.match(await ask(), /^NotFound/);
  });
}

test('a refused token is read again at once, and the call continues with the new token', async () => {
  world.api.fault = ({ authorization }, response) => {
    if (authorization === 'Bearer token-2') return false;
    sendJson(response, 401, { kind: 'Status', code: 401 });
    return true;
  };
  writeFileSync(world.tokenFile, 'token-2\n');
  assert.match(await ask(), /^NotFound/);
  assert.deepEqual(authorizations().slice(-2), ['Bearer token-1', 'Bearer token-2']);
});

test('a token that stays refused is read again at most every ten seconds', async () => {
  world.api.fault = (_request, response) => {
    sendJson(response, 401, { kind: 'Status', code: 401 });
    return true;
  };
  const before = authorizations().length;
  for (let call = 0; call < 5; call += 1) assert.match(await ask(), /^Unauthorized: /);
  assert.equal(authorizations().length - before, 6);
  await world.clock.pass(10_000);
  const later = authorizations().length;
  assert.match(
    await ask(),
    /^Unauthorized: the Kubernetes API server did not accept the operator's credentials/,
  );
  assert.ok(authorizations().length - later >= 2);
});

test('a token file that is missing for a moment costs a retry, not the process', async () => {
  const aside = `${world.tokenFile}.aside`;
  renameSync(world.tokenFile, aside);
  // The cached token is forgotten when it is refused, so that the next look finds no file.
  let refuse = true;
  world.api.fault = (_request, response) => {
    if (refuse) sendJson(response, 401, { kind: 'Status', code: 401 });
    return refuse;
  };
  assert.match(
    await ask(),
    /^Unauthorized: the credentials for the Kubernetes API server cannot be obtained \(ENOENT\)/,
  );
  world.api.watches[0]?.end();
  await world.passUntil('a report', 500, () => world.troubles.at(-1));
  assert.equal(world.troubles.at(-1), 'Unauthorized');
  refuse = false;
  renameSync(aside, world.tokenFile);
  await world.passUntil('a watch again', 1_000, () => world.api.watches[1]);
  assert.equal(world.troubles.at(-1), undefined);
});

test('if the kubeconfig is missing when a token is refused, the earlier configuration stays', async () => {
  let refusals = 0;
  world.api.fault = (_request, response) => {
    refusals += 1;
    if (refusals <= 2) sendJson(response, 401, { kind: 'Status', code: 401 });
    return refusals <= 2;
  };
  rmSync(world.kubeconfig);
  assert.match(await ask(), /^Unauthorized/);
  assert.match(await ask(), /^NotFound/);
});

test('renewals of the lease have their own connection, and succeed while all other calls hang', async () => {
  const leaseTransport = createTransport(world.connection, { clock: world.clock, timeoutMs: 15_000 });
  const store = createLeaseStore(leaseTransport, { namespace: 'ns', name: 'lease' }, 5_000);
  world.api.fault = ({ path }) => !path.includes('/leases');
  const hanging = Array.from({ length: 40 }, () => ask());
  const record = {
    holder: 'a',
    durationMs: 15_000,
    acquiredAt: world.clock.now(),
    renewedAt: world.clock.now(),
    transitions: 0,
  };
  const created = await store.create(record, never);
  const renewed = await store.replace(created.resourceVersion, record, never);
  assert.equal(renewed.holder, 'a');
  const leaseConnections = new Set(
    world.api.requests.filter(({ path }) => path.includes('/leases')).map(({ connection }) => connection),
  );
  const others = world.api.requests.filter(({ path }) => !path.includes('/leases'));
  assert.ok(others.every(({ connection }) => !leaseConnections.has(connection)));
  await world.clock.pass(15_000);
  for (const answer of await Promise.all(hanging))
    assert.match(answer, /^Unavailable: .*did not answer in time/);
  await leaseTransport.close();
});
