// Fetches one address of a wave and reads where its body leads. Owns which files are asked for without a link to them, and
// which failure is that of one address. Refuses an origin that fails as a whole: the home page, a sitemap, or several
// addresses in a row. Invariant: what one address learns counts for others only after the wave.

import { PublishableError } from '#platform/wire/publishable-error.ts';
import { isAppShell } from '#site/references/app-shell.ts';
import { bodyKind, readableBytes, readLinks } from '#site/references/body-links.ts';
import { decodeBody } from '#site/references/body-text.ts';
import type { LinkPool } from '#site/references/link-pool.ts';
import { isPayloadType, payloadAddress } from '#site/references/next-payload.ts';
import { isSearchGuess } from '#site/references/search-index.ts';
import { type Address, locate, originUrl, type SiteScope } from '#site/site-scope.ts';
import type { RecordedAnswer, RecordedSession } from './journal/recorded-session.ts';
import {
  isNoSuchAddress,
  maxComparedBytes,
  type NoSuchPageAnswer,
  secondNoSuchAddress,
  spellsRequest,
} from './not-found-pages.ts';
import type { OriginAnswer } from './origin/origin-fetcher.ts';
import { type Learned, nothingLearned } from './origin/origin-session.ts';
import { originTypeOf } from './origin/origin-types.ts';
import type { Robots } from './origin/robots.ts';
import { dropSessionIds } from './session-ids.ts';
import type { CrawlSpool, StoredBody } from './spool.ts';
import type { FetchOutcome, Visit } from './visit.ts';

/** Files that a site has by convention, also without a link to them. */
const conventionalFiles = ['/robots.txt', '/404', '/404.html', '/favicon.ico', '/llms.txt', '/llms-full.txt'];
/** Where no script or page shows the tool: MkDocs, mdBook, Docusaurus, Sphinx and Hugo. */
const searchFiles = [
  '/search/search_index.json',
  '/searchindex.json',
  '/search-index.json',
  '/objects.inv',
  '/index.json',
];
/** Each is asked for once. */
export const guessedFiles: ReadonlySet<string> = new Set([...conventionalFiles, ...searchFiles]);

export interface VisitContext {
  readonly scope: SiteScope;
  readonly robots: Robots;
  readonly session: RecordedSession;
  readonly spool: CrawlSpool;
  readonly pool: LinkPool;
  /** Addresses that failed since the last answer. */
  readonly failures: { inARow: number };
  /** Of pages whose links had session ids, in the order of arrival. */
  readonly pathsWithIds: string[];
  readonly signal: AbortSignal;
}

export interface Visited {
  readonly outcome: FetchOutcome;
  readonly learned: Learned;
}

/** @throws {CrawlError} where the origin fails as a whole; see {@link RecordedSession.get} */
export async function fetchVisit(visit: Visit, context: VisitContext): Promise<Visited> {
  const { session, failures, signal } = context;
  if (isNoSuchAddress(visit.address)) return fetchNoSuchPage(visit.address, context);
  const { answer, learned } = await session
    .get(visit.address, visit.isPage, signal)
    .then((taken) => {
      failures.inARow = 0;
      return taken;
    })
    .catch((error: unknown): RecordedAnswer => {
      if (!isOriginFailed(error)) throw error;
      if (!isGuess(visit)) {
        failures.inARow += 1;
        if (isVital(visit) || failures.inARow > mostFailuresInARow) throw error;
      }
      return failedAnswer;
    });
  const payload = await askForPayload(visit, answer, context);
  return { outcome: await outcomeOf(visit, payload ?? answer, context), learned };
}

/** A server of Next.js that runs has no file with the data of a page, and answers with them at another address. */
async function askForPayload(
  { address, isPage, isAsset, isSitemap }: Visit,
  answer: OriginAnswer<StoredBody>,
  { session, signal }: VisitContext,
): Promise<OriginAnswer<StoredBody> | undefined> {
  const asked = payloadAddress(address.path);
  const isHint = !isPage && !isAsset && !isSitemap && !guessedFiles.has(address.path);
  const isOwnFile = answer.kind === 'body' && bodyKind(answer.contentType, address.path) !== 'document';
  if (asked === undefined || !isHint || isOwnFile || address.query !== '') return undefined;
  const { answer: payload } = await session
    .get(asked, false, signal)
    .catch((error: unknown): RecordedAnswer => {
      if (isOriginFailed(error)) return failedAnswer;
      throw error;
    });
  return payload.kind === 'body' && isPayloadType(payload.contentType) ? payload : undefined;
}

/** More than these, and it is the origin that fails, not an address of it. As many may be missing by default. */
const mostFailuresInARow = 20;

/** Without it, the crawl does not know the site. */
function isVital({ address, isSitemap }: Visit): boolean {
  return address.path === '/' || isSitemap;
}

/** No page names this file, so its failed download does not fail the crawl. */
function isGuess({ address: { path }, isPage, isAsset }: Visit): boolean {
  return !isPage && !isAsset && (guessedFiles.has(path) || isSearchGuess(path));
}

export const failedAnswer: RecordedAnswer = {
  answer: { kind: 'absent', reason: 'OriginFailed' },
  learned: nothingLearned,
};

export function isOriginFailed(error: unknown): boolean {
  return error instanceof PublishableError && error.code === 'OriginFailed';
}

async function outcomeOf(
  visit: Visit,
  answer: OriginAnswer<StoredBody>,
  { scope, spool, pool, pathsWithIds }: VisitContext,
): Promise<FetchOutcome> {
  const { address } = visit;
  if (answer.kind === 'absent') return answer;
  if (answer.kind === 'redirect') {
    const located = locate(scope, answer.location, originUrl(scope, address));
    return located.where === 'inside'
      ? { kind: 'redirect', to: located.address, fragment: located.fragment }
      : { kind: 'redirect', to: undefined, fragment: '' };
  }
  const kind = bodyKind(answer.contentType, address.path);
  const isDocument = kind === 'document';
  const role = isDocument
    ? kind
    : visit.isSitemap
      ? 'sitemap'
      : address.path === '/llms.txt'
        ? 'contents'
        : kind;
  const { body, contentType } = answer;
  const originType = originTypeOf(contentType);
  // One byte more than is read shows that the body is longer.
  const head = role === 'other' ? new Uint8Array() : spool.head(body, readableBytes(role) + 1);
  const links = readLinks(scope, address, role, contentType, head, pool);
  const isWhole = isDocument && head.byteLength === body.sizeBytes;
  const plain = isWhole ? dropSessionIds(scope, address, head) : undefined;
  const stored = { kind: 'stored', isDocument, role, links, contentType, originType } as const;
  if (plain === undefined) return { ...stored, body };
  pathsWithIds.push(address.path);
  return { ...stored, body: await spool.put(Buffer.from(plain, 'latin1')) };
}

/** The not-found page, and whether it is one page: servers also make one for each request. */
async function fetchNoSuchPage(address: Address, context: VisitContext): Promise<Visited> {
  const { scope, spool, pool } = context;
  const { page, learned } = await askUnknown(address, context);
  if (page === undefined) return { outcome: { kind: 'absent', reason: 'NotFound' }, learned };
  const { at, body, contentType, isNotFound } = page;
  const head = spool.head(body, readableBytes('document') + 1);
  const { page: other } = await askUnknown(secondNoSuchAddress(address), context);
  const isSteady = other?.body.sha256 === body.sha256 && !spellsRequest(head, scope);
  const links = readLinks(scope, at, 'document', contentType, head, pool);
  const bytes = body.sizeBytes <= maxComparedBytes ? head : undefined;
  const isShell = bytes !== undefined && isAppShell(decodeBody(bytes, contentType, 'html'));
  const noSuchPage = { address: at, isNotFound, isSteady, isShell, bytes };
  return {
    outcome: { kind: 'stored', body, isDocument: true, role: 'document', links, contentType, noSuchPage },
    learned,
  };
}

interface UnknownPage extends Pick<NoSuchPageAnswer, 'isNotFound'> {
  readonly at: Address;
  readonly body: StoredBody;
  readonly contentType: string;
}

/** What an address that cannot exist has, also where the origin first adds a slash or a language to it. */
async function askUnknown(
  address: Address,
  { scope, robots, session, signal }: VisitContext,
): Promise<{ readonly page?: UnknownPage; readonly learned: Learned }> {
  let learned = nothingLearned;
  let at = address;
  for (let hops = 0; hops <= 5 && robots.isAllowed(at); hops += 1) {
    const got = await session
      .get(at, true, signal, { takesNotFound: true })
      .catch((error: unknown): RecordedAnswer => {
        if (isOriginFailed(error)) return failedAnswer;
        throw error;
      });
    const { answer } = got;
    learned = got.learned;
    if (answer.kind === 'absent') break;
    if (answer.kind === 'redirect') {
      const located = locate(scope, answer.location, originUrl(scope, at));
      if (located.where !== 'inside' || !isNoSuchAddress(located.address)) break;
      at = located.address;
      continue;
    }
    const { body, contentType, isNotFound } = answer;
    // Servers answer with a text without a type where the site has no such page.
    if (contentType === '' || bodyKind(contentType, at.path) !== 'document') break;
    return { page: { at, body, contentType, isNotFound }, learned };
  }
  return { learned };
}
