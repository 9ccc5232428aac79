// Decides which addresses a link may lead to. The export API writes the link, so the operator's request for it must
// not reach what only this machine or this cluster can reach (SSRF). Refuses every range of IANA's special-purpose
// registries (RFC 6890) except the public internet, and all of IPv6 that IANA never allocated. Pure:
// runtime/guarded-lookup resolves names.

import { BlockList, isIP } from 'node:net';

const v4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Azure's host for metadata and keys. Its address looks public.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  // Documentation (RFC 5737): not public, so any server at these addresses is internal.
  ['192.0.2.0', 24],
  // Relays of 6to4 (RFC 7526), which lead to the embedded IPv4 address.
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
const v6: readonly (readonly [string, number])[] = [
  // Everything outside of 2000::/3, the only range that IANA has allocated: loopback, IPv4-compatible, SIIT, local
  // NAT64, discard-only, segment routing, unique local, link-local, site-local, multicast.
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  // Protocol assignments (RFC 2928): Teredo, which leads to the embedded IPv4 address, benchmarking, ORCHID.
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4 leads to the embedded IPv4 address (RFC 3056).
  ['2002::', 16],
  ['3fff::', 20],
];

// Two lists, because one list would also match an IPv4 address, in its mapped form, against IPv6 subnets.
const internalV4 = new BlockList();
for (const [net, bits] of v4) internalV4.addSubnet(net, bits, 'ipv4');
const internalV6 = new BlockList();
for (const [net, bits] of v6) internalV6.addSubnet(net, bits, 'ipv6');

/** Link-local, where clouds answer with the credentials of a node, and the other addresses of such services. */
const metadataV4 = new BlockList();
metadataV4.addSubnet('169.254.0.0', 16, 'ipv4');
// Azure, Alibaba Cloud and Oracle Cloud.
for (const address of ['168.63.129.16', '100.100.100.200', '192.0.0.192'])
  metadataV4.addAddress(address, 'ipv4');
const metadataV6 = new BlockList();
// Link-local, and link-local IPv4 as 6to4, SIIT and IPv4-compatible IPv6 embed it.
for (const [net, bits] of [
  ['fe80::', 10],
  ['2002:a9fe::', 32],
  ['::ffff:0:a9fe:0', 112],
  ['::a9fe:0', 112],
  // NAT64 of one's own (RFC 8215), and all services of AWS: EKS gives credentials at another address than EC2.
  ['64:ff9b:1::a9fe:0', 112],
  ['fd00:ec2::', 32],
] as const)
  metadataV6.addSubnet(net, bits, 'ipv6');
// Google Cloud.
metadataV6.addAddress('fd20:ce::254', 'ipv6');

/**
 * True for an address that nothing of another party may lead to, whatever flags allow: no docs, archive, registry or
 * repository is there, and what is there answers with credentials.
 */
export const isMetadataAddress = (address: string): boolean =>
  isListed(address, metadataV4, metadataV6) ?? false;

/**
 * True for an address that a link must not lead to unless a flag allows it. Also true for text that is not an
 * address.
 */
export const isInternalAddress = (address: string): boolean =>
  isListed(address, internalV4, internalV6) ?? true;

/** @returns `undefined` for text that is not an address */
function isListed(address: string, v4List: BlockList, v6List: BlockList): boolean | undefined {
  const family = isIP(address);
  if (family === 4) return v4List.check(address, 'ipv4');
  if (family !== 6) return undefined;
  const embedded = embeddedV4(address);
  return embedded === undefined ? v6List.check(address, 'ipv6') : v4List.check(embedded, 'ipv4');
}

/**
 * For an IPv6 address with an embedded IPv4 address (mapped, NAT64), the IPv4 address decides. Other embeddings are
 * not parsed, because their ranges are refused whole.
 */
function embeddedV4(address: string): string | undefined {
  const canonical = new URL(`http://[${address.split('%')[0] ?? ''}]/`).hostname.slice(1, -1);
  const match = /^(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (match === null) return undefined;
  const high = Number.parseInt(match[1] ?? '0', 16);
  const low = Number.parseInt(match[2] ?? '0', 16);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
