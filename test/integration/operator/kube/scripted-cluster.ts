// For tests of network faults: a scripted API server, the network path to it, and a reflector on the real transport.
// Sockets are real; time is virtual.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Connection, openConnection } from '#operator/kube/transport/connection.ts';
import { staticExports } from '#operator/kube/transport/resource-path.ts';
import { createTransport, type Transport } from '#operator/kube/transport/transport.ts';
import { createReflector, type Reflector } from '#operator/kube/watch/reflector.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Authority, createAuthority } from '../../../support/pki.ts';
import { type ScriptedApiServer, startScriptedApiServer } from '../../../support/scripted-api-server.ts';
import { type NetworkPath, startNetworkPath } from '../../../support/scripted-api-server-path.ts';
import type { ScriptedObject } from '../../../support/scripted-api-server-watch.ts';
import { type SteppedClock, steppedClock } from '../../../support/stepped-clock.ts';

export interface ScriptedCluster {
  readonly clock: SteppedClock;
  readonly api: ScriptedApiServer;
  readonly path: NetworkPath;
  readonly authority: Authority;
  readonly connection: Connection;
  readonly transport: Transport;
  readonly reflector: Reflector<StaticExportObject>;
  readonly wakes: string[];
  /** Codes of the outages that were reported; `undefined` where one was over. */
  readonly troubles: (string | undefined)[];
  readonly kubeconfig: string;
  readonly caFile: string;
  readonly tokenFile: string;
  readonly running: Promise<void>;
  /** Lets virtual time pass in small steps until something is true. */
  passUntil<T>(what: string, stepMs: number, look: () => T | undefined): Promise<T>;
  /** Ends the reflector. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

const serverNames = { dns: ['localhost'], ips: ['127.0.0.1'] };

export const staticExport = (name: string, generation = 1, uid = `uid-${name}`): ScriptedObject => ({
  metadata: { namespace: 'ns', name, uid, generation },
  spec: { domain: 'docs.example.com' },
});

export async function startScriptedCluster(
  prepare: (api: ScriptedApiServer) => void = () => {},
): Promise<ScriptedCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'scripted-cluster-'));
  const authority = await createAuthority();
  const api = await startScriptedApiServer(await authority.issueServer(serverNames));
  prepare(api);
  const path = await startNetworkPath(api.port);
  const [caFile, tokenFile, kubeconfig] = ['ca.pem', 'token', 'config'].map((name) => join(folder, name));
  assert.ok(caFile !== undefined && tokenFile !== undefined && kubeconfig !== undefined);
  writeFileSync(caFile, authority.certificatePem);
  writeFileSync(tokenFile, 'token-1\n');
  writeFileSync(kubeconfig, JSON.stringify(configFor(path.port, caFile, tokenFile)));
  const clock = steppedClock();
  const connection = openConnection({ kubeconfig, context: undefined, isInCluster: false });
  const transport = createTransport(connection, { clock, timeoutMs: 15_000 });
  const wakes: string[] = [];
  const troubles: (string | undefined)[] = [];
  const stopping = new AbortController();
  const reflector = createReflector({
    transport,
    resource: staticExports,
    keep: (object) => object,
    clock,
    random: { uuid: () => '', bytes: () => new Uint8Array(), fraction: () => 0.5 },
    wake: (key) => wakes.push(key),
    report: (trouble) => {
      if (trouble !== undefined || troubles.at(-1) !== undefined) troubles.push(trouble?.code);
    },
  });
  const running = reflector.run(stopping.signal);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await running;
  };
  return {
    clock,
    api,
    path,
    authority,
    connection,
    transport,
    reflector,
    wakes,
    troubles,
    kubeconfig,
    caFile,
    tokenFile,
    running,
    passUntil: (what, stepMs, look) =>
      eventually(
        what,
        async () => {
          const seen = look();
          if (seen === undefined) await clock.pass(stepMs);
          return seen;
        },
        { timeoutMs: 60_000, everyMs: 5 },
      ),
    stop,
    close: async () => {
      await stop();
      await transport.close();
      await path.close();
      await api.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Waits in real time only, for what is on its way through the sockets. */
export function arrives<T>(what: string, look: () => T | undefined | false): Promise<T> {
  return eventually(what, () => look() || undefined, { timeoutMs: 60_000, everyMs: 5 });
}

function configFor(port: number, caFile: string, tokenFile: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [
      { name: 'c', cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority': caFile } },
    ],
    users: [{ name: 'c', user: { 'auth-provider': { name: 'file', config: { tokenFile } } } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c', namespace: 'ns' } }],
  };
}
