// External services: as many calls leave at once as are set, because a call that waits for a connection would be reported
// as unanswered; and a replaced file of CA certificates is trusted.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { defaultLimits } from '#bundle/limits.ts';
import { type ExternalServices, openExternalServices } from '#operator/services/external-services.ts';
import type { ProxySettings } from '#platform/http/proxy-settings.ts';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import { Link } from '#platform/wire/link.ts';
import { eventually } from '../../../support/eventually.ts';
import { createAuthority } from '../../../support/pki.ts';
import { steppedClock } from '../../../support/stepped-clock.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { never, startLoopbackServer } from '../kube/loopback-server.ts';

const callsAtOnce = 30;
const noProxy: ProxySettings = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined };

/** Answers when all calls have arrived. */
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
  extraCaFile?: string,
  clock: Clock = systemClock,
): Promise<ExternalServices> {
  const options = {
    extraCaFile,
    allowPrivateLinks: true,
    requestTimeoutMs: 60_000,
    maxArchiveBytes: defaultLimits.maxArchiveBytes,
    maxBundleBytes: defaultLimits.maxTotalBytes,
    callsAtOnce,
    proxy,
    bundleWorker: none,
    valuesWorker: none,
    mirrorWorker: none,
    mirrors: { allowedHosts: [], allowPrivateHosts: false, defaultMirror: undefined },
  };
  return openExternalServices(options, { clock, random: systemRandom, logger: silentLogger });
}

type Ask = (services: ExternalServices, origin: string) => Promise<string | undefined>;

const calls: readonly (readonly [name: string, ask: Ask, answered: string | undefined])[] = [
  [
    'calls to an export API',
    async ({ exportApi }, origin) =>
      (await exportApi.connect({ baseUrl: origin, project: undefined }, 'svc_x').readJob('j', never)).state,
    'processing',
  ],
  [
    'probes of links',
    async ({ bundles }, origin) => {
      const link = Link.parse(`${origin}/bundle?signature=x`);
      assert.ok(link !== undefined);
      return (await bundles.probe(link, never))?.code;
    },
    undefined,
  ],
];
for (const [name, call, answered] of calls) {
  for (const isProxied of [false, true]) {
    test(`${name} are sent together, as many as are set${isProxied ? ', through a proxy too' : ''}`, async (t) => {
      const server = await startPatientServer();
      t.after(() => server.close());
      const services = await open(isProxied ? { ...noProxy, httpProxy: server.origin } : noProxy);
      t.after(() => services.close());
      // A proxy gets plain HTTP requests itself.
      const origin = isProxied ? 'http://192.0.2.1' : server.origin;
      const answers = await Promise.all(Array.from({ length: callsAtOnce }, () => call(services, origin)));
      assert.deepEqual(new Set(answers), new Set([answered]));
      assert.equal(server.connections, callsAtOnce);
    });
  }
}

test('an export API with a new CA is called within a minute after --extra-ca-file has it', async (t) => {
  const folder = temporaryFolder(t);
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
  const services = await open(noProxy, file, clock);
  t.after(() => services.close());
  const api = services.exportApi.connect(
    { baseUrl: `https://127.0.0.1:${address.port}`, project: undefined },
    'svc_x',
  );
  await assert.rejects(api.readJob('j', never), { code: 'ExportApiNotTrusted' });
  await writeFile(file, `${other.certificatePem}\n${authority.certificatePem}`);
  await clock.pass(60_000);
  // The system reads the file in its own time, not the clock's.
  const answer = await eventually('trusted', async () => api.readJob('j', never).catch(() => undefined));
  assert.equal(answer.state, 'processing');
});
