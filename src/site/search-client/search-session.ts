// What happens between a typed text and what the panel shows: the last text counts, titles are shown where the texts of pages take
// longer, and a text without a result is reported once. Knows no page: index, timers and report are parameters. Invariant: an answer
// to an earlier text is never shown after a later one was typed.

import type { SearchAnswer, SearchIndex } from '../search/search-results.ts';
import type { PageTimers } from './page/page-timers.ts';

export type SearchView =
  | { readonly kind: 'empty' }
  | { readonly kind: 'searching' }
  | { readonly kind: 'failed' }
  | {
      readonly kind: 'answered';
      readonly query: string;
      readonly answer: SearchAnswer;
      /** Whether the texts of pages are searched too. */
      readonly isFinal: boolean;
    };

export interface SessionDependencies {
  /** @throws where the files of the index cannot be loaded */
  readonly openIndex: () => Promise<SearchIndex>;
  readonly timers: PageTimers;
  readonly show: (view: SearchView) => void;
  /** A text that a reader has left as it is, without a result. */
  readonly reportMissing: (query: string) => void;
}

export interface SearchSession {
  /** Loads the titles, because a reader is about to type. */
  prepare(): void;
  type(text: string): void;
  /** The reader closed the panel, or asked for the first of no results. */
  settle(): void;
}

const shownResults = 20;
/** Keys of one word come faster than this. */
const typingMs = 60;
/** Texts of pages that come sooner are shown at once, without titles in front of them. */
const titlesFirstMs = 80;
/** A reader who looks at an empty list this long has typed all. */
const settledMs = 1500;
const longestQuery = 200;

export function createSearchSession({
  openIndex,
  timers,
  show,
  reportMissing,
}: SessionDependencies): SearchSession {
  let query = '';
  let run: AbortController | undefined;
  let cancelWait = (): void => {};
  let missing: string | undefined;
  const reported = new Set<string>();

  const settle = (): void => {
    cancelWait();
    if (missing === undefined || reported.has(missing)) return;
    reported.add(missing);
    reportMissing(missing);
  };
  const answered = (answer: SearchAnswer): void => {
    if (answer.count === 0 && answer.isPartial === true) {
      show({ kind: 'failed' });
      return;
    }
    show({ kind: 'answered', query, answer, isFinal: true });
    if (answer.count > 0) return;
    missing = query;
    cancelWait = timers.after(settledMs, settle);
  };
  const search = async (signal: AbortSignal): Promise<void> => {
    let index: SearchIndex | undefined;
    let isLate = false;
    const showTitles = (): void => {
      const titles = index?.searchTitles(query, shownResults);
      if (!signal.aborted && titles !== undefined && titles.count > 0) {
        show({ kind: 'answered', query, answer: titles, isFinal: false });
      }
    };
    // From here on: a reader has waited for the index too.
    const cancelTitles = timers.after(titlesFirstMs, () => {
      isLate = true;
      showTitles();
    });
    signal.addEventListener('abort', cancelTitles);
    try {
      index = await openIndex();
      if (signal.aborted) return;
      if (isLate) showTitles();
      const answer = await index.search(query, shownResults, signal);
      if (!signal.aborted) answered(answer);
    } catch {
      if (!signal.aborted) show({ kind: 'failed' });
    } finally {
      cancelTitles();
    }
  };

  return {
    prepare: () => {
      // A failure is shown when a reader types.
      openIndex().catch(() => {});
    },
    type: (text) => {
      const typed = text.normalize('NFC').trim().replace(/\s+/g, ' ').slice(0, longestQuery);
      if (typed === query) return;
      run?.abort();
      cancelWait();
      query = typed;
      missing = undefined;
      if (query === '') {
        show({ kind: 'empty' });
        return;
      }
      const current = new AbortController();
      run = current;
      show({ kind: 'searching' });
      cancelWait = timers.after(typingMs, () => {
        search(current.signal).catch(() => {});
      });
    },
    settle,
  };
}
