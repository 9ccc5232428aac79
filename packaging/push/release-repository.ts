// One repository of a registry, as a push sees it: its tags, and the writes of an artifact, by the client that mirrors use.
// Refuses to write a version's tag over other bytes. Invariant: a tag is written after all that it names, and is read back.

import type { Carrier } from '#mirror/carrier.ts';
import { digestOfBytes } from '#mirror/image.ts';
import { manifestRefused, unexpectedRegistryAnswer } from '#mirror/registry/refusal.ts';
import { defaultRegistryLimits, openRegistry } from '#mirror/registry/registry-client.ts';
import { registryFault } from '#mirror/registry/registry-fault.ts';
import { openRegistryHttp, type RegistryHttpOptions } from '#mirror/registry/registry-http.ts';
import { readRepository } from '#mirror/registry/repository.ts';
import { isSuccess } from '#platform/http/exchange.ts';
import type { Artifact, ManifestPart } from './artifact.ts';
import { minorTagOf, type RepositoryTags, versionTagOf } from './push-plan.ts';

export interface ReleaseRepository {
  /** @param version whose tag, and whose minor version's tag, are read */
  readTags(version: string): Promise<RepositoryTags>;
  /** Blobs, manifests and the version's tag. @returns bytes of blobs that the registry did not have */
  writeArtifact(artifact: Artifact): Promise<{ readonly blobs: number; readonly bytes: number }>;
  /** Lets a tag name the manifest, whatever it named before. */
  moveTag(tag: string, manifest: ManifestPart): Promise<void>;
  close(): Promise<void>;
}

/** What is under a tag may be of another kind, and is compared all the same. */
const accept = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

/** @param name `oci://HOST/REPOSITORY` */
export function openReleaseRepository(
  name: string,
  options: Omit<RegistryHttpOptions, 'limits'>,
  signal: AbortSignal,
): ReleaseRepository {
  const carrier: Carrier = openRegistry({ repository: name, ...options });
  const repository = readRepository(name);
  const http = openRegistryHttp(repository, { ...options, limits: defaultRegistryLimits });
  const urlOf = (tag: string): URL => new URL(`manifests/${tag}`, http.apiUrl);

  /** With the permission of writes, because registries refuse reads of a repository that does not exist yet. */
  const digestAt = (tag: string): Promise<string | undefined> =>
    http.retry(async () => {
      const request = { method: 'GET', url: urlOf(tag), access: 'write', headers: { accept } } as const;
      const answer = await http.exchange(request, signal);
      if (answer.statusCode === 404) return undefined;
      if (answer.statusCode !== 200) throw unexpectedRegistryAnswer(repository, answer, 'a manifest');
      return digestOfBytes(answer.bytes);
    }, signal);

  return {
    readTags: async (version) => {
      const minorTag = minorTagOf(version);
      const minor = minorTag === undefined ? undefined : await digestAt(minorTag);
      const all = minor === undefined ? [] : await carrier.listTags(signal);
      return { version: await digestAt(versionTagOf(version)), minor, all };
    },
    writeArtifact: async ({ blobs, children, root, version }) => {
      const sent = new Map<string, number>();
      for (const blob of blobs) {
        const open = (): AsyncIterable<Uint8Array> => {
          sent.set(blob.digest, blob.size);
          return blob.open();
        };
        await carrier.writeBlob(blob, open, signal);
      }
      for (const child of children) {
        await carrier.writeManifest(child.digest, child.mediaType, child.bytes, signal);
      }
      await carrier.writeManifest(versionTagOf(version), root.mediaType, root.bytes, signal);
      return { blobs: sent.size, bytes: [...sent.values()].reduce((sum, size) => sum + size, 0) };
    },
    moveTag: (tag, { mediaType, digest, bytes }) =>
      http.retry(async () => {
        const headers = { 'content-type': mediaType };
        const request = { method: 'PUT', url: urlOf(tag), access: 'write', headers } as const;
        const answer = await http.exchange({ ...request, openBody: () => bytes }, signal);
        if (!isSuccess(answer)) throw manifestRefused(repository, answer, bytes);
        if ((await digestAt(tag)) === digest) return;
        const what = `Repository ${repository.name} does not show the tag ${tag} after it was written`;
        throw registryFault('Unreachable', what);
      }, signal),
    close: async () => {
      await Promise.all([carrier.close(), http.close()]);
    },
  };
}
