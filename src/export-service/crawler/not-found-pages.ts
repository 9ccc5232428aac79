// What the site answers where it has nothing, asked for below the root and below each base folder by an address that cannot
// exist. Owns which folders are asked, and whether a page is that answer (a soft 404), also if the answer spells its own
// address. Pure, and reads no page: it compares size and hash. Refuses more folders than its limit.

import { createHash } from 'node:crypto';
import { type Address, decodePath, type SiteScope } from '#site/site-scope.ts';
import type { StoredBody } from './spool.ts';

/** The answer to an address that cannot exist. */
export interface NoSuchPageAnswer {
  /** Where it was found: the origin may have added a slash or a language. */
  readonly address: Address;
  /** It came with status 404. Otherwise the site has soft 404s. */
  readonly isNotFound: boolean;
  /** Another such address has the same bytes, and they spell neither the address nor the origin. */
  readonly isSteady: boolean;
  /** A script puts the content into it: whether the app has a page shows only in a browser. */
  readonly isShell: boolean;
  /** The whole body. Absent: too large, and compared by its hash alone. */
  readonly bytes?: Uint8Array | undefined;
}

interface KnownAnswer {
  readonly folder: string;
  readonly body: StoredBody;
  readonly isSoft: boolean;
  readonly isShell: boolean;
  /** Of the path, around the name. */
  readonly before: string;
  readonly after: string;
  /** Of the body, around the name. One: the body does not spell its address. */
  readonly pieces: readonly Buffer[];
}

/** A page that is the answer to unknown addresses, so far. */
export interface HeldPage {
  readonly address: Address;
  readonly body: StoredBody;
  readonly askedBy: string | undefined;
}

export interface NotFoundPages {
  /** Whether a page has the file of a folder's not-found page. It does not count as a page. */
  isNotFoundPage(address: Address): boolean;
  /** @returns what to ask for, below a folder that this page shows for the first time */
  learnFolder(home: Address): readonly Address[];
  learnAnswer(folder: string, body: StoredBody, answer: NoSuchPageAnswer): void;
  /** Whether a folder above has the same answer: a server finds that one from here. */
  isKnownAbove(folder: string, body: StoredBody, at: Address): boolean;
  /** Whether a page is what the site answers where it has nothing. Such a page is left out. */
  isSoftNotFound(page: Address, body: StoredBody): boolean;
  /** Whether the site is an app of one page, and answers this address with it: true once. Such a page is kept. */
  isNewAppAnswer(page: Address, body: StoredBody): boolean;
  /**
   * To be called once all other pages are known. Where many pages are the answer, it is an app's; else a login page may be.
   * @param pages that are kept
   * @returns which are kept after all
   */
  reconsider<T extends HeldPage>(
    held: readonly T[],
    pages: readonly Pick<HeldPage, 'address'>[],
  ): readonly T[];
  /** What is settled first in a wave: the home page, then what is not found, so that pages can be compared with it. */
  createRank(): (address: Address) => number;
}

/** What is known of an address: its body, or where it redirects. */
export type KnownPage = { readonly body: StoredBody } | { readonly to: string };

const noSuchName = 'static-export-operator-no-such-page';
/** Larger answers are compared by their hash. */
export const maxComparedBytes = 256 * 1024;
const maxSpelled = 100;
/** Pages whose names are searched for in an answer. */
const maxNamed = 100;
const maxFolders = 64;
/** So many dead links have few sites, and so large a share none. */
const fewestAppPages = 5;
const leastAppShare = 1 / 4;
const loginName = /\/(?:[\w-]{0,40}(?:log|sign)[-_]?(?:in|on)|auth|sso)(?:\/|\.\w{1,5})?$/i;
const languageName = /^[a-z]{2}(?:[-_][a-z]{2,4}){0,2}$/i;
const versionName =
  /^(?:v?\d{1,4}(?:\.(?:\d{1,4}|x)){0,3}(?:[-.]?(?:alpha|beta|rc|lts|dev)[\w.-]{0,20})?|latest|stable|next|current|main|master|dev|devel|edge|nightly)$/i;

/** The address that cannot exist in a folder. @param folder with slashes around it */
export function noSuchAddress(folder: string): Address {
  return { path: `${folder}${noSuchName}`, query: '' };
}

/** Next to it, an address that cannot exist either. */
export function secondNoSuchAddress({ path, query }: Address): Address {
  return { path: `${path}-2`, query };
}

/** Whether a body shows how it was requested. @param originHost scheme, host and port */
export function spellsRequest(body: Uint8Array, { domain, originHost, namedHost }: SiteScope): boolean {
  const { hostname, host } = new URL(originHost);
  const isWord = !/[.:]/.test(hostname);
  // A host of one word may be a word of the text. Apache writes "Server at HOST Port 80".
  const own = isWord
    ? [`//${hostname}`, `at ${hostname} Port`, ...(host === hostname ? [] : [host])]
    : [hostname];
  const names = hostname === domain ? [] : own;
  if (namedHost !== undefined && namedHost.replace(/:\d*$/, '') !== domain) names.push(namedHost);
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return [noSuchName, ...names].some((name) => text.includes(name));
}

/** Also where the origin has added to it. */
export function isNoSuchAddress({ path }: Address): boolean {
  return path.includes(noSuchName);
}

/** @returns the folder that such an address was asked for in */
export function noSuchFolder({ path }: Address): string {
  return path.slice(0, path.indexOf(noSuchName));
}

/** @param pageAt what the crawl knows of a path */
export function createNotFoundPages(
  pageAt: (path: string) => KnownPage | undefined,
  maxRedirects: number,
): NotFoundPages {
  const folders = new Set(['/']);
  const answers = new Map<string, KnownAnswer>();
  const appPages = new Set<string>();
  const appFolders = new Set<string>();
  /** By folder, a page with the answer's bytes that exists. */
  const ownPages = new Map<string, string>();

  const isNotFoundPage = ({ path }: Address): boolean => {
    // Servers that hide `.html` have it under the shorter name.
    const folder = /^(.*\/)404(?:\.html)?$/.exec(path)?.[1];
    return folder !== undefined && folders.has(folder);
  };
  const softAnswerOf = (page: Address, body: StoredBody): KnownAnswer | undefined => {
    if (isNotFoundPage(page)) return undefined;
    const above = foldersOver(page.path).map((folder) => answers.get(folder));
    const found = above.find((answer) => answer?.isSoft === true && isAnswer(answer, page, body));
    return found !== undefined && ownPages.get(found.folder) === page.path ? undefined : found;
  };
  /** Where redirects of the home page end. */
  const homePath = (): string => {
    let path = '/';
    for (let hops = 0; hops < maxRedirects; hops += 1) {
      const page = pageAt(path);
      if (page === undefined || 'body' in page) break;
      path = page.to;
    }
    return path;
  };
  /** Its home page, or that of the folder, is the answer, or the answer is like an app's. */
  const isOfApp = (answer: KnownAnswer): boolean =>
    answer.isShell ||
    appFolders.has(answer.folder) ||
    [homePath(), answer.folder, answer.folder.slice(0, -1)].some((path) => {
      const home = pageAt(path);
      return home !== undefined && 'body' in home && isAnswer(answer, { path, query: '' }, home.body);
    });

  return {
    isNotFoundPage,
    createRank: () => {
      const home = homePath();
      return (address) =>
        address.path === home ? 0 : isNoSuchAddress(address) || isNotFoundPage(address) ? 1 : 2;
    },
    learnFolder: (home) => {
      const folder = baseFolder(home);
      if (folder === undefined || isNotFoundPage(home)) return [];
      if (folders.has(folder) || folders.size > maxFolders) return [];
      folders.add(folder);
      const names = ['404', '404.html'].map((name) => ({ path: `${folder}${name}`, query: '' }));
      return [...names, noSuchAddress(folder)];
    },
    learnAnswer: (folder, body, { address: { path }, isNotFound, isShell, bytes }) => {
      const before = noSuchFolder({ path, query: '' });
      const after = path.slice(before.length + noSuchName.length);
      const pieces = splitAtName(bytes ?? new Uint8Array());
      answers.set(folder, { folder, body, isSoft: !isNotFound, isShell, before, after, pieces });
    },
    isKnownAbove: (folder, body, at) => {
      const above = foldersOver(folder).slice(1);
      const nearest = above.map((known) => answers.get(known)).find((answer) => answer !== undefined);
      return nearest !== undefined && isAnswer(nearest, at, body);
    },
    isSoftNotFound: (page, body) => {
      const answer = softAnswerOf(page, body);
      return answer !== undefined && page.path !== homePath() && !isOfApp(answer);
    },
    isNewAppAnswer: (page, body) => {
      const answer = softAnswerOf(page, body);
      if (answer === undefined || appPages.has(page.path) || !isOfApp(answer)) return false;
      appPages.add(page.path);
      return true;
    },
    reconsider: (held, pages) => {
      const home = homePath();
      const groups = Map.groupBy(held, ({ address, body }) => softAnswerOf(address, body));
      return [...groups].flatMap(([answer, group]) => {
        if (answer === undefined) return group;
        const { folder } = answer;
        const all = pages.filter(({ address }) => address.path.startsWith(folder)).length + group.length;
        if (group.length >= fewestAppPages && group.length > all * leastAppShare) {
          appFolders.add(folder);
          return group;
        }
        const own = ownPages.has(folder) ? undefined : ownPageOf(answer, group, home);
        if (own === undefined) return [];
        ownPages.set(folder, own.address.path);
        return [own];
      });
    },
  };
}

/** The page that a site shows instead of others, such as its login: the home page links to it, and its name shows that it exists. */
function ownPageOf<T extends HeldPage>(
  { body: known, pieces }: KnownAnswer,
  group: readonly T[],
  home: string,
): T | undefined {
  const same = group.filter(({ askedBy, body }) => askedBy === home && body.sha256 === known.sha256);
  const isNamed = ({ address: { path } }: T): boolean =>
    [`${path}"`, `${path}'`].some((text) => pieces.some((piece) => piece.includes(text)));
  return same.find(({ address }) => loginName.test(address.path)) ?? same.slice(0, maxNamed).find(isNamed);
}

/** A folder with a language's or a version's name, with a page of its own at most two folders down. */
function baseFolder({ path }: Address): string | undefined {
  const folder = path.replace(/\/(?:index\.html)?$/, '');
  const name = /^(?:\/[^/]+)?\/([^/]+)$/.exec(folder)?.[1] ?? '';
  return languageName.test(name) || versionName.test(name) ? `${folder}/` : undefined;
}

/** That of the path first, then those above. Base folders are at most two folders down. */
function foldersOver(path: string): readonly string[] {
  const names = path.split('/').slice(1, -1).slice(0, 2);
  return [2, 1, 0]
    .filter((depth) => depth <= names.length)
    .map((depth) => {
      const folder = names.slice(0, depth).join('/');
      return folder === '' ? '/' : `/${folder}/`;
    });
}

function splitAtName(bytes: Uint8Array): readonly Buffer[] {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pieces: Buffer[] = [];
  let from = 0;
  for (let at = whole.indexOf(noSuchName); at >= 0; at = whole.indexOf(noSuchName, from)) {
    pieces.push(whole.subarray(from, at));
    from = at + noSuchName.length;
    if (pieces.length > maxSpelled) return [whole];
  }
  return [...pieces, whole.subarray(from)];
}

/** Whether the body is the answer as the site would give it at this address. */
function isAnswer(
  { body: known, before, after, pieces }: KnownAnswer,
  { path }: Address,
  body: StoredBody,
): boolean {
  if (body.sha256 === known.sha256) return true;
  const isBelow =
    path.startsWith(before) && path.endsWith(after) && path.length >= before.length + after.length;
  if (pieces.length < 2 || !isBelow) return false;
  const own = path.slice(before.length, path.length - after.length);
  return spellings(own).some((spelling) => {
    const inserts = pieces.slice(0, -1).map((piece) => spelledBehind(piece, spelling));
    const parts = pieces.flatMap((piece, index) => [piece, inserts[index] ?? Buffer.alloc(0)]);
    // Equal sizes first: only then is anything hashed, and no more than the page has.
    if (parts.reduce((sum, { length }) => sum + length, 0) !== body.sizeBytes) return false;
    const hash = createHash('sha256');
    for (const part of parts) hash.update(part);
    return hash.digest('hex') === body.sha256;
  });
}

interface Spelling {
  readonly inText: string;
  /** Where it is encoded once more, as in a query. */
  readonly encoded: string;
}

function spellings(own: string): readonly Spelling[] {
  const decoded = decodePath(`/${own}`)?.slice(1) ?? own;
  const spelled = (inText: string, encoded: string): Spelling => ({ inText, encoded });
  const asIs = spelled(own, encodeURIComponent(own));
  const ofDecoded = encodeURIComponent(decoded);
  return decoded === own ? [asIs] : [asIs, spelled(own, ofDecoded), spelled(decoded, ofDecoded)];
}

/** The path as it is spelled there: the slash in front shows how. */
function spelledBehind(piece: Buffer, { inText, encoded }: Spelling): Buffer {
  const end = piece.subarray(-6).toString('latin1').toLowerCase();
  if (end.endsWith('%2f')) return Buffer.from(encoded);
  if (end.endsWith('\\/')) return Buffer.from(inText.replaceAll('/', '\\/'));
  return Buffer.from(end === '&#x2f;' ? inText.replaceAll('/', '&#x2F;') : inText);
}
