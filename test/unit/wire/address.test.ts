import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInternalAddress } from '../../../src/wire/address.ts';

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
  ['text that is no address', 'internal'],
] as const;
const external = [
  ['a public IPv4 address', '93.184.216.34'],
  ['the neighbour of a private range', '172.32.0.1'],
  ['the neighbour of carrier-grade NAT', '100.128.0.1'],
  ["the neighbour of Azure's service", '168.63.129.17'],
  ['the neighbour of 6to4', '2003::1'],
  ['a public IPv6 address', '2606:2800:220:1::1'],
  ['a public IPv4 address mapped into IPv6', '::ffff:8.8.8.8'],
] as const;

for (const [name, address] of internal)
  test(`internal: ${name}`, () => assert.equal(isInternalAddress(address), true));
for (const [name, address] of external)
  test(`not internal: ${name}`, () => assert.equal(isInternalAddress(address), false));
