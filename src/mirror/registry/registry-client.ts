// A repository of an OCI registry as a carrier of bundles (OCI Distribution Specification 1.1). Manifests are bytes here.
// Refuses to trust a registry's digests: each is computed. Invariant: a tag is written only where it names nothing, or
// the same content.

import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { headerOf, isSuccess, listHeaderOf, type WholeAnswer } from '#platform/http/exchange.ts';
import type { Carrier } from '../carrier.ts';
import { jsonOf, nextPage } from './answer.ts';
import { deleteRefused, manifestRefused, type RegistryAccess, unexpectedRegistryAnswer } from './refusal.ts';
import { createRegistryBlobs } from './registry-blobs.ts';
import { registryFault } from './registry-fault.ts';
import { openRegistryHttp, type RegistryHttpOptions, type RegistryLimits } from './registry-http.ts';
import { isDigest, isTag, readRepository } from './repository.ts';

export interface RegistryOptions extends Omit<RegistryHttpOptions, 'limits'> {
  /** `oci://host[:port]/repository`. */
  readonly repository: string;
  readonly limits?: Partial<RegistryLimits>;
}

export const defaultRegistryLimits: RegistryLimits = {
  idleTimeoutMs: 30_000,
  answerTimeoutMs: 60_000,
  transferTimeoutMs: 60 * 60_000,
};

const tagsPerPage = 1000;
const mostPages = 200;
const mostTags = 10_000;
const manifestTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
].join(', ');
const tagPageShape = z.object({ tags: z.nullish(z.array(z.string())) });

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/**
 * No request is sent before the first call.
 *
 * @throws {MirrorError} `InvalidReference`, or `AddressNotAllowed` for a literal internal address
 */
export function openRegistry(options: RegistryOptions): Carrier {
  const repository = readRepository(options.repository);
  const limits = { ...defaultRegistryLimits, ...options.limits };
  const http = openRegistryHttp(repository, { ...options, limits });
  const { transferTimeoutMs } = limits;
  const manifestUrl = (reference: string): URL => {
    if (isTag(reference) || isDigest(reference)) return new URL(`manifests/${reference}`, http.apiUrl);
    throw registryFault('InvalidReference', 'The tag or digest of a manifest is not valid');
  };

  const readManifest = async (
    reference: string,
    access: RegistryAccess,
    signal: AbortSignal,
  ): Promise<Buffer | undefined> => {
    const headers = { accept: manifestTypes };
    const answer = await http.exchange(
      { method: 'GET', url: manifestUrl(reference), access, headers },
      signal,
    );
    if (answer.statusCode === 404) return undefined;
    // A page to sign in is not a manifest.
    const isPage = headerOf(answer, 'content-type')?.startsWith('text/html');
    if (answer.statusCode !== 200 || isPage) throw unexpectedRegistryAnswer(repository, answer, 'a manifest');
    if (isDigest(reference) && digestOf(answer.bytes) !== reference) {
      throw registryFault(
        'BlobDamaged',
        `Repository ${repository.name} returned a manifest with a SHA-256 other than ${reference}`,
      );
    }
    return answer.bytes;
  };

  /** @returns whether the tag names this manifest, and false where it names none */
  const isTagged = async (tag: string, manifest: Buffer, signal: AbortSignal): Promise<boolean> => {
    const tagged = await readManifest(tag, 'write', signal);
    if (tagged === undefined || tagged.equals(manifest)) return tagged !== undefined;
    throw registryFault('TagOccupied', `The tag ${tag} of ${repository.name} names other content`);
  };

  const writeManifest = async (
    tag: string,
    mediaType: string,
    manifest: Buffer,
    signal: AbortSignal,
  ): Promise<void> => {
    if (await isTagged(tag, manifest, signal)) return;
    const headers = { 'content-type': mediaType };
    const url = manifestUrl(tag);
    const request = { method: 'PUT', url, access: 'write', headers, openBody: () => manifest } as const;
    const answer = await http.exchange(request, signal);
    // Another client may have written the tag meanwhile, before or after this PUT.
    if (await isTagged(tag, manifest, signal)) return;
    if (!isSuccess(answer)) throw manifestRefused(repository, answer, manifest);
    throw registryFault(
      'Unreachable',
      `Repository ${repository.name} does not show the tag ${tag} after it was written`,
    );
  };

  const listTags = async (signal: AbortSignal): Promise<readonly string[]> => {
    const tags = new Set<string>();
    let url: URL | undefined = new URL(`tags/list?n=${tagsPerPage}`, http.apiUrl);
    for (let page = 1; url !== undefined && page <= mostPages && tags.size <= mostTags; page += 1) {
      const request = { method: 'GET', url, access: 'read' } as const;
      const answer = await http.retry(() => http.exchange(request, signal), signal);
      if (answer.statusCode === 404) return [...tags];
      const found = tagPageShape.safeParse(jsonOf(answer)).data;
      if (answer.statusCode !== 200 || found === undefined)
        throw unexpectedRegistryAnswer(repository, answer, 'the tags');
      for (const tag of found.tags ?? []) if (isTag(tag)) tags.add(tag);
      url = nextPage(url, listHeaderOf(answer, 'link'));
    }
    if (url === undefined && tags.size <= mostTags) return [...tags];
    const what = `Repository ${repository.name} has more than ${mostTags} tags, or ${mostPages} pages of them`;
    throw registryFault('NotARegistry', what, { remedy: 'Use a repository for bundles only.' });
  };

  const removeTag = async (tag: string, signal: AbortSignal): Promise<void> => {
    const find = (): Promise<Buffer | undefined> => readManifest(tag, 'remove', signal);
    const remove = (reference: string): Promise<WholeAnswer> =>
      http.exchange({ method: 'DELETE', url: manifestUrl(reference), access: 'remove' }, signal);
    const isRefused = (answer: WholeAnswer): boolean => !isSuccess(answer) && answer.statusCode !== 404;
    const manifest = await find();
    if (manifest === undefined) return;
    // Most registries delete by digest only, and with the manifest its tags. Others keep the tags, or refuse to delete a
    // manifest that a tag names. The digest goes first: what no tag names is never listed again.
    const digest = digestOf(manifest);
    const first = await remove(digest);
    if (!isRefused(first) && (await find()) === undefined) return;
    const second = await remove(tag);
    if (isRefused(second)) throw deleteRefused(repository, isRefused(first) ? first : second);
    const last = isRefused(first) ? await remove(digest) : second;
    if (isRefused(last)) throw deleteRefused(repository, last);
    if ((await find()) === undefined) return;
    if (!isSuccess(last)) throw deleteRefused(repository, last);
    const what = `Registry host ${repository.host} accepted a delete, and still shows the tag in ${repository.path}`;
    const remedy = 'Enable deletes in the registry, or let its own retention remove old tags.';
    throw registryFault('Unreachable', what, { remedy });
  };

  return {
    name: repository.name,
    ...createRegistryBlobs({ repository, http, clock: options.clock, transferTimeoutMs }),
    readManifest: (reference, signal) => http.retry(() => readManifest(reference, 'read', signal), signal),
    writeManifest: (tag, mediaType, manifest, signal) =>
      http.retry(() => writeManifest(tag, mediaType, manifest, signal), signal),
    listTags,
    removeTag: (tag, signal) => http.retry(() => removeTag(tag, signal), signal),
    close: http.close,
  };
}
