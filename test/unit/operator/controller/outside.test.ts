// How many calls leave at once: what would wait for a connection in line would be told that nobody answered it. And whom
// they trust, when the file of authorities is replaced.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ProxySettings } from '../../../../src/bundle/fetch/link-agent.ts';
import { type Outside, openOutside } from '../../../../src/operator/controller/outside.ts';
import { operatorProgram } from '../../../../src/operator/flags.ts';
import { type Clock, systemClock } from '../../../../src/runtime/clock.ts';
import { readInvocation } from '../../../../src/runtime/flags/flags.ts';
import { silentLogger } from '../../../../src/runtime/logger.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';
import { Link } from '../../../../src/wire/link.ts';
import { eventually } from '../../../support/eventually.ts';
import { createAuthority } from '../../../support/pki.ts';
import { steppedClock } from '../../../support/stepped-clock.ts';
import { never, startLoopbackServer } from '../../kube/loopback-server.ts';

const callsAtOnce = 30;
const noProxy: ProxySettings = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined };

/** Answers nobody before so many have asked. */
async function startPatientServer() {
  const server = await startLoopbackServer();
  const held: ServerResponse[] = [];
  server.handle = (_request, response) => {
    held.push(response);
    if (held.length < callsAtOnce) return;
    for (const one of held.splice(0)) {
      one.writeHead(200, { 'content-type': 'application/json' }).end('{"jobId":"j","status":"processing"}');
    }
  };
  return server;
}

const none = new URL('file:///');

function open(
  proxy: ProxySettings,
  more: readonly string[] = [],
  clock: Clock = systemClock,
): Promise<Outside> {
  const flags = ['--allow-private-links', '--request-timeout=5s', ...more];
  const invocation = readInvocation(operatorProgram, '0', flags, {});
  assert.ok(invocation.outcome === 'run');
  const edge = { clock, random: systemRandom, logger: silentLogger, shutdown: never };
  return openOutside(invocation.values, edge, { workerUrl: none, valuesWorkerUrl: none, proxy, callsAtOnce });
}

type Ask = (outside: Outside, origin: string) => Promise<string>;

const calls: readonly (readonly [name: string, ask: Ask, answered: string])[] = [
  [
    'calls to an export API',
    async ({ exportApi }, origin) => (await exportApi.connect(origin, 'svc_x').readJob('j', never)).state,
    'processing',
  ],
  [
    'probes of links',
    ({ bundles }, origin) => {
      const link = Link.parse(`${origin}/bundle?signature=x`);
      assert.ok(link !== undefined);
      return bundles.probe(link, never);
    },
    'alive',
  ],
];
for (const [name, call, answered] of calls) {
  for (const isProxied of [false, true]) {
    test(`${name} leave together, as many as passes run${isProxied ? ', through a proxy too' : ''}`, async (t) => {
      const server = await startPatientServer();
      t.after(() => server.close());
      const outside = await open(isProxied ? { ...noProxy, httpProxy: server.origin } : noProxy);
      t.after(() => outside.close());
      // Of plain HTTP a proxy is asked itself.
      const origin = isProxied ? 'http://192.0.2.1' : server.origin;
      const answers = await Promise.all(Array.from({ length: callsAtOnce }, () => call(outside, origin)));
      assert.deepEqual(new Set(answers), new Set([answered]));
      assert.equal(server.connections, callsAtOnce);
    });
  }
}

test('an export API whose authority is renewed is called again a minute after the file was', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'outside-'));
  t.after(() => rm(folder, { recursive: true }));
  const [authority, other] = await Promise.all([createAuthority(), createAuthority()]);
  const { certificatePem, keyPem } = await authority.issueServer({ dns: ['localhost'], ips: ['127.0.0.1'] });
  const server = createServer({ cert: certificatePem, key: keyPem }, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"jobId":"j","status":"processing"}');
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);

  const file = join(folder, 'ca.pem');
  await writeFile(file, other.certificatePem);
  const clock = steppedClock();
  const outside = await open(noProxy, [`--extra-ca-file=${file}`], clock);
  t.after(() => outside.close());
  const api = outside.exportApi.connect(`https://127.0.0.1:${address.port}`, 'svc_x');
  await assert.rejects(api.readJob('j', never), { code: 'NetworkError' });
  await writeFile(file, `${other.certificatePem}\n${authority.certificatePem}`);
  await clock.pass(60_000);
  // The file is read by the system, whose time is not the clock's.
  const answer = await eventually('trusted', async () => api.readJob('j', never).catch(() => undefined));
  assert.equal(answer.state, 'processing');
});
