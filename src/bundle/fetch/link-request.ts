// Sends one GET of a link and follows redirects itself. Every hop must pass the same rules as the link. Refuses:
// internal hosts, other schemes, a redirect from https to http, loops. Never sends HEAD, because links are signed for
// GET. User and password of a link are sent as Basic, to its own origin only. Invariant: no error made here holds more of a
// URL than its host, or a header or a body.

import type { HttpAgent } from '#platform/http/agent.ts';
import { isOfCertificate, readConnectionFault } from '#platform/http/connection-fault.ts';
import {
  discard,
  type HttpAnswer,
  isRedirect,
  nextHop,
  readWhole,
  serverDateOf,
} from '#platform/http/exchange.ts';
import { Link } from '#platform/wire/link.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { oddAnswer } from '../refusal.ts';
import { type JudgedAnswer, maxJudgedBytes } from './link-answer.ts';

export interface LinkRequestOptions {
  readonly agent: HttpAgent;
  readonly maxRedirects: number;
  readonly userAgent: string;
  /** `range`, `if-range`; sent on every hop. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The first answer that is not a redirect. */
export interface LinkAnswer extends HttpAnswer {
  /** Of the hop that answered, with its port. */
  readonly host: string;
  /** Of the hop that answered: a permanent link may redirect to a signed one. */
  readonly dates: Pick<JudgedAnswer, 'validFrom' | 'expiresAt'>;
}

/**
 * @param link `http:` or `https:`
 * @returns its body must be consumed or destroyed
 * @throws {PublishableError} transient, for a refused address and for a network error
 */
export async function requestLink(
  link: Link,
  options: LinkRequestOptions,
  signal: AbortSignal,
): Promise<LinkAnswer> {
  const first = new URL(link.reveal());
  let at = first;
  for (let hop = 0; hop <= options.maxRedirects; hop += 1) {
    const answer = await send(at, credentialsFor(at, first), options, signal);
    if (!isRedirect(answer)) {
      return { ...answer, host: at.host, dates: datesOf(hop === 0 ? link : Link.parse(at.href), link) };
    }
    discard(answer);
    at = checkedHop(at, nextHop(at, answer));
  }
  throw oddAnswer('TooManyRedirects');
}

function checkedHop(from: URL, to: URL | undefined): URL {
  const isHttp = to?.protocol === 'http:' && from.protocol === 'http:';
  if (to?.protocol !== 'https:' && !isHttp) throw oddAnswer('InvalidRedirect');
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
  { agent, userAgent, headers }: LinkRequestOptions,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const own = { 'user-agent': userAgent, accept: '*/*', 'accept-encoding': 'identity' };
  try {
    return await agent.send({ method: 'GET', url, headers: { ...own, ...credentials, ...headers } }, signal);
  } catch (error) {
    throw linkNetworkFault(url.host, error, signal);
  }
}

/** Reads the start of a refusal's body; for {@link JudgedAnswer} the clock is the storage's own where it says it. */
export async function readJudged(answer: LinkAnswer, now: number): Promise<JudgedAnswer> {
  const { statusCode: status, dates } = answer;
  const bodyStart = status < 400 ? '' : (await readWhole(answer, maxJudgedBytes)).bytes.toString('latin1');
  return { status, bodyStart, clock: serverDateOf(answer) ?? now, ...dates };
}

/** What a thrown network error means. A PublishableError passes through; an abort gives the signal's own reason. */
export function linkNetworkFault(host: string, error: unknown, signal: AbortSignal): unknown {
  if (error instanceof PublishableError) return error;
  if (signal.aborted) return signal.reason;
  const fault = readConnectionFault(error);
  if (fault.kind === 'internal-address') return oddAnswer('PrivateLink');
  const message = `Storage ${host} ${fault.what}. ${fault.remedy}`;
  const code = isOfCertificate(fault) ? 'CertificateNotTrusted' : 'DownloadFailed';
  return new PublishableError(code, message, { kind: 'retry', cause: error });
}
