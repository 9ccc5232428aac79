import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAmbientIdentity } from '#mirror/s3/ambient-identity.ts';

const keys = { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'secret' };
const irsa = { AWS_WEB_IDENTITY_TOKEN_FILE: '/token', AWS_ROLE_ARN: 'arn:aws:iam::1:role/mirror' };
const pod = {
  AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://169.254.170.23/v1/credentials',
  AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: '/pod-token',
};

test('keys count before IRSA, and IRSA before Pod Identity', () => {
  assert.equal(readAmbientIdentity({ ...keys, ...irsa, ...pod })?.kind, 'AccessKey');
  assert.equal(readAmbientIdentity({ ...irsa, ...pod })?.kind, 'WebIdentity');
  assert.equal(readAmbientIdentity(pod)?.kind, 'ContainerIdentity');
});

test('half of an identity is none', () => {
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_ROLE_ARN', 'AWS_SESSION_TOKEN']) {
    assert.equal(readAmbientIdentity({ [name]: 'value' }), undefined);
  }
  assert.equal(readAmbientIdentity({ ...keys, AWS_SECRET_ACCESS_KEY: ' ' }), undefined);
});

test('a profile, and the identity of the node, are not read', () => {
  assert.equal(
    readAmbientIdentity({ AWS_PROFILE: 'admin', HOME: '/root', AWS_REGION: 'eu-west-1' }),
    undefined,
  );
});

test('temporary keys have their session token', () => {
  assert.deepEqual(readAmbientIdentity({ ...keys, AWS_SESSION_TOKEN: 'token\n' }), {
    kind: 'AccessKey',
    accessKeyId: 'AKIA',
    secretAccessKey: 'secret',
    sessionToken: 'token',
  });
});

test('IRSA has its region and name of the session', () => {
  const identity = readAmbientIdentity({ ...irsa, AWS_REGION: 'eu-west-1', AWS_ROLE_SESSION_NAME: 'site' });
  assert.deepEqual(identity, {
    kind: 'WebIdentity',
    tokenFile: '/token',
    roleArn: 'arn:aws:iam::1:role/mirror',
    sessionName: 'site',
    region: 'eu-west-1',
    stsEndpoint: undefined,
  });
});

test('a relative address is one of the ECS agent', () => {
  const identity = readAmbientIdentity({ ...pod, AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/credentials' });
  assert.ok(identity?.kind === 'ContainerIdentity');
  assert.equal(identity.url, 'http://169.254.170.2/v2/credentials');
});
