// Gives the crawl its answers: from the journal of an interrupted start, from the last complete crawl where the origin says that
// a body did not change, and from the origin otherwise. Owns which of them counts. Refuses a body that is not on the disk byte
// for byte: the origin is asked for it. Invariant: every answer that a crawl uses is recorded before the crawl goes on, and
// none is older than the time that one crawl may take.

import type { Clock } from '#platform/runtime/clock.ts';
import { type Address, addressKey } from '#site/site-scope.ts';
import type { AnswerCounts } from '../contract.ts';
import type { OriginAnswer } from '../origin/origin-fetcher.ts';
import {
  type Learned,
  nothingLearned,
  type OriginSession,
  type SessionAnswer,
} from '../origin/origin-session.ts';
import type { CrawlSpool, StoredBody } from '../spool.ts';
import {
  type AnswerJournal,
  type EarlierAnswers,
  type JournalEntry,
  type JournalRequest,
  type KnownBodyAnswer,
  knownBodyAnswer,
} from './answer-journal.ts';

export interface RecordedAnswer {
  readonly answer: OriginAnswer<StoredBody>;
  readonly learned: Learned;
}

export interface RecordedSession extends Pick<OriginSession, 'adopt'> {
  /**
   * @param isPage whether a query that a redirect adds is dropped
   * @param how whether the body of status 404 is taken too
   * @throws as {@link OriginSession.get}; {CrawlError} SpoolFailed, TooManyBytes
   */
  get(
    address: Address,
    isPage: boolean,
    signal: AbortSignal,
    how?: { readonly takesNotFound?: boolean },
  ): Promise<RecordedAnswer>;
  counts(): AnswerCounts;
}

export interface RecordedSources {
  readonly session: OriginSession;
  readonly spool: CrawlSpool;
  readonly journal: AnswerJournal;
  /** The last complete crawl, and where its bodies are. */
  readonly earlier?: { readonly answers: EarlierAnswers; readonly directory: string } | undefined;
  /** Older answers of the journal are asked for again: pages of one export should not be further apart. */
  readonly maxAgeMs: number;
  readonly clock: Pick<Clock, 'now'>;
  /** Of all sessions of the crawl. */
  readonly counts: { -readonly [Source in keyof AnswerCounts]: AnswerCounts[Source] };
  /** What the addresses of a session begin with in the journal; absent: the origin of the site. */
  readonly host?: string | undefined;
}

interface Candidate {
  readonly known: KnownBodyAnswer;
  /** Where its body is; absent: in the directory of this crawl. */
  readonly directory?: string | undefined;
}

type Asked = SessionAnswer<OriginAnswer<StoredBody>>;

export function createRecordedSession(sources: RecordedSources): RecordedSession {
  const { session, spool, journal, earlier, maxAgeMs, clock, counts, host = '' } = sources;

  /** The value of a cookie is not recorded: the origin has to give it again. */
  const isCurrent = ({ hasCookies, answeredAt }: JournalEntry): boolean =>
    !hasCookies && clock.now() - answeredAt <= maxAgeMs;

  const candidateFor = (address: string, outdated: JournalEntry | undefined): Candidate | undefined => {
    const own = knownBodyAnswer(outdated);
    if (own !== undefined) return { known: own };
    const known = earlier?.answers.find(address);
    return known && { known, directory: earlier?.directory };
  };

  const ask = async (
    address: Address,
    isPage: boolean,
    signal: AbortSignal,
    takesNotFound: boolean,
  ): Promise<Asked> => {
    const asked = await session.get(address, isPage, signal, spool.take, { takesNotFound });
    counts.fromOrigin += 1;
    return asked;
  };

  /** @returns `undefined` where the body did not change, but is no longer on the disk */
  const askIfModified = async (
    address: Address,
    isPage: boolean,
    signal: AbortSignal,
    { known, directory }: Candidate,
  ): Promise<Asked | undefined> => {
    const asked = await session.getIfModified(address, isPage, signal, spool.take, known);
    const { answer } = asked;
    if (answer.kind !== 'not-modified') {
      counts.fromOrigin += 1;
      return { ...asked, answer };
    }
    if (!(await spool.takeAgain(known.answer.body, directory))) return undefined;
    counts.notModified += 1;
    return { ...asked, answer: known.answer };
  };

  return {
    get: async (address, isPage, signal, { takesNotFound = false } = {}) => {
      signal.throwIfAborted();
      const asks = takesNotFound ? 'unknown' : isPage ? 'page' : 'file';
      const named = `${host}${addressKey(address)}`;
      const request: JournalRequest = { address: named, asks, sent: session.carried() };
      const { entry, number } = journal.take(request) ?? {};
      const current = entry !== undefined && isCurrent(entry) ? entry : undefined;
      if (current !== undefined && (await isHere(current.answer))) {
        counts.fromJournal += 1;
        return {
          answer: answerOf(current.answer),
          learned: { ...nothingLearned, isForwarded: current.isForwarded },
        };
      }
      const outdated = current === undefined ? entry : undefined;
      const candidate = takesNotFound ? undefined : candidateFor(request.address, outdated);
      const { answer, learned, carried } =
        (candidate && (await askIfModified(address, isPage, signal, candidate))) ??
        (await ask(address, isPage, signal, takesNotFound));
      const { isForwarded, cookies } = learned;
      const said = { answeredAt: clock.now(), carried, isForwarded, hasCookies: cookies.size > 0 };
      journal.record(request, { ...said, answer: withoutCookies(answer) }, number);
      return { answer, learned };
    },
    adopt: session.adopt,
    counts: () => ({ ...counts }),
  };

  async function isHere(answer: JournalEntry['answer']): Promise<boolean> {
    return answer.kind !== 'body' || spool.takeAgain(answer.body);
  }
}

/** Those that the crawl sends are marked; the others are of no use. */
function withoutCookies(answer: OriginAnswer<StoredBody>): JournalEntry['answer'] {
  return answer.kind === 'redirect' ? { kind: 'redirect', location: answer.location } : answer;
}

function answerOf(answer: JournalEntry['answer']): OriginAnswer<StoredBody> {
  return answer.kind === 'redirect' ? { ...answer, cookies: [] } : answer;
}
