// Sends one GET of a link and follows redirects itself. Every hop must pass the same rules as the link. Refuses:
// internal hosts, other schemes, a redirect from https to http, loops. Never sends HEAD, because links are signed for
// GET. User and password of a link are sent as Basic, to its own origin only. Invariant: no error made here holds more of a
// URL than its host, or a header or a body.

import type { Dispatcher } from 'undici';
import { InternalAddressError, isRefusedHost } from '../../runtime/http/guarded-lookup.ts';
import { unlessAborted } from '../../runtime/time-limit.ts';
import { describeConnectionFault } from '../../wire/connection-fault.ts';
import { Link } from '../../wire/link.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import { BundleError } from '../bundle-error.ts';
import { oddAnswer } from '../refusal.ts';
import { type JudgedAnswer, readBodyStart } from './link-answer.ts';

export interface LinkRequestOptions {
  readonly dispatcher: Dispatcher;
  readonly allowPrivateLinks: boolean;
  readonly maxRedirects: number;
  readonly userAgent: string;
  /** `range`, `if-range`; sent on every hop. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The first answer that is not a redirect. */
export interface LinkAnswer extends Dispatcher.ResponseData {
  /** Of the hop that answered, with its port. */
  readonly host: string;
  /** Of the hop that answered: a permanent link may redirect to a signed one. */
  readonly dates: Pick<JudgedAnswer, 'validFrom' | 'expiresAt'>;
}

const redirects: readonly number[] = [301, 302, 303, 307, 308];

/**
 * @param link `http:` or `https:`
 * @returns its body must be consumed or destroyed
 * @throws {BundleError} transient, for a refused address and for a network error
 */
export async function requestLink(
  link: Link,
  options: LinkRequestOptions,
  signal: AbortSignal,
): Promise<LinkAnswer> {
  const first = new URL(link.reveal());
  let at = first;
  for (let hop = 0; hop <= options.maxRedirects; hop += 1) {
    if (isRefusedHost(at.hostname, options.allowPrivateLinks)) throw oddAnswer('PrivateLink');
    const answer = await send(at, credentialsFor(at, first), options, signal);
    if (!redirects.includes(answer.statusCode)) {
      return { ...answer, host: at.host, dates: datesOf(hop === 0 ? link : Link.parse(at.href), link) };
    }
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

/** A storage's signature counts before what the issuer of the link claims. */
function datesOf(hop: Link | undefined, link: Link): LinkAnswer['dates'] {
  const signed = hop?.signedLifetime();
  return { validFrom: signed?.signedAt, expiresAt: signed?.expiresAt ?? link.claimedExpiresAt };
}

/** A redirect to another origin gets only what its own address holds. */
function credentialsFor(hop: URL, first: URL): Readonly<Record<string, string>> {
  const { username, password } = hop.username === '' && hop.origin === first.origin ? first : hop;
  if (username === '' && password === '') return {};
  const pair = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');
  return { authorization: `Basic ${pair}` };
}

/** A URL may hold a percent sign that begins no code, and bytes that are not UTF-8. */
function decoded(text: string): string {
  return text.replace(/(%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
}

async function send(
  url: URL,
  credentials: Readonly<Record<string, string>>,
  options: LinkRequestOptions,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  try {
    const answer = options.dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'GET',
      headers: {
        'user-agent': options.userAgent,
        accept: '*/*',
        'accept-encoding': 'identity',
        ...credentials,
        ...options.headers,
      },
      signal,
    });
    // A connection that is being made heeds no signal.
    return await unlessAborted(answer, signal);
  } catch (error) {
    throw networkFault(url.host, error, signal);
  }
}

/** Reads the start of a refusal's body; for {@link JudgedAnswer} the clock is the storage's own where it says it. */
export async function readJudged(answer: LinkAnswer, now: number): Promise<JudgedAnswer> {
  const { statusCode: status, headers, dates } = answer;
  const date = headers['date'];
  const storageClock = Date.parse(typeof date === 'string' ? date : '');
  const bodyStart = status < 400 ? '' : await readBodyStart(answer.body);
  return { status, bodyStart, clock: Number.isNaN(storageClock) ? now : storageClock, ...dates };
}

/** What a thrown network error means. A BundleError passes through; an abort gives the signal's own reason. */
export function networkFault(host: string, error: unknown, signal: AbortSignal): unknown {
  if (error instanceof BundleError) return error;
  if (signal.aborted) return signal.reason;
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if (at instanceof InternalAddressError) return oddAnswer('PrivateLink');
  }
  const { kind, what, remedy } = describeConnectionFault(publishableCode(error));
  const step = remedy ?? 'If its CA is private, add the CA certificate with --extra-ca-file';
  const message = `Storage ${host} ${what}. ${step}${kind === 'unreachable' ? '. Retrying' : ''}`;
  return new BundleError('transient', codes[kind], message, { cause: error });
}

const codes = {
  'unknown-ca': 'CertificateNotTrusted',
  'wrong-certificate': 'CertificateNotTrusted',
  'wrong-protocol': 'DownloadFailed',
  unreachable: 'DownloadFailed',
} as const;
