// Sends one GET of a link and follows redirects itself. Every hop must pass the same rules as the link. Refuses:
// internal hosts, other schemes, a redirect from https to http, loops. Never sends HEAD, because links are signed for
// GET. Invariant: no error made here holds a URL, a header or a body.

import type { Dispatcher } from 'undici';
import { untrustedCertificateCodes } from '../../runtime/http/ca-certificates.ts';
import { InternalAddressError, isRefusedHost } from '../../runtime/http/guarded-lookup.ts';
import { unlessAborted } from '../../runtime/time-limit.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import { BundleError } from '../bundle-error.ts';
import { oddAnswer } from '../refusal.ts';

export interface LinkRequestOptions {
  readonly dispatcher: Dispatcher;
  readonly allowPrivateLinks: boolean;
  readonly maxRedirects: number;
  readonly userAgent: string;
  /** `range`, `if-range`; sent on every hop. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type LinkAnswer = Dispatcher.ResponseData;

const redirects: readonly number[] = [301, 302, 303, 307, 308];

/**
 * @param url the link's text, `http:` or `https:`
 * @returns the first answer that is no redirect; its body must be consumed or destroyed
 * @throws {BundleError} transient, for a refused address and for a network error
 */
export async function requestLink(
  url: string,
  options: LinkRequestOptions,
  signal: AbortSignal,
): Promise<LinkAnswer> {
  let at = new URL(url);
  for (let hop = 0; hop <= options.maxRedirects; hop += 1) {
    if (isRefusedHost(at.hostname, options.allowPrivateLinks)) throw oddAnswer('PrivateLink');
    const answer = await send(at, options, signal);
    if (!redirects.includes(answer.statusCode)) return answer;
    const location = answer.headers['location'];
    answer.body.on('error', () => {}).destroy();
    at = nextHop(at, Array.isArray(location) ? location[0] : location);
  }
  throw oddAnswer('TooManyRedirects');
}

function nextHop(from: URL, location: string | undefined): URL {
  if (location === undefined || !URL.canParse(location, from.href)) throw oddAnswer('InvalidRedirect');
  const to = new URL(location, from);
  const isHttp = to.protocol === 'http:' || to.protocol === 'https:';
  if (!isHttp || (from.protocol === 'https:' && to.protocol === 'http:')) throw oddAnswer('InvalidRedirect');
  return to;
}

async function send(url: URL, options: LinkRequestOptions, signal: AbortSignal): Promise<LinkAnswer> {
  try {
    const answer = options.dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'GET',
      headers: {
        'user-agent': options.userAgent,
        accept: '*/*',
        'accept-encoding': 'identity',
        ...options.headers,
      },
      signal,
    });
    // A connection that is being made heeds no signal.
    return await unlessAborted(answer, signal);
  } catch (error) {
    throw networkFault(error, signal);
  }
}

/** What a thrown network error means. A BundleError passes through; an abort gives the signal's own reason. */
export function networkFault(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof BundleError) return error;
  if (signal.aborted) return signal.reason;
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if (at instanceof InternalAddressError) return oddAnswer('PrivateLink');
  }
  const code = publishableCode(error);
  const what = untrustedCertificateCodes.has(code)
    ? `showed a certificate that is not trusted (${code}); if its CA is private, add the CA certificate with --extra-ca-file`
    : `did not answer or broke off (${code}); retrying`;
  return new BundleError('transient', 'DownloadFailed', `the archive's storage ${what}`, { cause: error });
}
