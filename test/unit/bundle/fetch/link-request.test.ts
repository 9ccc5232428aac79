// Where a link may lead, hop by hop, with storages that exist only in this test.

import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { MockAgent } from 'undici';
import { requestLink } from '#bundle/fetch/link-request.ts';
import { agentOver } from '#platform/http/agent.ts';
import { InternalAddressError } from '#platform/http/guarded-lookup.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { requireLink } from '../../../support/storage-server.ts';

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

async function follow(allowPrivateLinks = false, address = start) {
  const options = { agent: agentOver(agent, allowPrivateLinks), maxRedirects: 2, userAgent: 'test' };
  const answer = await requestLink(
    requireLink(address),
    { ...options, headers: { range: 'bytes=0-0' } },
    new AbortController().signal,
  );
  return text(answer.body);
}

const turnedAway = (code: string) => (error: unknown) => {
  assert.ok(error instanceof PublishableError);
  assert.deepEqual([error.kind, error.code], ['retry', code]);
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

describe('user and password of a link', () => {
  const basic = `Basic ${Buffer.from('us er:p@ss%zz').toString('base64')}`;
  const secret = 'https://us%20er:p%40ss%zz@storage.example.com/b.tar.gz?X-Amz-Signature=5ec2e7';
  const authorized: string[] = [];
  const answerAt = (origin: string, path: string, reply: [number, object]): void =>
    void agent
      .get(origin)
      .intercept({ path })
      .reply(({ headers }) => {
        authorized.push(String(new Map(Object.entries(headers ?? {})).get('authorization')));
        return { statusCode: reply[0], data: 'here', responseOptions: { headers: { ...reply[1] } } };
      });
  beforeEach(() => authorized.splice(0));

  test('are sent as Basic, to the same origin after a redirect too', async () => {
    answerAt('https://storage.example.com', '/b.tar.gz?X-Amz-Signature=5ec2e7', [302, { location: '/x' }]);
    answerAt('https://storage.example.com', '/x', [200, {}]);
    assert.equal(await follow(false, secret), 'here');
    assert.deepEqual(authorized, [basic, basic]);
  });

  test('are not sent to another origin', async () => {
    const location = 'https://cdn.example.net/x';
    answerAt('https://storage.example.com', '/b.tar.gz?X-Amz-Signature=5ec2e7', [302, { location }]);
    answerAt('https://cdn.example.net', '/x', [200, {}]);
    assert.equal(await follow(false, secret), 'here');
    assert.deepEqual(authorized, [basic, 'undefined']);
  });
});
