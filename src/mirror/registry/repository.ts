// The address of a repository, `oci://host[:port]/repository`, and the patterns of tags and digests. Pure. Refuses tags,
// digests and credentials in an address. Invariant: a tag or a digest that passes here cannot leave the repository's path.

import { readOriginEntry } from '#platform/wire/http-origin.ts';
import { registryFault } from './registry-fault.ts';

export interface RegistryRepository {
  /** `oci://host/repository`, the host in lower case. */
  readonly name: string;
  /** With its port. For messages, and for keys of a docker config. */
  readonly host: string;
  /** Such as `docs/site`. */
  readonly path: string;
}

/** Distribution's grammar. Each separator is followed by a letter or digit, so matching is linear. */
const repositoryPath = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*$/;
const longestPath = 255;

export const isTag = (text: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(text);
export const isDigest = (text: string): boolean => /^sha256:[0-9a-f]{64}$/.test(text);

/** Docker Hub has names for people, for credentials and for its API. */
export const isDockerHub = (host: string): boolean => /^(?:(?:index|registry-1)\.)?docker\.io$/.test(host);

/** @throws {MirrorError} `InvalidReference` */
export function readRepository(text: string): RegistryRepository {
  const [, entry = '', path = ''] = /^oci:\/\/([^/]+)\/(.+)$/.exec(text) ?? [];
  const origin = readOriginEntry(entry);
  if (origin === undefined || path.length > longestPath || !repositoryPath.test(path)) {
    throw registryFault('InvalidReference', 'The address of the OCI repository is not valid');
  }
  const host = origin.replace('https://', '');
  return { name: `oci://${host}/${path}`, host, path };
}

/** Where the API of the repository starts, with a slash at its end. */
export function apiUrlOf({ host, path }: RegistryRepository, scheme: 'http' | 'https'): URL {
  return new URL(`${scheme}://${isDockerHub(host) ? 'registry-1.docker.io' : host}/v2/${path}/`);
}
