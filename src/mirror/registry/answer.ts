// Requests and answers of a registry: their shapes, headers, bounded bodies, and where a Location leads. Refuses bodies
// without a bound, and a next address over plain HTTP after one over https. Invariant: codes of an error are compared, and
// never shown.

import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import * as z from 'zod/mini';
import { readJson } from '../../wire/json-text.ts';
import type { MirrorError } from '../mirror-error.ts';
import { registryFault } from './registry-fault.ts';
import type { Repository } from './repository.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called for each attempt, because a stream can be read once. */
  readonly openBody?: () => Buffer | Readable;
}

export type Answer = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'>;
/** A whole answer. */
export type Exchange = Omit<Answer, 'body'> & { readonly bytes: Buffer };

export function headerOf({ headers }: Pick<Answer, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

export const isSuccess = ({ statusCode }: Exchange): boolean => statusCode >= 200 && statusCode < 300;
export const isRedirect = (statusCode: number): boolean => [301, 302, 303, 307, 308].includes(statusCode);

export function discard({ body }: Answer): void {
  body.on('error', () => {}).destroy();
}

/** The body of a refusal is cut. @throws {MirrorError} `NotARegistry` for another that is too long */
export async function readWhole(host: string, answer: Answer, maxBytes: number): Promise<Exchange> {
  const { statusCode, headers, body } = answer;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    const bytes: Buffer = chunk;
    size += bytes.length;
    if (size <= maxBytes) chunks.push(bytes);
    else if (statusCode >= 300) break;
    else throw registryFault('NotARegistry', `Registry host ${host} returned more than ${maxBytes} bytes`);
  }
  return { statusCode, headers, bytes: Buffer.concat(chunks) };
}

/** Longer JSON would keep the main thread for more than 50 ms. */
const longestJson = 512 * 1024;

/** @returns `undefined` for a body that is not JSON, or too long */
export function jsonOf({ bytes }: Exchange): unknown {
  return bytes.length > longestJson ? undefined : readJson(bytes.toString('utf8'));
}

const refusalShape = z.object({ errors: z.array(z.object({ code: z.string() })) });

/** Codes in the registry's own form of an error; none in an answer of another server. */
export function codesOf(answer: Exchange): readonly string[] {
  const refusal = refusalShape.safeParse(jsonOf(answer)).data;
  return refusal?.errors.map(({ code }) => code) ?? [];
}

export function unexpectedAnswer(repository: Repository, statusCode: number, what: string): MirrorError {
  const { host, path } = repository;
  return registryFault('NotARegistry', `Registry host ${host} returned ${statusCode} for ${what} of ${path}`);
}

const writeRemedies: ReadonlyMap<number, string> = new Map([
  [405, 'Let the registry accept pushes.'],
  [413, 'Raise the size limit of the registry, or of the proxy in front of it.'],
]);

/** What a refused write means, apart from a lack of permission. */
export function writeRefused(repository: Repository, answer: Exchange, what: string): MirrorError {
  const { statusCode } = answer;
  const returned = `Registry host ${repository.host} returned ${statusCode} for ${what} of ${repository.path}`;
  const codes = codesOf(answer);
  const remedy = writeRemedies.get(statusCode);
  if (remedy !== undefined) return registryFault('Denied', returned, { remedy });
  if (codes.some((code) => code.endsWith('BLOB_UNKNOWN'))) return registryFault('BlobMissing', returned);
  // A page of 404 without codes comes from another server.
  if (statusCode === 404 && codes.length > 0) return registryFault('RepositoryMissing', returned);
  return unexpectedAnswer(repository, statusCode, what);
}

export function deleteRefused(repository: Repository, answer: Exchange): MirrorError {
  const { statusCode } = answer;
  if (statusCode !== 405 && !codesOf(answer).includes('UNSUPPORTED')) {
    return unexpectedAnswer(repository, statusCode, 'a delete');
  }
  return registryFault('Denied', `Registry host ${repository.host} returned ${statusCode} for a delete`, {
    remedy: 'Enable deletes in the registry, or let its own retention remove old tags.',
  });
}

/** @throws {MirrorError} `NotARegistry` */
export function nextUrl(from: URL, location: string | undefined): URL {
  const isValid = location !== undefined && URL.canParse(location, from.href);
  const to = isValid ? new URL(location, from) : undefined;
  if (to === undefined || !/^https?:$/.test(to.protocol) || to.username !== '' || to.password !== '') {
    throw registryFault('NotARegistry', `Registry host ${from.host} named a next address that is not valid`);
  }
  if (from.protocol === 'http:' || to.protocol === 'https:') return to;
  throw registryFault('NotARegistry', `Registry host ${from.host} named a next address over plain HTTP`, {
    remedy: 'Let the proxy in front of the registry send X-Forwarded-Proto: https.',
  });
}

/** @returns `undefined` after the last page */
export function nextPage(url: URL, link: string | undefined): URL | undefined {
  const target = /<([^<>]*)>\s*;[^,<]*\brel="?next\b/i.exec(link ?? '')?.[1];
  if (target === undefined) return undefined;
  const next = nextUrl(url, target);
  if (next.origin === url.origin) return next;
  throw registryFault('NotARegistry', `Registry host ${url.host} continues its list of tags on another host`);
}
