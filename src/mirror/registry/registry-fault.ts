// Every failure of a registry, with its remedy. Refuses text of an answer: messages name the host, the repository, the
// HTTP status, the registry's code and codes of the system only.

import { isOfCertificate, readConnectionFault } from '#platform/http/connection-fault.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { MirrorError, MirrorErrorCode } from '../mirror-error.ts';

const remedies: Readonly<Partial<Record<MirrorErrorCode, string>>> = {
  InvalidReference: 'Write a repository as oci://HOST/REPOSITORY in lower case, and a digest as sha256:HEX.',
  AddressNotAllowed: 'Use a public host, or allow private addresses.',
  Unreachable: 'Check the registry and the network.',
  Refused: "The registry's log or documentation explains it.",
  RepositoryMissing: 'Create the repository first, as Amazon ECR requires.',
  NotARegistry: 'Check that the address is that of an OCI registry.',
  TagOccupied: 'Remove the tag, or use a repository that no other client writes to.',
  BlobMissing: 'Copy the bundle to the repository again.',
  BlobDamaged: 'Remove the bundle from the registry, and copy it again.',
};

interface FaultOptions {
  /** In place of the usual one of the code. */
  readonly remedy?: string;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** @param what a sentence without its full stop */
export function registryFault(code: MirrorErrorCode, what: string, options: FaultOptions = {}): MirrorError {
  const { remedy = remedies[code] ?? '', retryAfterMs, cause } = options;
  const kind = code === 'Unreachable' ? 'retry' : 'stall';
  return new PublishableError(code, `${what}. ${remedy}`, { kind, retryAfterMs, cause });
}

export const registryAddressNotAllowed = (host: string, cause?: unknown): MirrorError =>
  registryFault(
    'AddressNotAllowed',
    `Registry host ${host} leads to a loopback, link-local, private or cluster address, which is not allowed here`,
    { cause },
  );

/** What a thrown network error means; a MirrorError passes through. */
export function registryNetworkFault(host: string, cause: unknown): MirrorError {
  if (cause instanceof PublishableError) return cause;
  const fault = readConnectionFault(cause);
  if (fault.kind === 'internal-address') return registryAddressNotAllowed(host, cause);
  return registryFault(
    isOfCertificate(fault) ? 'CertificateNotTrusted' : 'Unreachable',
    `Registry host ${host} ${fault.what}`,
    { cause, remedy: `${fault.remedy}.` },
  );
}
