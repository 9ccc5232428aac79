// Credentials from played STS and Pod Identity endpoints on loopback, by the real S3 library.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, suite, test } from 'node:test';
import type { S3Credentials } from '#mirror/s3/bucket.ts';
import { type Storage, type StorageAnswer, startStorage } from '../../../support/storage-server.ts';
import { failsWith, now, signal, withScriptedBucket } from './scripted-bucket.ts';

const webToken = 'eyJhbGciOiJSUzI1NiJ9.web-identity-token';
const hourMs = 3_600_000;

let folder: string;
let tokenFile: string;
let issuer: Storage;
let answer: StorageAnswer;
let bodies: string[];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 's3-credentials-'));
  tokenFile = join(folder, 'token');
  await writeFile(tokenFile, webToken);
  issuer = await startStorage((request, response, count) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      bodies.push(body);
      answer(request, response, count);
    });
  });
});
after(async () => {
  await issuer.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  bodies = [];
});

/** Sends two requests to a bucket with these credentials, and gives the last one's headers. */
async function headersWith(credentials: S3Credentials): Promise<IncomingMessage['headers']> {
  let headers: IncomingMessage['headers'] = {};
  await withScriptedBucket(
    (request, response) => {
      headers = request.headers;
      response.end();
    },
    async ({ bucket }) => {
      await bucket.get('one', signal);
      await bucket.get('two', signal);
    },
    { credentials },
  );
  return headers;
}

async function mustFail(credentials: S3Credentials, check: (error: unknown) => boolean): Promise<void> {
  await withScriptedBucket(
    (_request, response) => response.end(),
    async ({ bucket, server }) => {
      await assert.rejects(bucket.get('one', signal), (error) => {
        assert.doesNotMatch(String(error), /web-identity-token|pod-token/);
        return check(error);
      });
      assert.equal(server.requests.length, 0);
    },
    { credentials, attempts: 1 },
  );
}

suite('IRSA', () => {
  const identity = (change: object = {}): S3Credentials => ({
    kind: 'WebIdentity',
    tokenFile,
    roleArn: 'arn:aws:iam::123456789012:role/mirror',
    region: 'eu-west-1',
    stsEndpoint: issuer.origin,
    ...change,
  });
  const stsAnswer = (validForMs: number): string =>
    `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>role-secret</SecretAccessKey><SessionToken>role-token</SessionToken><Expiration>${new Date(now + validForMs).toISOString()}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;

  test('exchanges the token of the service account once, and signs with the keys of the role', async () => {
    answer = (_request, response) => response.end(stsAnswer(hourMs));
    const headers = await headersWith(identity());
    assert.match(headers['authorization'] ?? '', /Credential=ASIAROLE\/\d{8}\/eu-west-1\/s3\/aws4_request/);
    assert.equal(headers['x-amz-security-token'], 'role-token');
    assert.equal(bodies.length, 1);
    const sent = new URLSearchParams(bodies[0]);
    assert.equal(sent.get('Action'), 'AssumeRoleWithWebIdentity');
    assert.equal(sent.get('WebIdentityToken'), webToken);
    assert.equal(sent.get('RoleSessionName'), 'static-export-operator');
  });

  test('renews keys that are about to expire', async () => {
    answer = (_request, response) => response.end(stsAnswer(60_000));
    await headersWith(identity());
    assert.ok(bodies.length >= 2);
  });

  for (const [status, code, message] of [
    [403, 'AccessDenied', /STS returned 403 \(AccessDenied\).*trust policy/],
    [400, 'InvalidIdentityToken', /STS returned 400 \(InvalidIdentityToken\)/],
    [400, 'web-identity-token', /STS returned 400 for the role/],
  ] as const) {
    test(`refused with ${status} ${code} is denied`, async () => {
      answer = (_request, response) =>
        response
          .writeHead(status)
          .end(
            `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${webToken}</Message></Error></ErrorResponse>`,
          );
      await mustFail(identity(), failsWith('Denied', message));
    });
  }

  test('is retried while STS fails', async () => {
    answer = (_request, response) => response.writeHead(503).end();
    await mustFail(identity(), failsWith('Unreachable', /STS returned 503/, true));
  });

  test('without its file says which variable names it', async () => {
    const missing = identity({ tokenFile: join(folder, 'none') });
    await mustFail(missing, failsWith('InvalidCredentials', /\(ENOENT\).*AWS_WEB_IDENTITY_TOKEN_FILE/));
  });

  test('without STS is temporary', async () => {
    const away = identity({ stsEndpoint: 'http://127.0.0.1:1' });
    await mustFail(away, failsWith('Unreachable', /STS did not answer \(ECONNREFUSED\)/, true));
  });
});

suite('Pod Identity', () => {
  const identity = (change: object = {}): S3Credentials => ({
    kind: 'ContainerIdentity',
    url: `${issuer.origin}/v1/credentials`,
    tokenFile,
    ...change,
  });
  const agentAnswer = JSON.stringify({
    AccessKeyId: 'ASIAPOD',
    SecretAccessKey: 'pod-secret',
    Token: 'pod-session',
    Expiration: new Date(Date.now() + hourMs).toISOString(),
  });

  test('asks the agent with the token of its file, and signs with its keys', async () => {
    let authorization: string | undefined;
    answer = (request, response) => {
      ({ authorization } = request.headers);
      response.end(agentAnswer);
    };
    const headers = await headersWith(identity());
    assert.equal(authorization, webToken);
    assert.match(headers['authorization'] ?? '', /Credential=ASIAPOD\//);
    assert.equal(headers['x-amz-security-token'], 'pod-session');
    assert.equal(bodies.length, 1);
  });

  test('takes a token itself', async () => {
    let authorization: string | undefined;
    answer = (request, response) => {
      ({ authorization } = request.headers);
      response.end(agentAnswer);
    };
    await headersWith(identity({ tokenFile: undefined, token: 'pod-token' }));
    assert.equal(authorization, 'pod-token');
  });

  for (const [what, reply] of [
    ['refuses', [403, '{"message":"pod-token"}']],
    ['answers something else', [200, '<html>pod-token</html>']],
  ] as const) {
    test(`is temporarily without credentials if the agent ${what}`, async () => {
      answer = (_request, response) => response.writeHead(reply[0]).end(reply[1]);
      await mustFail(identity(), failsWith('InvalidCredentials', /pod identity association/, true));
    });
  }

  test('sends its token to no other host over plain HTTP', async () => {
    const elsewhere = identity({ url: 'http://agent.example.com/v1/credentials' });
    await mustFail(elsewhere, failsWith('InvalidCredentials', undefined, true));
  });
});
