// Groups questions that ask the same, one after another: each joins the most similar leader, or becomes one. The leader
// names its cluster, so that questions which come later change no name. Refuses: chains, because a question is compared
// with leaders only, and more clusters than the limit. Invariant: the same questions in the same order give the same clusters.

import { questionWords, type WordKind, wordKindOf, wordsName } from './question-words.ts';

export interface QuestionCluster<T> {
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
  add(question: string): QuestionCluster<T> | undefined;
  /** In the order of their first question. */
  clusters(): readonly QuestionCluster<T>[];
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
  readonly weight: number;
}

export interface ClusterOptions<T> {
  readonly maxClusters: number;
  /** What the caller keeps for each cluster. */
  newValue(): T;
  /** Leaders of an earlier run, which get their questions again. */
  readonly known?: readonly (readonly number[])[];
}

/** Of a word that both have. */
const sharedWeight: Readonly<Record<WordKind, number>> = { name: 1, weak: 0.35, action: 1 };
/** Of a word that one has: "create a key" and "delete a key" are two questions, however long the name of the key is. */
const loneWeight: Readonly<Record<WordKind, number>> = { name: 1, weak: 0.35, action: 2 };
/**
 * Costs of what one side has more than the other, and of what both have instead of each other. Chosen with labelled
 * questions of three products; a fourth set shows how they do on questions that they were not chosen for.
 */
const oneSidedCost = 0.3;
const conflictCost = 1;
const enough = 0.45;

/** Tversky's index: 1 for equal sets, 0 without a common word. */
function similarity(common: number, onlyHere: number, onlyThere: number): number {
  const unmatched =
    oneSidedCost * Math.max(onlyHere, onlyThere) + conflictCost * Math.min(onlyHere, onlyThere);
  return common / (common + unmatched);
}

const weightOf = (words: readonly number[]): number =>
  words.reduce((sum, word) => sum + loneWeight[wordKindOf(word)], 0);

export function createQuestionClusters<T>(options: ClusterOptions<T>): QuestionClusters<T> {
  const { maxClusters, newValue, known = [] } = options;
  let leaders: Leader<T>[] = [];
  /** Places of leaders by each of their words. */
  const byWord = new Map<number, number[]>();
  /** By place, for one question: weights of the words that it shares with the leader, and of the same as if one side lacked them. */
  const common = new Float64Array(maxClusters);
  const matched = new Float64Array(maxClusters);
  let dropped = 0;

  const index = ({ words }: Leader<T>, place: number): void => {
    for (const word of words) {
      const places = byWord.get(word);
      if (places === undefined) byWord.set(word, [place]);
      else places.push(place);
    }
  };
  const lead = (words: readonly number[], isKnown: boolean): Leader<T> => {
    const id = wordsName(words);
    const leader = { id, words, value: newValue(), count: 0, isKnown, weight: weightOf(words) };
    index(leader, leaders.push(leader) - 1);
    return leader;
  };
  /** @returns the most similar leader, of two the older; `undefined`: none is similar enough */
  const nearest = (words: readonly number[]): Leader<T> | undefined => {
    const weight = weightOf(words);
    const sharing: number[] = [];
    for (const word of words) {
      const kind = wordKindOf(word);
      for (const place of byWord.get(word) ?? []) {
        if (common[place] === 0) sharing.push(place);
        common[place] = (common[place] ?? 0) + sharedWeight[kind];
        matched[place] = (matched[place] ?? 0) + loneWeight[kind];
      }
    }
    let best = -1;
    let most = enough;
    for (const place of sharing) {
      const both = matched[place] ?? 0;
      const score = similarity(common[place] ?? 0, weight - both, (leaders[place]?.weight ?? 0) - both);
      common[place] = 0;
      matched[place] = 0;
      if (score < most || (score === most && best >= 0 && best < place)) continue;
      [best, most] = [place, score];
    }
    return leaders[best];
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
    byWord.clear();
    leaders.forEach(index);
  };

  for (const words of known.slice(0, Math.floor(maxClusters / 2))) if (words.length > 0) lead(words, true);
  return {
    add: (question) => {
      const words = questionWords(question);
      if (words.length === 0) return undefined;
      const found = nearest(words);
      if (found === undefined && leaders.length >= maxClusters) makeRoom();
      const leader = found ?? lead(words, false);
      leader.count += 1;
      return leader;
    },
    clusters: () => leaders,
    get dropped() {
      return dropped;
    },
  };
}
