// Copies from a link to a real registry through the operator's own port and threads, and each refusal or outage: its code and
// remedy, and that neither the inspection nor an earlier copy is lost. Answers that the registry does not give come from a
// scripted server.

import assert from 'node:assert/strict';
import { readdirSync, rmdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { request as sendOnward } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, suite, test } from 'node:test';
import type { MirrorPlace } from '#operator/loop/ports.ts';
import {
  type DockerRegistry,
  damageFile,
  noRegistry,
  startDockerRegistry,
} from '../../support/docker-registry.ts';
import { findFreePort } from '../../support/free-port.ts';
import { noNamespaces } from '../../support/namespaces.ts';
import { type RegistryTokens, startRegistryTokens } from '../../support/registry-tokens.ts';
import type { StorageAnswer } from '../../support/storage-server.ts';
import { refuse } from '../../unit/mirror/registry/scripted-registry.ts';
import { withDisk } from '../cli/environment/small-disk.ts';
import {
  type Copier,
  inspection,
  never,
  openCopier,
  owner,
  secretOf,
  secretWord,
  testRefusals,
} from './copier.ts';
import { asOtherClient, assertForeignIsKept, foreignWrites, layerOf } from './other-client.ts';

const { digest } = inspection;
const password = `${secretWord}-of-the-registry`;
const login = secretOf({ username: 'bot', password });
const oci = (host: string, path: string, secret = login): MirrorPlace => ({
  ...{ address: `oci://${host}/${path}`, endpoint: undefined, region: 'us-east-1', pathStyle: false },
  ...{ owner, secret },
});

/** A proxy before the registry that answers 404 to every HEAD. */
const withoutHead =
  (host: string): StorageAnswer =>
  (request, response) => {
    if (request.method === 'HEAD') return void response.writeHead(404).end();
    // The registry builds addresses of uploads from the Host header.
    const { url, method, headers } = request;
    const onward = sendOnward(`http://${host}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  };

suite('a copy from a link to a registry', { skip: noRegistry }, () => {
  let copier: Copier;
  let registry: DockerRegistry;
  let tokens: RegistryTokens;
  let withTokens: DockerRegistry;
  let site: MirrorPlace;
  let first: string;

  before(async () => {
    copier = await openCopier();
    registry = await startDockerRegistry({ users: { bot: password } });
    const reader = { password, actions: ['pull'] };
    tokens = await startRegistryTokens({ reader });
    withTokens = await startDockerRegistry({ tokens });
    for (const { host } of [registry, withTokens]) copier.allow(host);
    site = oci(registry.host, 'docs/site');
    first = await copier.copy(site);
  });
  after(async () => {
    await registry?.close();
    await withTokens?.close();
    await tokens?.close();
    await copier?.close();
  });

  test('is whole, is found again, and is written once', () => copier.assertCopied(site));

  testRefusals(
    () => copier,
    [
      [
        ...([
          'a wrong password',
          'before',
          'Denied',
          /returned 401 .*Check that the credentials are valid/,
        ] as const),
        () => oci(registry.host, 'docs/site', secretOf({ username: 'bot', password: `${secretWord}-wrong` })),
      ],
      [
        ...([
          'an expired token',
          'before',
          'Denied',
          /returned 401 .*Check that the credentials are valid/,
        ] as const),
        () => {
          const registrytoken = tokens.issueExpired('docs/site');
          const config = JSON.stringify({ auths: { [withTokens.host]: { registrytoken } } });
          return oci(withTokens.host, 'docs/site', secretOf({ '.dockerconfigjson': config }));
        },
      ],
      [
        ...(['a login that may only read', 'after', 'Denied', /may write \(pull,push\)/] as const),
        () => oci(withTokens.host, 'docs/site', secretOf({ username: 'reader', password })),
      ],
      [
        ...(['a repository that no push creates', 'after', 'RepositoryMissing'] as const),
        /returned 404 \(NAME_UNKNOWN\) for an upload of docs\/site\. Create the repository first/,
        async () =>
          oci(
            await copier.script((_request, response) => refuse(response, 404, 'NAME_UNKNOWN')),
            'docs/site',
          ),
      ],
      [
        ...(['429 with Retry-After to a read', 'before', 'Unreachable', /returned 429\./] as const),
        async () => {
          const answer: StorageAnswer = (_request, response) =>
            response.writeHead(429, { 'retry-after': '120' }).end();
          return oci(await copier.script(answer), 'docs/site');
        },
        120_000,
      ],
      [
        ...(['429 with Retry-After to an upload', 'after', 'Unreachable', /returned 429\./] as const),
        async () => {
          const answer: StorageAnswer = ({ method }, response) =>
            response.writeHead(method === 'POST' ? 429 : 404, { 'retry-after': '120' }).end();
          return oci(await copier.script(answer), 'docs/site');
        },
        120_000,
      ],
      [
        ...([
          'a registry that is down',
          'before',
          'Unreachable',
          /refused the connection \(ECONNREFUSED\)\. Check the port/,
        ] as const),
        async () => {
          const host = `127.0.0.1:${await findFreePort()}`;
          copier.allow(host);
          return oci(host, 'docs/site');
        },
      ],
    ],
  );

  test('a mirror that is not required and refuses costs no inspection', async () => {
    const wrong = secretOf({ username: 'bot', password: `${secretWord}-wrong` });
    const refusal = await copier.refused(oci(registry.host, 'docs/site', wrong), { isRequired: false });
    assert.deepEqual([refusal.moment, refusal.code], ['after', 'Denied']);
  });

  for (const [name, write] of foreignWrites) {
    test(`a tag of ${name.replace('-', ' ')} is refused, and stays as it is`, () =>
      assertForeignIsKept(copier, oci(registry.host, `docs/${name}`), write));
  }

  test('a damaged blob is named, and copied again once it is removed', async () => {
    const place = oci(registry.host, 'docs/damaged');
    const ref = await copier.copy(place);
    const file = registry.blobFile(await layerOf(place));
    await damageFile(file);
    const refusal = await copier.refused(place);
    assert.deepEqual([refusal.moment, refusal.code], ['after', 'BlobDamaged']);
    assert.match(refusal.message, /Remove the (?:bundle|tag)/);
    await assert.rejects(copier.mirrors.verify(place, ref, digest, never));
    await rm(file);
    await copier.assertCopied(place);
  });

  test('a registry that answers 404 to every HEAD gets the copy, and a look finds it', async () => {
    const place = oci(await copier.script(withoutHead(registry.host)), 'docs/headless');
    await copier.assertCopied(place);
  });

  test('a disk that is full while the content or the layer is kept loses the copy alone', {
    skip: noNamespaces,
  }, async () => {
    const disk = join(copier.workFolder, 'disk');
    const place = oci(registry.host, 'docs/full-disk');
    await withDisk(disk, '400k', async ({ remount }) => {
      process.env['TMPDIR'] = disk;
      try {
        for (const size of ['400k', '900k']) {
          remount(`size=${size}`);
          const refusal = await copier.refused(place);
          assert.deepEqual([refusal.moment, refusal.code], ['after', 'SpoolFull'], size);
          assert.match(refusal.message, /Give the work volume more/);
          assert.deepEqual(readdirSync(disk), []);
          assert.deepEqual(await asOtherClient(place, (carrier) => carrier.listTags(never)), []);
        }
        remount('size=4m');
        await copier.assertCopied(place);
      } finally {
        process.env['TMPDIR'] = copier.workFolder;
      }
    });
    rmdirSync(disk);
  });

  test('the first copy is still whole', async () => {
    assert.deepEqual(await copier.mirrors.verify(site, first, digest, never), inspection);
    assert.equal(await copier.copy(site), first);
  });
});
