// Requests and answers of a registry: their shapes, headers, bounded bodies, and where a Location leads. Refuses bodies
// without a bound, and a next address over plain HTTP after one over https. Invariant: of an
// error only its code is shown; its words are compared.

import type { Readable } from 'node:stream';
import * as z from 'zod/mini';
import type { WholeAnswer } from '#platform/http/exchange.ts';
import { readJson } from '#platform/wire/json-text.ts';
import { codeShown, type ServiceRefusal } from '#platform/wire/service-refusal.ts';
import { registryFault } from './registry-fault.ts';

/** One request, before its authorization. */
export interface RegistryCall {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called for each attempt, because a stream can be read once. */
  readonly openBody?: () => Buffer | Readable;
}

/** Longer JSON would keep the main thread for more than 50 ms. */
const longestJson = 512 * 1024;

/** @returns `undefined` for a body that is not JSON, or too long */
export function jsonOf({ bytes }: WholeAnswer): unknown {
  return bytes.length > longestJson ? undefined : readJson(bytes.toString('utf8'));
}

const text = z.catch(z.optional(z.string()), undefined);
/** A list in it holds names of repositories, as people chose them. */
const words = z.catch(
  z.union([
    z.string(),
    z.pipe(
      z.object({ message: z.string() }),
      z.transform(({ message }) => message),
    ),
  ]),
  '',
);
const oneError = z.object({ code: text, message: text, detail: words });
/** The form of registries, and those of the clouds, products and token endpoints around them. */
const refusalShape = z.object({
  errors: z.catch(z.array(oneError), []),
  error: z.catch(z.union([z.string(), z.object({ status: text, message: text })]), ''),
  __type: text,
  message: text,
  details: text,
});

const longestWords = 4096;

/** What a registry says of a refusal. */
export interface RegistryRefusal extends ServiceRefusal {
  /** In the registry's own form; none in an answer of another server. */
  readonly codes: readonly string[];
}

export function registryRefusalOf(answer: WholeAnswer): RegistryRefusal {
  const { statusCode: status } = answer;
  const read = refusalShape.safeParse(jsonOf(answer)).data;
  if (read === undefined) {
    return { status, code: undefined, codes: [], text: answer.bytes.toString('latin1', 0, longestWords) };
  }
  const { errors, error, __type: type, message, details } = read;
  const cloud = typeof error === 'string' ? { status: error, message: undefined } : error;
  const codes = errors.flatMap(({ code }) => code ?? []);
  const own = [...codes, type?.split('#').at(-1), cloud.status];
  const reasons = errors.map(({ code, message: said, detail }) => [code, said, detail].join(' '));
  const all = [...reasons, type, cloud.status, cloud.message, message, details].join(' ');
  return {
    ...{ status, codes, text: all.slice(0, longestWords) },
    code: own.map(codeShown).find((code) => code !== undefined),
  };
}

/** @param to where an answer leads @throws {MirrorError} `NotARegistry` */
export function checkedUrl(from: URL, to: URL | undefined): URL {
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
  const next = checkedUrl(url, URL.parse(target, url.href) ?? undefined);
  if (next.origin === url.origin) return next;
  throw registryFault('NotARegistry', `Registry host ${url.host} continues its list of tags on another host`);
}
