// Groups questions that ask the same, one after another: each joins the most similar leader, or becomes one. The leader
// names its cluster, so that questions which come later change no name. Refuses: chains, because a question is compared
// with leaders only, and more clusters than the limit. Invariant: the same questions in the same order give the same clusters.

import { createLeaderIndex } from './leader-index.ts';
import { mostWords, questionWords, wordsName } from './question-words.ts';

export interface Cluster<T> {
  /** Stable: a name of the leader's words. */
  readonly id: string;
  /** Of the leader, as `questionWords` gives them. */
  readonly words: readonly number[];
  /** Questions so far. */
  readonly count: number;
  readonly value: T;
}

export interface QuestionClusters<T> {
  /** @returns the cluster of the question; `undefined` where it has no words */
  add(question: string): Cluster<T> | undefined;
  /** In the order of their first question. */
  clusters(): readonly Cluster<T>[];
  /** Clusters of one question that were dropped, because more than the limit had to be kept. */
  readonly dropped: number;
}

interface Leader<T> {
  readonly id: string;
  readonly words: readonly number[];
  readonly value: T;
  count: number;
  /** From an earlier run: kept, whatever its count. */
  readonly isKnown: boolean;
}

export interface ClusterOptions<T> {
  readonly maxClusters: number;
  /** What the caller keeps for each cluster. */
  newValue(): T;
  /** Leaders of an earlier run, which get their questions again. */
  readonly known?: readonly (readonly number[])[];
}

export function createQuestionClusters<T>(options: ClusterOptions<T>): QuestionClusters<T> {
  const { maxClusters, newValue, known = [] } = options;
  let leaders: Leader<T>[] = [];
  const index = createLeaderIndex(maxClusters, mostWords);
  let dropped = 0;

  const lead = (words: readonly number[], isKnown: boolean): Leader<T> => {
    const leader = { id: wordsName(words), words, value: newValue(), count: 0, isKnown };
    index.add(words);
    leaders.push(leader);
    return leader;
  };
  /** Drops clusters of one question, the oldest first, until half of the room is free. Lossy counting (Manku, Motwani 2002). */
  const makeRoom = (): void => {
    const excess = leaders.length - Math.floor(maxClusters / 2);
    let gone = 0;
    const kept = leaders.filter(({ count, isKnown }) => {
      const isGone = gone < excess && count <= 1 && !isKnown;
      if (isGone) gone += 1;
      return !isGone;
    });
    // Where all are repeated, the rarest go.
    if (kept.length >= maxClusters) {
      kept.sort((a, b) => Number(b.isKnown) - Number(a.isKnown) || b.count - a.count);
      gone += kept.splice(Math.floor(maxClusters / 2)).length;
    }
    dropped += gone;
    leaders = kept;
    index.clear();
    for (const { words } of leaders) index.add(words);
  };

  for (const words of known.slice(0, Math.floor(maxClusters / 2))) if (words.length > 0) lead(words, true);
  return {
    add: (question) => {
      const words = questionWords(question);
      if (words.length === 0) return undefined;
      const found = index.nearest(words);
      if (found === undefined && leaders.length >= maxClusters) makeRoom();
      const leader = (found === undefined ? undefined : leaders[found]) ?? lead(words, false);
      leader.count += 1;
      return leader;
    },
    clusters: () => leaders,
    get dropped() {
      return dropped;
    },
  };
}
