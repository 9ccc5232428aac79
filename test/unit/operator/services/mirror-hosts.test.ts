// Which mirrors a resource may name, and which one the operator's own credentials open.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MirrorPlace } from '#operator/loop/ports.ts';
import { isPlaceTemplate, type MirrorHosts, reachOf } from '#operator/services/mirror-hosts.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

type Place = Omit<MirrorPlace, 'secret'>;

const owner = { namespace: 'docs', name: 'site', uid: 'uid-1', isExclusive: false };
const at = (address: string, change: Partial<Place> = {}): Place => ({
  ...{ address, endpoint: undefined, region: 'us-east-1', pathStyle: false, owner },
  ...change,
});
const hosts = (allowedHosts: readonly string[], change: Partial<MirrorHosts> = {}): MirrorHosts => ({
  ...{ allowedHosts, allowPrivateHosts: false, defaultMirror: undefined },
  ...change,
});

function faultOf(place: Place, flags: MirrorHosts, hasSecret = true): [code: string, message: string] {
  try {
    reachOf(place, hasSecret, flags);
  } catch (error) {
    assert.ok(error instanceof PublishableError);
    return [error.code, error.message];
  }
  assert.fail('the place was allowed');
}

const s3 = { endpoint: 'https://s3.example.com' };
const plainS3 = { endpoint: 'http://s3.example.com:9000' };
const frankfurt = { region: 'eu-central-1' };

for (const [place, entry, isHttpAllowed] of [
  [at('oci://registry.example.com/docs/site'), 'registry.example.com', false],
  [at('oci://Registry.Example.com/docs/site'), 'https://registry.example.com', false],
  [at('oci://registry.example.com:5000/docs'), 'registry.example.com:5000', false],
  [at('oci://registry.example.com:443/docs'), 'registry.example.com', false],
  [at('oci://registry.example.com:5000/docs'), 'http://registry.example.com:5000', true],
  [at('oci://registry.example.com/docs'), 'http://registry.example.com', true],
  [at('s3://bucket/docs'), 's3.us-east-1.amazonaws.com', false],
  [at('s3://bucket/docs', frankfurt), 's3.eu-central-1.amazonaws.com', false],
  [at('s3://bucket/docs', s3), 's3.example.com', false],
  [at('s3://bucket', plainS3), 'http://s3.example.com:9000', true],
] as const) {
  test(`${place.address} at ${place.endpoint ?? 'its usual host'} is allowed by ${entry}`, () => {
    const reach = reachOf(place, true, hosts(['other.example.com', entry]));
    assert.deepEqual(reach, { allowPrivateAddresses: false, isHttpAllowed });
  });
}

test('a registry that is allowed both ways is called over TLS', () => {
  const both = hosts(['http://registry.example.com', 'registry.example.com']);
  assert.equal(reachOf(at('oci://registry.example.com/docs'), true, both).isHttpAllowed, false);
});

for (const [place, entries] of [
  [at('oci://registry.example.com/docs'), []],
  [
    at('oci://registry.example.com/docs'),
    ['example.com', 'registry.example.com:5000', 'x.registry.example.com'],
  ],
  [at('oci://registry.example.com.evil.example/docs'), ['registry.example.com']],
  [at('oci://registry.example.com:5000/docs'), ['http://registry.example.com']],
  [at('s3://bucket/docs', s3), ['http://s3.example.com', 'bucket.s3.example.com']],
  [at('s3://bucket/docs', plainS3), ['s3.example.com:9000']],
  [at('s3://bucket/docs', frankfurt), ['s3.us-east-1.amazonaws.com', 's3.amazonaws.com']],
] as const) {
  test(`${place.address} at ${place.endpoint ?? 'its usual host'} is not allowed by ${entries.join(', ') || 'nothing'}`, () => {
    assert.equal(faultOf(place, hosts(entries))[0], 'HostNotAllowed');
  });
}

test('the message names the entry to add, and what is allowed', () => {
  assert.deepEqual(faultOf(at('oci://registry.example.com:5000/docs'), hosts(['other.example.com'])), [
    'HostNotAllowed',
    'Mirror host registry.example.com:5000 is not allowed. Add registry.example.com:5000 to --allowed-mirror-hosts (allowedMirrorHosts of the chart). Allowed: other.example.com.',
  ]);
  assert.match(
    faultOf(at('s3://bucket', plainS3), hosts([]))[1],
    /Use https in spec\.mirror\.s3\.endpoint, or add http:\/\/s3\.example\.com:9000 to .*clear text\. Allowed: none\.$/,
  );
  const many = Array.from({ length: 12 }, (_, index) => `h${index}.example.com`);
  assert.match(faultOf(at('oci://x.example.com/docs'), hosts(many))[1], /h9\.example\.com, and 2 more\.$/);
});

test('an allowed host at a private address needs the flag for it', () => {
  const place = at('oci://127.0.0.1:5000/docs');
  const [code, message] = faultOf(place, hosts(['127.0.0.1:5000']));
  assert.equal(code, 'AddressNotAllowed');
  assert.match(message, /--allow-private-mirror-hosts \(allowPrivateMirrorHosts of the chart\)/);
  const reach = reachOf(place, true, hosts(['127.0.0.1:5000'], { allowPrivateHosts: true }));
  assert.deepEqual(reach, { allowPrivateAddresses: true, isHttpAllowed: false });
});

test('an address or an endpoint that cannot be called is refused as such', () => {
  for (const place of [
    at('oci://registry.example.com'),
    at('oci://registry.example.com/Docs'),
    at('https://registry.example.com/docs'),
    at('s3://b'),
    at('s3://bucket/../x'),
    at('s3://bucket', { endpoint: 'https://s3.example.com/path' }),
    at('s3://bucket', { region: 'x.evil.example/' }),
  ]) {
    assert.equal(faultOf(place, hosts(['registry.example.com']))[0], 'InvalidReference', place.address);
  }
});

const own = {
  address: 'oci://own.example.com/docs/{namespace}/{name}',
  ...{ endpoint: undefined, region: 'us-east-1', pathStyle: false },
  ...{ credentialsFolder: undefined, isHttpAllowed: false },
};

test('without a Secret only the default mirror of that resource is allowed', () => {
  const flags = hosts(['own.example.com'], { defaultMirror: own });
  const address = 'oci://own.example.com/docs/docs/site';
  const reach = { allowPrivateAddresses: true, isHttpAllowed: false };
  assert.deepEqual(reachOf(at(address), false, flags), reach);
  const plain = { ...flags, defaultMirror: { ...own, isHttpAllowed: true } };
  assert.equal(reachOf(at(address), false, plain).isHttpAllowed, true);
  for (const place of [
    at('oci://own.example.com/docs/docs/other'),
    at('oci://own.example.com/docs/team/site'),
    at(address, { owner: { ...owner, namespace: 'team' } }),
    at(address, { pathStyle: true }),
    at(address, { region: 'eu-west-1' }),
    at('s3://bucket/docs/site'),
  ]) {
    const [code, message] = faultOf(place, flags, false);
    assert.equal(code, 'HostNotAllowed');
    assert.match(message, /is not the --default-mirror of the operator\. Name a Secret/);
  }
  assert.equal(faultOf(at(address), hosts(['own.example.com']), false)[0], 'HostNotAllowed');
});

test('the default mirror allows its host to no Secret of a resource', () => {
  const flags = hosts([], { defaultMirror: own });
  assert.equal(faultOf(at('oci://own.example.com/docs/docs/site'), flags)[0], 'HostNotAllowed');
});

for (const [address, isValid] of [
  ['oci://h.example.com/{namespace}/{name}', true],
  ['oci://h.example.com:5000/docs/{name}/x/{namespace}', true],
  ['s3://bucket/{namespace}/{name}', true],
  ['oci://h.example.com/{namespace}{name}', false],
  ['oci://h.example.com/{namespace}-{name}', false],
  ['oci://h.example.com/{namespace}/{name}/{name}', false],
  ['oci://h.example.com/{namespace}', false],
  ['oci://{namespace}/{name}', false],
  ['s3://{namespace}/x/{namespace}/{name}', false],
  ['https://h.example.com/{namespace}/{name}', false],
  ['oci://h.example.com//{namespace}/{name}', false],
  ['oci://h.example.com/{namespace}/{name}/', false],
  ['oci://h.example.com/{uid}/{namespace}/{name}', false],
] as const) {
  test(`${address} ${isValid ? 'gives' : 'does not give'} each resource a place of its own`, () => {
    assert.equal(isPlaceTemplate(address), isValid);
  });
}
