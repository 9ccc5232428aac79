// Unreachable export APIs: one that accepts requests and never answers must not delay exports of another, and an
// invalid certificate is reported until it is replaced.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { eventually } from '../../support/eventually.ts';
import { type CertifiedKey, createAuthority } from '../../support/pki.ts';
import { startEnvironment } from './operator-environment.ts';

const namespace = 'unreachable-apis';
const names = { dns: ['localhost'], ips: ['127.0.0.1'] };
/** The fault of each API's certificate: its error code, the fault itself, and the words for it. */
const troubles = {
  expired: [
    'CERT_HAS_EXPIRED',
    () => authority.issueServer({ ...names, hasExpired: true }),
    'that has expired',
    'Renew the certificate there',
  ],
  elsewhere: [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    () => authority.issueServer({ dns: ['other.example.com'], ips: [] }),
    'for another name',
    'Use a name that the certificate lists',
  ],
  unknown: [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT_IN_CHAIN|CERT_SIGNATURE_FAILURE',
    async () => (await createAuthority()).issueServer(names),
    'that is (not trusted|self-signed and not trusted)',
    'If its CA is private, add the CA certificate with --extra-ca-file',
  ],
} as const;
const cases = Object.entries(troubles);
const relays = new Map<string, Relay>();
/** Accepts connections and answers nothing. */
const silent = createServer((socket) => {
  silentConnections.add(socket);
  socket.on('error', () => {});
});
const silentConnections = new Set<Socket>();
/** A separate host, because ports of one host share its slots. */
const silentHost = '127.0.0.2';

interface Relay {
  readonly port: number;
  /** Used from the next connection on; existing connections end. */
  present(certificate: CertifiedKey): void;
  close(): void;
}

/** The vendor behind TLS. */
async function startRelay({ certificatePem, keyPem }: CertifiedKey): Promise<Relay> {
  const sockets = new Set<Socket>();
  const server = createTlsServer({ cert: certificatePem, key: keyPem }, (socket) => {
    const behind = connect(vendor.port, '127.0.0.1');
    for (const one of [socket, behind]) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => sockets.delete(one));
    }
    socket.pipe(behind).pipe(socket);
  }).listen(0, '127.0.0.1');
  server.on('tlsClientError', () => {});
  await once(server, 'listening');
  const end = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: portOf(server),
    present: (next) => {
      server.setSecureContext({ cert: next.certificatePem, key: next.keyPem });
      end();
    },
    close: () => {
      end();
      server.close();
    },
  };
}

interface ListedExport {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly start?: object };
}

function portOf(server: Server): number {
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}

const presentTo = async (name: string, certificate: Promise<CertifiedKey>): Promise<void> =>
  relays.get(name)?.present(await certificate);

const { world, vendor, reader, staticExport, start } = await startEnvironment({
  namespaces: [namespace],
  stopSignal: 'SIGKILL',
});
const toApi = (name: string, baseUrl: string) =>
  staticExport(name, { api: { keySecretRef: { name: 'export-api' }, baseUrl } });
const authority = await createAuthority();
silent.listen(0, silentHost);
await once(silent, 'listening');
for (const [name] of cases) {
  relays.set(name, await startRelay(await authority.issueServer(names)));
  vendor.script(`${name}.example.com`, { status: () => 'running' });
}
const caFile = join(world.folder, 'authority.pem');
writeFileSync(caFile, authority.certificatePem);
await world.apply(
  ...Array.from({ length: 20 }, (_, index) =>
    toApi(`hanging-${index}`, `http://${silentHost}:${portOf(silent)}`),
  ),
  ...cases.map(([name]) => toApi(name, `https://127.0.0.1:${relays.get(name)?.port}/api`)),
);
await start([
  `--allowed-api-hosts=${[...relays.values()].map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
  `--allowed-api-hosts=http://${silentHost}:${portOf(silent)}`,
  `--extra-ca-file=${caFile}`,
  // The slots of the silent API are counted: no request to it may time out during the tests.
  '--request-timeout=5m',
  '--reconcile-timeout=1h',
]);

after(() => {
  for (const socket of silentConnections) socket.destroy();
  silent.close();
  for (const relay of relays.values()) relay.close();
});

test('a hanging API uses only its four slots, and resources of other APIs are published', async () => {
  await eventually('four passes at the silent API', () => (silentConnections.size >= 4 ? true : undefined));
  await world.apply(staticExport('quick'));
  await reader.awaitCondition('quick', 'Ready', 'True', 'Published');
  assert.equal(silentConnections.size, 4, 'none of them was given up to make room');
  for (const [name] of cases) {
    await eventually(`a poll of ${name}`, () => vendor.polls(`${name}.example.com`) > 0 || undefined);
  }
});

test('while every slot of an API is used, an edit of a listed resource is reconciled', async () => {
  const { stdout } = await world.kubectl(['get', 'sx', '-n', namespace, '-o', 'json']);
  const listed: readonly ListedExport[] = JSON.parse(stdout).items;
  const waiting = listed
    .filter(({ metadata, status }) => metadata.name.startsWith('hanging-') && status?.start === undefined)
    .map(({ metadata }) => metadata.name);
  assert.equal(waiting.length, 16, 'four hold a slot, and no more');
  const [name = ''] = waiting;
  await world.api.patch('sx', name, { spec: { suspend: true } }, { namespace });
  await reader.awaitCondition(name, 'Ready', 'False', 'Suspended');
  assert.equal(silentConnections.size, 4);
});

test('an API whose certificate expired, names another host or has an unknown CA is retried, with that cause in status', async () => {
  for (const [name, [, issue]] of cases) await presentTo(name, issue());
  for (const [name, [code, , fault, remedy]] of cases) {
    await eventually(
      `${name} to say ${code}`,
      async () => {
        const { message } = (await reader.condition(name, 'Ready')) ?? {};
        assert.match(
          message ?? '',
          new RegExp(
            `showed a certificate (${fault}) \\((${code})\\)\\. ${remedy}\\b.*\\(ExportApiNotTrusted\\)\\.`,
          ),
        );
        return true;
      },
      { timeoutMs: 90_000 },
    );
  }
});

test('with valid certificates the same jobs continue and are published; a rotated one is accepted', async () => {
  for (const [name] of cases) {
    vendor.script(`${name}.example.com`, { status: () => 'completed' });
    await presentTo(name, authority.issueServer(names));
  }
  for (const [name] of cases) {
    await reader.awaitCondition(name, 'Ready', 'True', 'Published', 240_000);
    assert.equal(vendor.jobs(`${name}.example.com`).length, 1);
  }
  await presentTo('expired', authority.issueServer(names));
  await reader.request('expired', 'rotated');
  await reader.awaitCondition('expired', 'Exported', 'True', 'Unchanged');
});
