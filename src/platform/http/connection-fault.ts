// What a failed connection means, by the code of the system or of the TLS library: one table for every program and
// every host that is asked. Pure. Refuses: text of the other side.

import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import { InternalAddressError } from './guarded-lookup.ts';

/** Words to put after the host, and what to do about it. */
export interface ConnectionFault {
  readonly kind: 'internal-address' | 'unknown-ca' | 'wrong-certificate' | 'wrong-protocol' | 'unreachable';
  /** A verb first: `showed a certificate that has expired (CERT_HAS_EXPIRED)`. */
  readonly what: string;
  /** A sentence without its full stop. */
  readonly remedy: string;
}

/** Node's and OpenSSL's codes for a chain that leads to no known CA certificate. */
const untrustedCertificateCodes: ReadonlySet<string> = new Set([
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** No connection was made, so that nothing was sent. */
export const unsentCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const checkChain = 'Replace its certificate';
/** The CLI's flag, and the chart's value. */
const addCa = 'If its CA is private, add the CA certificate with --extra-ca-file, or extraCa of the chart';

/** By the code: what a certificate of that host is, after "showed a certificate", and the remedy. */
const wrongCertificates: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  CERT_HAS_EXPIRED: ['that has expired', 'Renew the certificate there, and check the clock here'],
  CERT_NOT_YET_VALID: ['that is not valid yet', 'Check the clock here, and the certificate there'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['for another name', 'Use a name that the certificate lists'],
  HOSTNAME_MISMATCH: ['for another name', 'Use a name that the certificate lists'],
  CERT_REVOKED: ['that was revoked', checkChain],
  CERT_REJECTED: ['that its CA does not allow for servers', checkChain],
  CERT_CHAIN_TOO_LONG: ['with a chain that is too long', checkChain],
  INVALID_CA: ['whose issuer is not a CA', checkChain],
  INVALID_PURPOSE: ['that is not for servers', checkChain],
  PATH_LENGTH_EXCEEDED: ['with a chain that is too long', checkChain],
  EE_KEY_TOO_SMALL: ['with a key that is too short', checkChain],
  CA_KEY_TOO_SMALL: ['whose CA has a key that is too short', checkChain],
  CA_MD_TOO_WEAK: ['with a signature that is too weak', checkChain],
};

/** Further codes of Node's checks. `ERR_SSL_…` are protocol errors, also where the other side refuses a certificate of ours. */
const ofCertificates = /^(?!ERR_SSL_).*(?:CERT|ISSUER)/;

/** The other side speaks another protocol, or TLS with other parameters. */
const otherProtocols: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: ['does not speak TLS on this port', 'Check the port, and https or http'],
  ERR_SSL_PACKET_LENGTH_TOO_LONG: ['does not speak TLS on this port', 'Check the port, and https or http'],
  ERR_SSL_UNSUPPORTED_PROTOCOL: ['speaks an old version of TLS only', 'Allow TLS 1.2 or 1.3 there'],
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: ['speaks another version of TLS', 'Allow TLS 1.2 or 1.3 there'],
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: ['wants a client certificate', 'Use a host without this demand'],
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: ['has no certificate for this name', 'Check the name'],
};

const silent = ['did not answer in time', 'Check its address and the network'] as const;

/** The connection was not made, or broke off. */
const unreachable: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  ENOTFOUND: ['was not found in DNS', 'Check the name and the DNS'],
  EAI_AGAIN: ['could not be looked up: DNS did not answer', 'Check the DNS'],
  ECONNREFUSED: ['refused the connection', 'Check the port, and that the service runs'],
  HPE_INVALID_EOF_STATE: ['broke off its answer', 'Check its address and the network'],
  ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR: ['refused the TLS handshake', 'Check its name and TLS settings'],
  EPROTO: ['broke off the TLS handshake', 'Check the port, and https or http'],
  UND_ERR_CONNECT_TIMEOUT: silent,
  UND_ERR_HEADERS_TIMEOUT: silent,
  UND_ERR_BODY_TIMEOUT: silent,
  ETIMEDOUT: silent,
  TimeoutError: silent,
};

/** Of OpenSSL: damage on the way, or a server that may not have its certificate yet. */
const passingTlsErrors = /INTERNAL_ERROR|BAD_RECORD_MAC|RECORD_OVERFLOW|USER_CANCELLED|UNEXPECTED_EOF/;

/** What the same request meets again. undici gives only the class name for what is not HTTP. */
function protocolWords(code: string): readonly [what: string, remedy: string] | undefined {
  if (Object.hasOwn(unreachable, code)) return undefined;
  if (code.startsWith('HPE_') || code === 'HTTPParserError')
    return ['did not answer with HTTP', 'Check the port, and https or http'];
  if (!code.startsWith('ERR_SSL_') || passingTlsErrors.test(code)) return undefined;
  return code.includes('ALERT')
    ? ['refused the TLS handshake', 'Check its TLS settings. It must not demand a client certificate']
    : ['failed the TLS handshake', 'Check its TLS settings'];
}

/** @param error of `HttpAgent.send`, or of reading a body; not the signal's reason of the caller */
export function readConnectionFault(error: unknown): ConnectionFault {
  return causesOf(error).some((cause) => cause instanceof InternalAddressError)
    ? internalAddress
    : describeConnectionFault(publishableCode(error));
}

/** The first of this project's own errors among an error and its causes, such as that of a body's source. */
export function ownErrorIn(error: unknown): PublishableError | undefined {
  return causesOf(error).find((cause) => cause instanceof PublishableError);
}

function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let at = error; at instanceof Error && causes.length < 8; at = at.cause) causes.push(at);
  return causes;
}

const internalAddress: ConnectionFault = {
  kind: 'internal-address',
  what: 'leads to a loopback, link-local, private or cluster address, which is not allowed here',
  remedy: 'Use a public host, or allow private addresses',
};

/**
 * @param code safe to publish
 * @returns words that end with the code in parentheses
 */
export function describeConnectionFault(code: string): ConnectionFault {
  const said = (what: string): string => `${what} (${code})`;
  if (untrustedCertificateCodes.has(code)) {
    const isSelfSigned = code === 'DEPTH_ZERO_SELF_SIGNED_CERT';
    const what = isSelfSigned ? 'that is self-signed and not trusted' : 'that is not trusted';
    return { kind: 'unknown-ca', what: said(`showed a certificate ${what}`), remedy: addCa };
  }
  const cannotBeChecked = ofCertificates.test(code)
    ? (['that cannot be checked', checkChain] as const)
    : undefined;
  const wrong = wrongCertificates[code] ?? cannotBeChecked;
  if (wrong !== undefined) {
    return { kind: 'wrong-certificate', what: said(`showed a certificate ${wrong[0]}`), remedy: wrong[1] };
  }
  const protocol = otherProtocols[code] ?? protocolWords(code);
  if (protocol !== undefined) return { kind: 'wrong-protocol', what: said(protocol[0]), remedy: protocol[1] };
  const [what, remedy] = unreachable[code] ?? defaultWords(code);
  return { kind: 'unreachable', what: said(what), remedy };
}

/** Whether a person must change a certificate, or what is trusted. */
export const isOfCertificate = ({ kind }: ConnectionFault): boolean =>
  kind === 'unknown-ca' || kind === 'wrong-certificate';

function defaultWords(code: string): readonly [what: string, remedy: string] {
  if (code.startsWith('ERR_SSL_'))
    return ['broke off the TLS handshake', 'Check its TLS settings and the network'];
  if (code.startsWith('PROXY_ANSWERED_')) {
    return ['could not be reached through the proxy', 'Check the proxy and its credentials'];
  }
  return ['did not answer or broke off', 'Check its address and the network'];
}
