// Which addresses a link may lead to. A link is somebody else's text, so a request made for it must not
// reach what only this machine or this cluster can see (SSRF): loopback, link-local and metadata,
// private and cluster ranges, multicast, unspecified. Pure: names are resolved elsewhere (runtime/guarded-lookup).

import { BlockList, isIP } from 'node:net';

const v4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Azure's host, which answers for metadata and keys from a public-looking address.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
const v6: readonly (readonly [string, number])[] = [
  // Unspecified, loopback, and IPv4-compatible addresses (RFC 4291 §2.5.5.1).
  ['::', 96],
  ['64:ff9b:1::', 48],
  // 6to4 leads to the IPv4 address inside it (RFC 3056).
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  // Site-local, deprecated and still routed in places (RFC 3879).
  ['fec0::', 10],
  ['ff00::', 8],
];

const internal = new BlockList();
for (const [net, bits] of v4) internal.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of v6) internal.addSubnet(net, bits, 'ipv6');

/** True for an address that a link must not lead to unless a flag allows it. Text that is no address counts too. */
export function isInternalAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return internal.check(address, 'ipv4');
  if (family !== 6) return true;
  const embedded = embeddedV4(address);
  return embedded === undefined ? internal.check(address, 'ipv6') : internal.check(embedded, 'ipv4');
}

/** An IPv4 address carried in IPv6 (mapped, NAT64) is judged as what it reaches. */
function embeddedV4(address: string): string | undefined {
  const canonical = new URL(`http://[${address.split('%')[0] ?? ''}]/`).hostname.slice(1, -1);
  const match = /^(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (match === null) return undefined;
  const high = Number.parseInt(match[1] ?? '0', 16);
  const low = Number.parseInt(match[2] ?? '0', 16);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
