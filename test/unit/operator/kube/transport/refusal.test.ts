// Each refusal of the API server as an error, in a table. No message repeats what was sent.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClusterRefusal, readRefusal } from '#operator/kube/transport/refusal.ts';
import { type ObjectAddress, secrets, staticExports } from '#operator/kube/transport/resource-path.ts';

const now = Date.parse('2026-11-21T10:00:00Z');
const secret: ObjectAddress = { resource: secrets, namespace: 'team-a', name: 'docs-bundle' };

const status = (code: number, reason: string, more: object = {}) => ({
  httpStatus: code,
  retryAfterHeader: null,
  body: { kind: 'Status', code, reason, message: 'svc_secret was sent', ...more },
});

const rows: readonly (readonly [name: string, refusal: ClusterRefusal, code: string, message: RegExp])[] = [
  [
    'no object',
    status(404, 'NotFound', { details: { name: 'docs-bundle', kind: 'secrets' } }),
    'NotFound',
    /secrets "docs-bundle" in namespace team-a does not exist/,
  ],
  [
    'no namespace',
    status(404, 'NotFound', { details: { name: 'team-a', kind: 'namespaces' } }),
    'NotFound',
    /does not exist/,
  ],
  ['a stale write', status(409, 'Conflict'), 'Conflict', /changed by another client/],
  ['a second create', status(409, 'AlreadyExists'), 'AlreadyExists', /exists already/],
  [
    'a missing right',
    status(403, 'Forbidden', { message: 'User "x" cannot patch resource "secrets" in API group ""' }),
    'Forbidden',
    /role does not allow "patch" on secrets "docs-bundle" in namespace team-a; add the verb/,
  ],
  [
    'a quota',
    status(403, 'Forbidden', { message: 'exceeded quota' }),
    'Forbidden',
    /admission rule or a quota/,
  ],
  [
    'an admission policy',
    status(422, 'Invalid', {
      message: `secrets "docs-bundle" is forbidden: ValidatingAdmissionPolicy 'ops-sx' with binding 'b' denied request: no`,
    }),
    'Invalid',
    /^the admission policy ops-sx refused to patch secrets "docs-bundle" in namespace team-a; exempt this account/,
  ],
  [
    'a namespace on its way out',
    status(403, 'Forbidden', { details: { causes: [{ reason: 'NamespaceTerminating' }] } }),
    'NamespaceTerminating',
    /namespace team-a is being deleted/,
  ],
  [
    'an invalid object',
    status(422, 'Invalid', { details: { causes: [{ field: 'data[bundle.json]', message: 'svc_secret' }] } }),
    'Invalid',
    /check data\[bundle\.json\]/,
  ],
  ['an odd request', status(400, 'BadRequest'), 'Invalid', /refused to patch/],
  ['no credentials', status(401, 'Unauthorized'), 'Unauthorized', /did not accept/],
  ['a lost place', status(410, 'Expired'), 'Gone', /too old/],
  ['a proxy page', { httpStatus: 502, retryAfterHeader: null, body: undefined }, 'Unavailable', /HTTP 502/],
];
for (const [name, refusal, code, message] of rows) {
  test(`${name} is ${code}`, () => {
    const error = readRefusal('patch', secret, refusal, now);
    assert.equal(error.code, code);
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /svc_secret/);
  });
}

const vague: readonly (readonly [name: string, body: unknown])[] = [
  ['a page that is not JSON, of a proxy or of a resource that is not served', undefined],
  ['an answer of another program', { error: 'not found' }],
  ['a Status without a name', { kind: 'Status', reason: 'NotFound' }],
  ['a Status of another object', { kind: 'Status', reason: 'NotFound', details: { name: 'v1' } }],
  ['a Status of another reason', { kind: 'Status', reason: 'Unknown', details: { name: 'docs-bundle' } }],
];
for (const [name, body] of vague) {
  test(`a 404 does not count as absence of the object: ${name}`, () => {
    const refusal = { httpStatus: 404, retryAfterHeader: null, body };
    const { code, message } = readRefusal('get', secret, refusal, now);
    assert.equal(code, 'Unavailable');
    assert.match(message, /ambiguous 404 for secrets "docs-bundle" .*: v1 is not served, or a proxy/);
    // A collection has no object that a 404 could be about.
    assert.equal(readRefusal('list', { resource: secrets }, refusal, now).code, 'NotFound');
  });
}

test('a collection that is not known means a missing CRD', () => {
  const error = readRefusal('list', { resource: staticExports }, status(404, 'NotFound'), now);
  assert.match(error.message, /does not know staticexports.staticexport.dev; install the CRD/);
});

const waits: readonly (readonly [Partial<ClusterRefusal>, number | undefined])[] = [
  [{ retryAfterHeader: '3' }, 3_000],
  [{ retryAfterHeader: 'Sat, 21 Nov 2026 10:00:05 GMT' }, 5_000],
  [{ retryAfterHeader: '86400' }, 60_000],
  [{ body: { kind: 'Status', details: { retryAfterSeconds: 2 } } }, 2_000],
  [{}, undefined],
];
for (const [more, expected] of waits) {
  test(`Retry-After ${JSON.stringify(more)} is ${expected} ms`, () => {
    const refusal = { httpStatus: 429, retryAfterHeader: null, body: undefined, ...more };
    assert.equal(readRefusal('get', secret, refusal, now).retryAfterMs, expected);
  });
}

test('a list that is missing everywhere says that namespaces may be named; of one namespace it does not', () => {
  const refusal = status(403, 'Forbidden', {
    message: 'User "x" cannot list resource "secrets" in API group ""',
  });
  const { name: _name, namespace: _namespace, ...everywhere } = secret;
  const { message } = readRefusal('list', everywhere, refusal, now);
  assert.match(message, /does not allow "list" on secrets in all namespaces; .* with --watch-namespaces$/);
  const { message: ofOne } = readRefusal('list', { ...everywhere, namespace: 'team-a' }, refusal, now);
  assert.match(ofOne, /on secrets in namespace team-a; add the verb to its Role or ClusterRole$/);
});

test('the user of a command reads of their own permissions and credentials, not of an operator', () => {
  const forbidden = status(403, 'Forbidden', {
    message: 'User "x" cannot get resource "secrets" in API group ""',
  });
  assert.match(
    readRefusal('get', secret, forbidden, now, 'user').message,
    /^you have no permission to get secrets "docs-bundle" in namespace [a-z-]+$/,
  );
  const { message } = readRefusal('get', secret, status(401, 'Unauthorized'), now, 'user');
  assert.match(message, /did not accept your credentials/);
  const byAdmission = status(403, 'Forbidden', { message: 'denied by a webhook' });
  assert.match(readRefusal('get', secret, byAdmission, now, 'user').message, /admission rule or a quota/);
});
