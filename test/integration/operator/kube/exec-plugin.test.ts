// Credentials plugins as real programs: unusual answers, failures, hanging. Each affects the operator only while it lasts,
// and leaves no process.

import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import { openConnection } from '#operator/kube/transport/connection.ts';
import { createTransport, type Transport } from '#operator/kube/transport/transport.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { eventually } from '../../../support/eventually.ts';
import { createAuthority } from '../../../support/pki.ts';
import { sendJson, startScriptedApiServer } from '../../../support/scripted-api-server.ts';
import { type SteppedClock, steppedClock } from '../../../support/stepped-clock.ts';

const authority = await createAuthority();
const api = await startScriptedApiServer(await authority.issueServer({ dns: [], ips: ['127.0.0.1'] }));
after(() => api.close());
// As the API server does it: who shows nothing is anonymous, and allowed nothing.
api.fault = ({ authorization }, response) => {
  if (authorization === 'Bearer good') return false;
  sendJson(response, authorization === undefined ? 403 : 401, { kind: 'Status' });
  return true;
};
const address = { resource: { group: '', version: 'v1', plural: 'x', kind: 'X' }, name: 'x' };
const never = new AbortController().signal;

let folder: string;
let clock: SteppedClock;
let transport: Transport;
/** Process ids, one a line, as the plugin starts. The file is empty before its first line, and 0 would be our own group. */
const started = (): readonly number[] =>
  existsSync(join(folder, 'started'))
    ? (readFileSync(join(folder, 'started'), 'utf8').match(/^\d+$/gm) ?? []).map(Number)
    : [];
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
/** @param lines of a shell script, run in the test's folder */
const usePlugin = (lines: string): void => {
  const file = join(folder, 'plugin');
  rmSync(file, { force: true });
  appendFileSync(file, `#!/bin/sh\ncd ${folder}\necho $$ >> started\n${lines}\n`, { mode: 0o755 });
};
/** `NotFound` is the answer of a server that was reached and knows us. */
const ask = (): Promise<string> =>
  transport.call({ verb: 'get', method: 'GET', address }, never).then(
    () => 'answered',
    (error: unknown) => (error instanceof ClusterError ? `${error.code}: ${error.message}` : 'not ours'),
  );

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'exec-plugin-'));
  clock = steppedClock();
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, authority.certificatePem);
  const kubeconfig = join(folder, 'config');
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: join(folder, 'plugin'),
    interactiveMode: 'Never',
  };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [
      {
        name: 'c',
        cluster: { server: `https://127.0.0.1:${api.port}`, 'certificate-authority': caFile },
      },
    ],
    users: [{ name: 'u', user: { exec } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  const connection = openConnection({ kubeconfig, context: undefined, isInCluster: false });
  transport = createTransport(connection, { clock, timeoutMs: 15_000 });
});
afterEach(async () => {
  await transport.close();
  for (const pid of started()) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true });
});

const good = '{"kind":"ExecCredential","status":{"token":"good"}}';
const odd: readonly (readonly [name: string, firstAnswer: string, firstOutcome: RegExp])[] = [
  ['without a status', '{"kind":"ExecCredential"}', /^Unauthorized: the credentials .* cannot be obtained/],
  [
    'with an empty token',
    '{"kind":"ExecCredential","status":{"token":""}}',
    /^Unauthorized: the credentials .* neither a usable token nor a certificate with its key; check/,
  ],
  [
    'with a token that is blank',
    '{"kind":"ExecCredential","status":{"token":" \\n"}}',
    /^Unauthorized: the credentials .* neither a usable token/,
  ],
  [
    'with a token that no header may hold',
    '{"kind":"ExecCredential","status":{"token":"go\\nod"}}',
    /^Unauthorized: the credentials .* neither a usable token/,
  ],
  ['that is no JSON', 'svc_oops', /^Unauthorized: the credentials .* cannot be obtained/],
  ['with a wrong token', '{"kind":"ExecCredential","status":{"token":"bad"}}', /^NotFound/],
  [
    'with a wrong token and an expiry that is no date',
    '{"kind":"ExecCredential","status":{"token":"bad","expirationTimestamp":"soon"}}',
    /^NotFound/,
  ],
];
for (const [name, answer, outcome] of odd) {
  test(`one answer ${name} is forgotten a second later`, async () => {
    writeFileSync(join(folder, 'first'), answer);
    writeFileSync(join(folder, 'good'), good);
    usePlugin('if mv first first.given 2>/dev/null; then cat first.given; else cat good; fi');
    const first = await ask();
    assert.match(first, outcome);
    assert.doesNotMatch(first, /svc_oops|go\sod/);
    await clock.pass(1_000);
    assert.match(await ask(), /^NotFound/);
    assert.equal(started().length, 2);
  });
}

test('a plugin that fails runs once a second, however many calls need it, and one success is enough', async () => {
  usePlugin('exit 1');
  for (let second = 1; second <= 3; second += 1) {
    for (let call = 0; call < 5; call += 1) {
      const answers = await Promise.all([ask(), ask(), ask()]);
      for (const answer of answers)
        assert.match(answer, /^Unauthorized: the credentials .* cannot be obtained/);
    }
    assert.equal(started().length, second);
    await clock.pass(1_000);
  }
  usePlugin(`echo '${good}'`);
  assert.match(await ask(), /^NotFound/);
});

test('a plugin that hangs is named after the deadline of each call, and ended after a minute', async () => {
  usePlugin('exec sleep 600');
  const first = ask();
  const pid = await eventually('the plugin', () => started()[0], { timeoutMs: 60_000, everyMs: 5 });
  await clock.pass(15_000);
  assert.match(await first, /^Unavailable: the credentials .* did not arrive in time; check the exec plugin/);
  assert.ok(isAlive(pid));
  await clock.pass(45_000);
  await eventually('the end of the plugin', () => !isAlive(pid) || undefined, {
    timeoutMs: 60_000,
    everyMs: 5,
  });
  usePlugin(`echo '${good}'`);
  await clock.pass(1_000);
  assert.match(await ask(), /^NotFound/);
  assert.equal(started().length, 2);
});

test("a plugin's child that holds its output open does not prevent its replacement", async () => {
  usePlugin('sleep 600 &\necho $! >> started\nwait');
  const first = ask();
  const pid = await eventually('both processes', () => started()[1] && started()[0], {
    timeoutMs: 60_000,
    everyMs: 5,
  });
  await clock.pass(60_000);
  assert.match(await first, /^Unavailable: /);
  await eventually('the end of the plugin', () => !isAlive(pid) || undefined, {
    timeoutMs: 60_000,
    everyMs: 5,
  });
  usePlugin(`echo '${good}'`);
  await clock.pass(1_000);
  assert.match(await ask(), /^NotFound/);
});
