// Name resolution that refuses internal addresses at the moment of connecting, so that a name which
// changes its answer between check and use (DNS rebinding) gains nothing. For undici's `connect.lookup`.
// A literal address never reaches a lookup: callers check `isRefusedHost` on the URL as well. Link-local addresses and those of
// metadata services are refused even where private ones are allowed.

import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isInternalAddress, isMetadataAddress } from '#platform/wire/address.ts';
import { printable } from '#platform/wire/printable-text.ts';

/** A host resolves to an address that only this machine or cluster can see. Its class decides; each client writes its message. */
export class InternalAddressError extends Error {
  readonly code = 'InternalAddress';

  constructor(host: string) {
    super(
      `host ${printable(host)} leads to a loopback, link-local or private address, which is not allowed here`,
    );
  }
}

/** True for a URL host that is itself a literal internal address (brackets of IPv6 allowed). */
export function isInternalHost(host: string): boolean {
  const literal = literalOf(host);
  return isIP(literal) !== 0
    ? isInternalAddress(literal)
    : literal === 'localhost' || literal.endsWith('.localhost');
}

/** True for a URL host that is itself a literal address which may not be asked. */
export const isRefusedHost = (host: string, allowsPrivate: boolean): boolean =>
  allowsPrivate ? isMetadataAddress(literalOf(host)) : isInternalHost(host);

/** A trailing dot names the same host; behind a proxy no local lookup sees where it leads. */
const literalOf = (host: string): string =>
  host.startsWith('[') ? host.slice(1, -1) : host.replace(/\.$/, '').toLowerCase();

/** Resolves like the system, and fails with {@link InternalAddressError} if any answer may not be asked. */
export function guardedLookup(allowsPrivate: boolean): LookupFunction {
  const isRefused = allowsPrivate ? isMetadataAddress : isInternalAddress;
  return (hostname, options, callback) => {
    systemLookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, '');
        return;
      }
      const first = addresses[0];
      if (first === undefined || addresses.some(({ address }) => isRefused(address))) {
        callback(new InternalAddressError(hostname), '');
      } else if (options.all === true) {
        callback(null, addresses);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}
