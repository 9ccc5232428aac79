// What a bucket and a webhook are opened with: whose key signs requests, and what is refused before anything is sent.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  type DestinationPorts,
  type DestinationValues,
  destinationPorts,
} from '#conversations/commands/destination-ports.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { type Storage, startStorage } from '../../../support/storage-server.ts';

const { signal } = new AbortController();
const environment = { AWS_ACCESS_KEY_ID: 'AKIAENV', AWS_SECRET_ACCESS_KEY: 'env-secret' };

interface Opened {
  readonly ports: DestinationPorts;
  readonly folder: string;
  readonly server: Storage;
}

async function open(
  t: TestContext,
  env: Readonly<Record<string, string>>,
  valuesIn: (folder: string, origin: string) => Partial<DestinationValues>,
): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'destination-ports-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const server = await startStorage((_request, response) => void response.writeHead(404).end());
  t.after(() => server.close());
  const values: DestinationValues = {
    s3Credentials: undefined,
    s3Endpoint: server.origin,
    s3Region: 'us-east-1',
    s3PathStyle: true,
    webhookSecretFile: undefined,
    requestTimeout: 5_000,
    ...valuesIn(folder, server.origin),
  };
  const ports = destinationPorts(values, undefined, { clock: systemClock, env });
  t.after(() => ports.close());
  return { ports, folder, server };
}

const write = (folder: string, files: Readonly<Record<string, string>>): string => {
  const path = join(folder, 'secret');
  mkdirSync(path);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
};
const folderKey = { accessKeyId: 'AKIAFOLDER\n', secretAccessKey: 'folder-secret\n' };

for (const [name, env, files, signer, token] of [
  ['a key of the environment', environment, undefined, 'AKIAENV', undefined],
  [
    'a temporary key of the environment',
    { ...environment, AWS_SESSION_TOKEN: 'env-token' },
    undefined,
    'AKIAENV',
    'env-token',
  ],
  [
    'the key of a folder, also where the environment has one',
    environment,
    folderKey,
    'AKIAFOLDER',
    undefined,
  ],
  [
    'a temporary key of a folder',
    {},
    { ...folderKey, sessionToken: 'folder-token' },
    'AKIAFOLDER',
    'folder-token',
  ],
] as const) {
  test(`${name} signs the requests to the bucket`, async (t) => {
    const { ports, server } = await open(t, env, (folder) => ({
      s3Credentials: files && write(folder, files),
      s3Region: 'eu-west-1',
    }));
    const bucket = await ports.openBucket('talks');
    assert.equal(await bucket.head('p/turns', signal), undefined);
    await bucket.close();
    const [request] = server.requests;
    assert.equal(request?.url, '/talks/p/turns');
    assert.match(request.headers.authorization ?? '', new RegExp(`Credential=${signer}/\\d+/eu-west-1/s3/`));
    assert.equal(request.headers['x-amz-security-token'], token);
  });
}

for (const [name, files, env, code] of [
  ['no credentials', undefined, {}, 'CredentialsMissing'],
  ['half a key in the environment', undefined, { AWS_ACCESS_KEY_ID: 'AKIA' }, 'CredentialsMissing'],
  ['a folder without a key', {}, environment, 'InvalidCredentials'],
  ['a folder with half a key', { accessKeyId: 'AKIA' }, environment, 'InvalidCredentials'],
  [
    'a key that is too long to be one',
    { accessKeyId: 'A'.repeat(1024 * 1024 + 1) },
    {},
    'InvalidCredentials',
  ],
] as const) {
  test(`${name}: a bucket is not opened, and the message names the flag`, async (t) => {
    const { ports } = await open(t, env, (folder) => ({ s3Credentials: files && write(folder, files) }));
    await assert.rejects(ports.openBucket('talks'), { code, outcome: 'usage', message: /--s3-credentials/ });
  });
}

test('an address of a bucket that is not one is refused', async (t) => {
  const { ports } = await open(t, environment, () => ({ s3Endpoint: 'storage' }));
  await assert.rejects(ports.openBucket('talks'), { code: 'InvalidAddress' });
  await assert.rejects(ports.openBucket('Talks_'), { code: 'InvalidAddress' });
});

for (const [name, text, code] of [
  ['no secret', undefined, 'SecretMissing'],
  ['a file that does not exist', '', 'SecretUnreadable'],
  ['a short secret', 'short', 'SecretInvalid'],
  ['a short secret in the form of Standard Webhooks', 'whsec_c2hvcnQ=', 'SecretInvalid'],
  ['a file that is longer than any secret', 'x'.repeat(5000), 'SecretInvalid'],
] as const) {
  test(`${name}: a webhook is not opened`, async (t) => {
    const { ports } = await open(t, {}, (folder) => {
      const path = join(folder, 'webhook-secret');
      if (text !== undefined && text !== '') writeFileSync(path, text);
      return { webhookSecretFile: text === undefined ? undefined : path };
    });
    await assert.rejects(ports.openWebhook(), { code, outcome: 'usage', message: /--webhook-secret-file/ });
  });
}

test('a secret of a file signs a webhook, without its line feed', async (t) => {
  const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZg==';
  const { ports } = await open(t, {}, (folder) => {
    const path = join(folder, 'webhook-secret');
    writeFileSync(path, `${secret}\n`);
    return { webhookSecretFile: path };
  });
  const opened = await ports.openWebhook();
  assert.equal(Buffer.from(opened.secret).toString('utf8'), '0123456789abcdef');
  assert.equal(opened.timeoutMs, 5_000);
});
