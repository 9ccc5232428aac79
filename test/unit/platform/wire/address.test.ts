// Which addresses a link may lead to, by the special-purpose registries of IANA and by what platforms hide in public ones.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInternalAddress, isMetadataAddress } from '#platform/wire/address.ts';
import * as fc from '../../../support/properties.ts';
import { words } from '../../../support/words.ts';

const internal = [
  ['loopback', '127.0.0.1'],
  ['the far end of loopback', '127.255.255.254'],
  ['unspecified', '0.0.0.0'],
  ['private, class A', '10.96.0.1'],
  ['private, class B', '172.31.255.255'],
  ['private, class C', '192.168.1.1'],
  ['carrier-grade NAT, where clusters live too', '100.64.0.1'],
  ['the metadata service', '169.254.169.254'],
  ['multicast', '224.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['IPv6 loopback', '::1'],
  ['IPv6 unspecified', '::'],
  ['IPv6 unique local', 'fd00::1'],
  ['IPv6 link-local with a zone', 'fe80::1%eth0'],
  ['IPv4 mapped into IPv6', '::ffff:127.0.0.1'],
  ['IPv4 mapped into IPv6, in hex', '::ffff:a9fe:a9fe'],
  ['IPv4 behind NAT64', '64:ff9b::10.0.0.1'],
  ["Azure's metadata and key service", '168.63.129.16'],
  ['IPv4-compatible IPv6', '::127.0.0.1'],
  ['IPv4-compatible IPv6, in hex', '::a9fe:a9fe'],
  ['6to4 of a loopback address', '2002:7f00:1::1'],
  ['IPv6 site-local', 'fec0::1'],
  ['the end of site-local', 'feff:ffff::1'],
  ['a documentation address (TEST-NET-1)', '192.0.2.1'],
  ['a documentation address (TEST-NET-2)', '198.51.100.1'],
  ['a documentation address (TEST-NET-3)', '203.0.113.255'],
  ['the relay of 6to4', '192.88.99.1'],
  ['an address for protocol assignments', '192.0.0.192'],
  ['a benchmarking address', '198.19.255.255'],
  ['a reserved address', '240.0.0.1'],
  ['this network', '0.1.2.3'],
  ['IPv4 translated by SIIT', '::ffff:0:127.0.0.1'],
  ['a public IPv4 address translated by SIIT', '::ffff:0:8.8.8.8'],
  ['Teredo', '2001::1'],
  ['Teredo around a private address, in its obfuscated form', '2001:0:4136:e378:8000:63bf:f5ff:fffe'],
  ['IPv6 benchmarking', '2001:2::1'],
  ['ORCHID', '2001:10::1'],
  ['ORCHIDv2', '2001:20::1'],
  ['the end of protocol assignments', '2001:1ff:ffff::1'],
  ['6to4 of a public address', '2002:808:808::1'],
  ['an IPv6 documentation address', '2001:db8::1'],
  ['an IPv6 documentation address of the newer range', '3fff:fff::1'],
  ['discard-only', '100::1'],
  ['the dummy prefix', '100:0:0:1::1'],
  ['segment routing', '5f00::1'],
  ['NAT64 of local use', '64:ff9b:1::a00:1'],
  ['NAT64 of an address that begins with zeros', '64:ff9b::1'],
  ['NAT64 of nothing', '64:ff9b::'],
  ['NAT64 of a loopback address', '64:ff9b::7f00:1'],
  ['NAT64 of a documentation address', '64:ff9b::192.0.2.1'],
  ['a mapped documentation address', '::ffff:203.0.113.1'],
  ['IPv6 that nobody was given yet', '4000::1'],
  ['IPv6 multicast', 'ff02::1'],
  ['a mapped loopback address, written out', '0:0:0:0:0:FFFF:7F00:0001'],
  ['text that is no address', 'internal'],
  ['an IPv4 address in octal', '0177.0.0.1'],
] as const;
const external = [
  ['a public IPv4 address', '93.184.216.34'],
  ['the neighbour of a private range', '172.32.0.1'],
  ['the neighbour of carrier-grade NAT', '100.128.0.1'],
  ["the neighbour of Azure's service", '168.63.129.17'],
  ['the neighbour of 6to4', '2003::1'],
  ['the neighbour of protocol assignments', '2001:200::1'],
  ['the neighbour of a documentation range', '2001:db9::1'],
  ['the first neighbour of TEST-NET-3', '203.0.112.255'],
  ['the second neighbour of TEST-NET-3', '203.0.114.0'],
  ['the neighbour of TEST-NET-1', '192.0.3.1'],
  ['the neighbour of the relay of 6to4', '192.88.100.1'],
  ['the last IPv6 range that was given out', '3ffe:ffff::1'],
  ['NAT64 of a public address', '64:ff9b::8.8.8.8'],
  ['a public IPv6 address', '2606:2800:220:1::1'],
  ['a public IPv4 address mapped into IPv6', '::ffff:8.8.8.8'],
] as const;

for (const [name, address] of internal)
  test(`internal: ${name}`, () => assert.equal(isInternalAddress(address), true));
for (const [name, address] of external)
  test(`not internal: ${name}`, () => assert.equal(isInternalAddress(address), false));

const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
const groups = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 });
const written = (parts: readonly number[]): string => parts.map((part) => part.toString(16)).join(':');

test('property: the embedded IPv4 address of an IPv6 address decides if the address leads to it; otherwise it is refused', () => {
  fc.assert(
    fc.property(octets, ([a, b, c, d]) => {
      const plain = `${a}.${b}.${c}.${d}`;
      const [high, low] = [a * 256 + b, c * 256 + d];
      for (const prefix of ['::ffff:', '64:ff9b::', '0:0:0:0:0:ffff:', '64:ff9b:0:0:0:0:']) {
        assert.equal(isInternalAddress(`${prefix}${plain}`), isInternalAddress(plain));
        assert.equal(isInternalAddress(`${prefix}${written([high, low])}`), isInternalAddress(plain));
      }
      for (const address of [
        `::${plain}`,
        `::ffff:0:${plain}`,
        `64:ff9b:1::${plain}`,
        `2002:${written([high, low])}::1`,
        `2001:0:${written([high, low])}:0:0:${written([0xffff - high, 0xffff - low])}`,
      ]) {
        assert.equal(isInternalAddress(address), true, address);
      }
    }),
  );
});

test('property: addresses outside of 2000::/3 are refused in any spelling, except with an embedded IPv4 address', () => {
  fc.assert(
    fc.property(groups, ([first = 0, ...rest]) => {
      const address = written([first, ...rest]);
      const isInternal = isInternalAddress(address);
      assert.equal(isInternalAddress(address.toUpperCase()), isInternal);
      assert.equal(isInternalAddress(new URL(`http://[${address}]`).hostname.slice(1, -1)), isInternal);
      if (first < 0x2000 || first > 0x3fff) assert.equal(isInternal, true);
    }),
  );
});

const metadata = words(`
  169.254.0.1 169.254.169.254 168.63.129.16 100.100.100.200 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe
  64:ff9b::169.254.169.254 ::a9fe:a9fe ::ffff:0:a9fe:a9fe 2002:a9fe:a9fe::1 fe80::1 fe80::1%eth0
  febf:ffff::1 fd00:ec2::254 fd20:ce::254
`);
for (const address of metadata) {
  test(`never allowed: ${address}`, () => {
    assert.ok(isMetadataAddress(address) && isInternalAddress(address));
  });
}

test('other private addresses may be allowed', () => {
  for (const address of words('127.0.0.1 10.96.0.1 100.64.0.1 192.168.1.1 ::1 fd00::1 8.8.8.8 a'))
    assert.equal(isMetadataAddress(address), false, address);
});
