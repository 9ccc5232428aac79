// Finds the most similar leader of a question without a look at all leaders. Owns what similar means. Invariant: a leader
// that is similar enough shares two words with the question, or one of both has little more than one word; so pairs of
// words lead to it, and single words in those two cases.

import { kindOf, type WordKind } from './question-words.ts';

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
export function similarity(common: number, onlyHere: number, onlyThere: number): number {
  const unmatched =
    oneSidedCost * Math.max(onlyHere, onlyThere) + conflictCost * Math.min(onlyHere, onlyThere);
  return common === 0 ? 0 : common / (common + unmatched);
}

/** Both are sorted. @param there from `start` to `end` */
export function wordSimilarity(
  here: ArrayLike<number>,
  there: ArrayLike<number>,
  start = 0,
  end = there.length,
): number {
  let common = 0;
  let onlyHere = 0;
  let onlyThere = 0;
  for (let one = 0, other = start; one < here.length || other < end; ) {
    const left = one < here.length ? (here[one] ?? 0) : Number.POSITIVE_INFINITY;
    const right = other < end ? (there[other] ?? 0) : Number.POSITIVE_INFINITY;
    if (left === right) common += sharedWeight[kindOf(left)];
    else if (left < right) onlyHere += loneWeight[kindOf(left)];
    else onlyThere += loneWeight[kindOf(right)];
    if (left <= right) one += 1;
    if (right <= left) other += 1;
  }
  return similarity(common, onlyHere, onlyThere);
}

/** Where one word of weight 1 is common, the lighter of both sides has no more besides. */
const mostAroundOne = (1 / enough - 1) / (oneSidedCost + conflictCost);
/** Leaders that are compared for one pair of words, the latest first. Bounds the work for a question. */
const longestWalk = 1000;

export interface LeaderIndex {
  /** Leaders are numbered in the order in which they are added, from 0. @param words sorted */
  add(words: readonly number[]): void;
  /** @returns the number of the most similar leader, of two the older; `undefined`: none is similar enough */
  nearest(words: readonly number[]): number | undefined;
  clear(): void;
}

/** @param maxLeaders more are not added. @param maxWords of a leader */
export function createLeaderIndex(maxLeaders: number, maxWords: number): LeaderIndex {
  const chains = createChains();
  const table = new Uint32Array(maxLeaders * maxWords);
  const sizes = new Uint8Array(maxLeaders);
  /** Number of the question that compared a leader last. */
  const compared = new Uint32Array(maxLeaders);
  let count = 0;
  let question = 0;

  return {
    add: (words) => {
      if (count >= maxLeaders) return;
      table.set(words.slice(0, maxWords), count * maxWords);
      sizes[count] = Math.min(words.length, maxWords);
      for (const key of keysOfLeader(words)) chains.add(key, count);
      count += 1;
    },
    nearest: (words) => {
      let best: number | undefined;
      let most = enough;
      question += 1;
      for (const key of keysOfQuestion(words)) {
        chains.walk(key, longestWalk, (leader) => {
          if (compared[leader] === question) return;
          compared[leader] = question;
          const start = leader * maxWords;
          const score = wordSimilarity(words, table, start, start + (sizes[leader] ?? 0));
          if (score < most || (score === most && best !== undefined && best < leader)) return;
          [best, most] = [leader, score];
        });
      }
      return best;
    },
    clear: () => {
      chains.clear();
      count = 0;
    },
  };
}

function* keysOfLeader(words: readonly number[]): Generator<number> {
  yield* pairsOf(words);
  const isShort = shortAround(words);
  for (const word of words) {
    yield anyKey(word);
    if (isShort(word)) yield shortKey(word);
  }
}

function* keysOfQuestion(words: readonly number[]): Generator<number> {
  yield* pairsOf(words);
  const isShort = shortAround(words);
  for (const word of words) yield isShort(word) ? anyKey(word) : shortKey(word);
}

/** @returns whether the other words weigh so little that the one is enough */
function shortAround(words: readonly number[]): (word: number) => boolean {
  const all = words.reduce((sum, word) => sum + loneWeight[kindOf(word)], 0);
  return (word) => all - loneWeight[kindOf(word)] <= mostAroundOne;
}

/** Two keys may be equal by accident: then leaders are compared in vain. */
const keyOf = (one: number, other: number): number =>
  Math.imul(one, 0x9e3779b1) ^ Math.imul(other, 0x85ebca6b);
/** Of a leader that has little more than this word. */
const shortKey = (word: number): number => keyOf(word, 1);
/** Of every leader that has this word. */
const anyKey = (word: number): number => keyOf(word, 2);

function* pairsOf(words: readonly number[]): Generator<number> {
  for (const [at, one] of words.entries()) {
    for (let next = at + 1; next < words.length; next += 1) yield keyOf(one, words[next] ?? 0);
  }
}

const slots = 2 ** 17;

/** Lists of leaders by key, in a few flat arrays: a map of arrays takes twenty times the memory. */
function createChains() {
  const latest = new Int32Array(slots).fill(-1);
  let earlier = new Int32Array(2 ** 16);
  let leaders = new Int32Array(2 ** 16);
  let used = 0;
  const slotOf = (key: number): number => (key ^ (key >>> 15)) & (slots - 1);
  return {
    add: (key: number, leader: number): void => {
      if (used === leaders.length) [earlier, leaders] = [doubled(earlier), doubled(leaders)];
      earlier[used] = latest[slotOf(key)] ?? -1;
      leaders[used] = leader;
      latest[slotOf(key)] = used;
      used += 1;
    },
    walk: (key: number, most: number, visit: (leader: number) => void): void => {
      let at = latest[slotOf(key)] ?? -1;
      for (let steps = 0; at >= 0 && steps < most; steps += 1) {
        visit(leaders[at] ?? 0);
        at = earlier[at] ?? -1;
      }
    },
    clear: (): void => {
      latest.fill(-1);
      used = 0;
    },
  };
}

function doubled(from: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const to = new Int32Array(from.length * 2);
  to.set(from);
  return to;
}
