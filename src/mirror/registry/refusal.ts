// What a refusal of a registry means, by its status, its code and its words. Refuses to guess: "the credentials are not
// valid" only where a token endpoint said so, and for an unknown code only status and code. Pure.

import type { WholeAnswer } from '#platform/http/exchange.ts';
import { codeInBrackets, kindOfRefusal, type RefusalKind } from '#platform/wire/service-refusal.ts';
import type { MirrorError, MirrorErrorCode } from '../mirror-error.ts';
import { type RegistryRefusal, registryRefusalOf } from './answer.ts';
import type { RegistryCredentials } from './docker-config.ts';
import { registryFault } from './registry-fault.ts';
import type { RegistryRepository } from './repository.ts';

/** What a request does to the repository. */
export type RegistryAccess = 'read' | 'write' | 'remove';

/** Token endpoints grant the part that is permitted, and some registries need `delete` for deletes, others `push`. */
export const actions: Readonly<Record<RegistryAccess, string>> = {
  read: 'pull',
  write: 'pull,push',
  remove: 'pull,push,delete',
};

const accessWords: Readonly<Record<RegistryAccess, string>> = {
  read: 'a read of',
  write: 'a write to',
  remove: 'a delete of',
};

const returnedBy = (
  { host, path }: RegistryRepository,
  { status, code }: RegistryRefusal,
  what: string,
): string =>
  `Registry host ${host} returned ${status}${codeInBrackets(code)} for ${/ (?:of|to)$/.test(what) ? what : `${what} of`} ${path}`;

/** What words of any service mean. */
const kindFaults: Readonly<Record<RefusalKind, readonly [MirrorErrorCode, string]>> = {
  Full: ['QuotaExceeded', 'The quota or the disk is full. Free space in the registry, or raise the quota.'],
  Protected: [
    'Protected',
    'A rule of the registry makes the tag immutable or protects it. Exclude the tags of this repository.',
  ],
  ReadOnly: ['Denied', 'The registry is read-only. Let it accept writes.'],
  Key: ['Denied', "The registry's encryption key cannot be used. Enable the key, and permit its use."],
};

/** What the words of a refusal say, whatever its status is; `undefined` where nothing more is known. */
export function knownFault(
  repository: RegistryRepository,
  answer: WholeAnswer,
  what: string,
  username?: string,
): MirrorError | undefined {
  const refusal = registryRefusalOf(answer);
  const kind = kindOfRefusal(refusal, [...repository.path.split('/'), username ?? '']);
  if (kind === undefined) return undefined;
  const [code, remedy] = kindFaults[kind];
  return registryFault(code, returnedBy(repository, refusal, what), { remedy });
}

/** An answer that the protocol does not foresee: of the registry, if it has a code, and otherwise of any server. */
export function unexpectedRegistryAnswer(
  repository: RegistryRepository,
  answer: WholeAnswer,
  what: string,
): MirrorError {
  const refusal = registryRefusalOf(answer);
  const returned = returnedBy(repository, refusal, what);
  if (refusal.code !== undefined) return registryFault('Refused', returned);
  const isRefusal = refusal.status >= 400 && refusal.status !== 404;
  return isRefusal
    ? registryFault('Refused', returned, {
        remedy: 'Check the address, and the logs of the registry and of proxies in front of it.',
      })
    : registryFault('NotARegistry', returned);
}

const writeRemedies: ReadonlyMap<number, string> = new Map([
  [405, 'Let the registry accept pushes.'],
  [413, 'Raise the size limit of the registry, or of the proxy in front of it.'],
]);

/** What a refused write means, apart from a lack of permission. */
export function writeRefused(repository: RegistryRepository, answer: WholeAnswer, what: string): MirrorError {
  const refusal = registryRefusalOf(answer);
  const { status, codes } = refusal;
  const returned = returnedBy(repository, refusal, what);
  const known = knownFault(repository, answer, what);
  if (known !== undefined) return known;
  const remedy = writeRemedies.get(status);
  if (remedy !== undefined) return registryFault('Denied', returned, { remedy });
  if (codes.some((code) => code.endsWith('BLOB_UNKNOWN'))) return registryFault('BlobMissing', returned);
  // A page of 404 without codes comes from another server.
  if (status === 404 && codes.length > 0) return registryFault('RepositoryMissing', returned);
  return unexpectedRegistryAnswer(repository, answer, what);
}

const formats =
  /manifest_invalid|unsupported|media ?type|schema|zstd|manifest (?:is )?invalid|invalid manifest/i;

/** @param manifest that was refused */
export function manifestRefused(
  repository: RegistryRepository,
  answer: WholeAnswer,
  manifest: Buffer,
): MirrorError {
  const isZstd = manifest.includes('+zstd"');
  const what = isZstd ? 'a manifest with a zstd layer' : 'a manifest';
  const fault = writeRefused(repository, answer, what);
  if (fault.code !== 'Refused' || answer.statusCode === 404) return fault;
  const refusal = registryRefusalOf(answer);
  if (answer.statusCode !== 415 && !formats.test(refusal.text)) return fault;
  const remedy = isZstd
    ? 'Set compression: Gzip if the registry does not take zstd.'
    : 'Use a registry that takes OCI image manifests, or allow their media types in it.';
  return registryFault('FormatRefused', returnedBy(repository, refusal, what), { remedy });
}

export function deleteRefused(repository: RegistryRepository, answer: WholeAnswer): MirrorError {
  const refusal = registryRefusalOf(answer);
  const known = knownFault(repository, answer, 'a delete');
  if (known !== undefined) return known;
  if (![404, 405, 501].includes(refusal.status) && !refusal.codes.includes('UNSUPPORTED')) {
    return unexpectedRegistryAnswer(repository, answer, 'a delete');
  }
  return registryFault('Denied', returnedBy(repository, refusal, 'a delete'), {
    remedy: 'Enable deletes in the registry, or let its own retention remove old tags.',
  });
}

/** @param who answered 401 or 403. @param isKnown the answer means the credentials, and not one request */
export function accessDenied(
  who: string,
  repository: RegistryRepository,
  answer: WholeAnswer,
  access: RegistryAccess,
  {
    credentials,
    isKnown,
  }: { readonly credentials: RegistryCredentials | undefined; readonly isKnown: boolean },
): MirrorError {
  const refusal = registryRefusalOf(answer);
  const username = credentials?.kind === 'password' ? credentials.username : undefined;
  const known = knownFault(repository, answer, accessWords[access], username);
  if (known !== undefined) return known;
  const { status, code } = refusal;
  const returned = `${who} returned ${status}${codeInBrackets(code)} for ${repository.path}`;
  if (credentials === undefined) {
    const remedy = `Set credentials that may ${access} (${actions[access]}).`;
    return registryFault('Denied', `${returned}: no credentials were sent`, { remedy });
  }
  if (isKnown) {
    return registryFault('Denied', `${returned}: the credentials are not valid`, {
      remedy: 'Set valid credentials.',
    });
  }
  // Other codes may mean a rule, a plan or a scan.
  const isUsual = code === undefined || /^(?:denied|unauthorized|forbidden|insufficient_scope)$/i.test(code);
  if (!isUsual) return registryFault('Refused', returned);
  return registryFault('Denied', returned, {
    remedy: `Check that the credentials are valid and may ${access} (${actions[access]}), and the rules of the registry.`,
  });
}
