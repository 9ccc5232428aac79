// Where a link may lead, hop by hop, with storages that exist only in this test.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { MockAgent } from 'undici';
import { BundleError } from '../../../../src/bundle/bundle-error.ts';
import { networkFault, requestLink } from '../../../../src/bundle/fetch/link-request.ts';
import { InternalAddressError } from '../../../../src/runtime/http/guarded-lookup.ts';

let agent: MockAgent;
beforeEach(() => {
  agent = new MockAgent();
  agent.disableNetConnect();
});
afterEach(() => agent.close());

const start = 'https://storage.example.com/b.tar.gz?X-Amz-Signature=5ec2e7';

function redirectTo(location: string, status = 302): void {
  agent
    .get('https://storage.example.com')
    .intercept({ path: '/b.tar.gz?X-Amz-Signature=5ec2e7' })
    .reply(status, '', { headers: { location } });
}

async function follow(allowPrivateLinks = false) {
  const options = { dispatcher: agent, allowPrivateLinks, maxRedirects: 2, userAgent: 'test' };
  const answer = await requestLink(
    start,
    { ...options, headers: { range: 'bytes=0-0' } },
    new AbortController().signal,
  );
  return answer.body.text();
}

const turnedAway = (code: string) => (error: unknown) => {
  assert.ok(error instanceof BundleError);
  assert.deepEqual([error.kind, error.code], ['transient', code]);
  assert.ok(!error.message.includes('5ec2e7'));
  return true;
};

describe('a redirect', () => {
  for (const status of [301, 302, 303, 307, 308]) {
    test(`with ${status} to another storage is followed, with the same headers and without the link’s query`, async () => {
      redirectTo('https://cdn.example.net/x', status);
      agent
        .get('https://cdn.example.net')
        .intercept({ path: '/x', method: 'GET', headers: { range: 'bytes=0-0', 'user-agent': 'test' } })
        .reply(200, 'here');
      assert.equal(await follow(), 'here');
    });
  }

  for (const location of [
    'https://169.254.169.254/latest/meta-data/',
    'https://localhost/x',
    'https://[::1]/x',
    'https://10.0.0.1/x',
  ]) {
    test(`to ${location} is refused`, async () => {
      redirectTo(location);
      await assert.rejects(follow(), turnedAway('PrivateLink'));
    });
  }

  test('from https to http is refused, private links allowed or not', async () => {
    for (const isAllowed of [false, true]) {
      redirectTo('http://storage.example.com/b');
      await assert.rejects(follow(isAllowed), turnedAway('InvalidRedirect'));
    }
  });
});

test('a name that resolves to an internal address is refused like the address', async () => {
  agent
    .get('https://storage.example.com')
    .intercept({ path: '/b.tar.gz?X-Amz-Signature=5ec2e7' })
    .replyWithError(new Error('connect failed', { cause: new InternalAddressError('storage.example.com') }));
  await assert.rejects(follow(), turnedAway('PrivateLink'));
});

for (const [code, words] of [
  ['SELF_SIGNED_CERT_IN_CHAIN', /certificate that is not trusted .*--extra-ca-file/],
  ['ECONNRESET', /did not answer or broke off \(ECONNRESET\)/],
] as const) {
  test(`${code} says what to look at`, () => {
    const fault = networkFault(Object.assign(new Error('x'), { code }), new AbortController().signal);
    assert.ok(fault instanceof BundleError);
    assert.deepEqual([fault.kind, fault.code], ['transient', 'DownloadFailed']);
    assert.match(fault.message, words);
  });
}
