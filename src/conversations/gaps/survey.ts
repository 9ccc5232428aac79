// Reads turns one after another and keeps counts: by week, by category and page, by question, by cited page. Owns the limits
// that keep a million turns in a few tens of megabytes. Refuses: keeping a turn, and text of visitors but one short
// question for each cluster.

import type { Turn } from '../turn.ts';
import {
  type CountedTurn,
  countTurn,
  newTally,
  type Outcomes,
  type Tally,
  WeekTallies,
  weekNumber,
} from './counts.ts';
import type { PageAddress, PageMap } from './page-map.ts';
import { createQuestionClusters, type QuestionCluster } from './question-clusters.ts';
import { shownQuestion } from './shown-question.ts';
import { type SiteVersion, versionAt } from './versions.ts';

export type SurveyedTurn = Pick<
  Turn,
  'conversation' | 'timestamp' | 'query' | 'category' | 'resolution_status' | 'page_url' | 'sources'
>;

/** Where turns of one page and category are counted. */
export interface Cell {
  readonly category: string | null;
  /** Null: no page was captured; `…`: pages above the limit. */
  readonly page: string | null;
  readonly tally: Tally;
  readonly weeks: WeekTallies;
  readonly epochs: Epochs;
  readonly seen: SeenSpan;
}

/** What is known of a cluster of questions. */
export interface AskedCluster {
  readonly tally: Tally;
  readonly epochs: Epochs;
  readonly seen: SeenSpan;
  /** Pages where it was asked, and pages that were cited, with the number of turns. */
  readonly pages: Map<string, number>;
  question: string;
  /** Conversations, at least: turns of one conversation follow each other. */
  conversations: number;
  lastConversation: string | null | undefined;
}

export interface CitedPage {
  readonly host: string;
  readonly page: string;
  readonly isInBundle: boolean | undefined;
  /** Turns that cite it. */
  turns: number;
  /** Of these, without an answer. */
  unanswered: number;
}

export interface Survey {
  readonly total: Tally;
  readonly undated: number;
  /** Turns that cite a page and have no answer. */
  readonly citedYetUnanswered: number;
  readonly seen: SeenSpan;
  readonly weeks: WeekTallies;
  readonly cells: readonly Cell[];
  readonly clusters: readonly QuestionCluster<AskedCluster>[];
  readonly cited: readonly CitedPage[];
  /** Hosts of pages where visitors asked. */
  readonly hosts: ReadonlySet<string>;
  /** What did not fit. */
  readonly left: { readonly clusters: number; readonly citedPages: number };
}

const limits = {
  clusters: 10_000,
  cells: 5000,
  weeksOfCell: 26,
  weeks: 520,
  citedPages: 10_000,
  pagesOfCluster: 8,
  /** Of a turn; an answer that cites more is not an answer. */
  sources: 50,
  hosts: 20,
  nameLength: 300,
};

/** The page of turns above the limit of cells. */
export const otherPages = '…';

/** Turns by version: before the first, then of each. */
export class Epochs {
  #turns: number[] = [];
  #unanswered: number[] = [];

  count(epoch: number, isUnanswered: boolean): void {
    this.#turns[epoch] = (this.#turns[epoch] ?? 0) + 1;
    if (isUnanswered) this.#unanswered[epoch] = (this.#unanswered[epoch] ?? 0) + 1;
  }

  list(length: number): readonly Outcomes[] {
    return Array.from({ length }, (_, at) => ({
      turns: this.#turns[at] ?? 0,
      unanswered: this.#unanswered[at] ?? 0,
    }));
  }
}

/** First and last time, epoch ms. */
export class SeenSpan {
  first: number | undefined;
  last: number | undefined;

  take(at: number | undefined): void {
    if (at === undefined) return;
    this.first = Math.min(this.first ?? at, at);
    this.last = Math.max(this.last ?? at, at);
  }
}

export interface SurveyOptions {
  readonly pages: PageMap;
  readonly versions: readonly Pick<SiteVersion, 'since'>[];
  /** Leaders of an earlier report. */
  readonly knownWords: readonly (readonly number[])[];
}

interface PlacedTurn extends CountedTurn {
  readonly at: number | undefined;
  /** Index of the counts by version. A turn without a time counts as before the first version. */
  readonly epoch: number;
  readonly page: PageAddress | undefined;
  readonly cited: readonly PageAddress[];
}

export function createSurvey({ pages, versions, knownWords }: SurveyOptions) {
  const total = newTally();
  const seen = new SeenSpan();
  const weeks = new WeekTallies(limits.weeks);
  const cells = new Map<string, Cell>();
  const cited = new Map<string, CitedPage>();
  const hosts = new Set<string>();
  const left = { clusters: 0, citedPages: 0 };
  let undated = 0;
  let citedYetUnanswered = 0;
  const clusters = createQuestionClusters<AskedCluster>({
    maxClusters: limits.clusters,
    known: knownWords,
    newValue: () => ({
      tally: newTally(),
      epochs: new Epochs(),
      seen: new SeenSpan(),
      pages: new Map(),
      question: '',
      conversations: 0,
      lastConversation: undefined,
    }),
  });

  const cellOf = (category: string | null, page: string | null): Cell => {
    const key = JSON.stringify([category, page]);
    const found = cells.get(key);
    if (found !== undefined) return found;
    if (cells.size >= limits.cells && page !== otherPages)
      return cellOf(cells.size >= limits.cells + 100 ? otherPages : category, otherPages);
    const cell = {
      category,
      page,
      tally: newTally(),
      weeks: new WeekTallies(limits.weeksOfCell),
      epochs: new Epochs(),
      seen: new SeenSpan(),
    };
    cells.set(key, cell);
    return cell;
  };

  const place = (turn: SurveyedTurn): PlacedTurn => {
    const at = turn.timestamp === null ? undefined : Date.parse(turn.timestamp);
    const urls = new Set(turn.sources.slice(0, limits.sources).map(({ url }) => url));
    return {
      at,
      epoch: at === undefined ? 0 : versionAt(versions, at) + 1,
      isUnanswered: statusOf(turn.resolution_status),
      hasSources: turn.sources.length > 0,
      page: turn.page_url === null ? undefined : pages.find(turn.page_url),
      cited: [...urls].flatMap((url) => pages.find(url) ?? []),
    };
  };

  const countCited = ({ cited: addresses, isUnanswered }: PlacedTurn): void => {
    if (isUnanswered === true && addresses.length > 0) citedYetUnanswered += 1;
    for (const { host, page, isInBundle } of addresses) {
      const key = `${host} ${page}`;
      let entry = cited.get(key);
      if (entry === undefined) {
        if (cited.size >= limits.citedPages) {
          left.citedPages += 1;
          continue;
        }
        entry = { host, page, isInBundle, turns: 0, unanswered: 0 };
        cited.set(key, entry);
      }
      entry.turns += 1;
      if (isUnanswered === true) entry.unanswered += 1;
    }
  };

  const countQuestion = (turn: SurveyedTurn, placed: PlacedTurn): void => {
    const asked = turn.query === null ? undefined : clusters.add(turn.query)?.value;
    if (asked === undefined || turn.query === null) return;
    record(asked, placed);
    if (asked.question === '') asked.question = shownQuestion(turn.query);
    if (asked.lastConversation === undefined || asked.lastConversation !== turn.conversation) {
      asked.conversations += 1;
      asked.lastConversation = turn.conversation;
    }
    for (const page of new Set([placed.page, ...placed.cited].flatMap((one) => one?.page ?? []))) {
      const known = asked.pages.get(page);
      if (known !== undefined || asked.pages.size < limits.pagesOfCluster)
        asked.pages.set(page, (known ?? 0) + 1);
    }
  };

  return {
    add: (turn: SurveyedTurn): void => {
      const placed = place(turn);
      const { at, page } = placed;
      countTurn(total, placed);
      seen.take(at);
      if (at === undefined) undated += 1;
      else weeks.count(weekNumber(at), placed);
      if (page !== undefined && hosts.size < limits.hosts) hosts.add(page.host);
      const category = turn.category?.slice(0, limits.nameLength).toWellFormed() ?? null;
      const cell = cellOf(category, page?.page.slice(0, limits.nameLength).toWellFormed() ?? null);
      record(cell, placed);
      if (at !== undefined) cell.weeks.count(weekNumber(at), placed);
      countCited(placed);
      countQuestion(turn, placed);
    },
    result: (): Survey => ({
      total,
      undated,
      citedYetUnanswered,
      seen,
      weeks,
      cells: [...cells.values()],
      clusters: clusters.clusters(),
      cited: [...cited.values()],
      hosts,
      left: { ...left, clusters: clusters.dropped },
    }),
  };
}

function record(to: Pick<Cell, 'tally' | 'epochs' | 'seen'>, turn: PlacedTurn): void {
  countTurn(to.tally, turn);
  to.seen.take(turn.at);
  if (turn.isUnanswered !== undefined) to.epochs.count(turn.epoch, turn.isUnanswered);
}

function statusOf(status: string | null): boolean | undefined {
  if (status === 'unanswered') return true;
  return status === 'answered' ? false : undefined;
}
