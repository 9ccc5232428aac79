// Finds the most similar leader of a question without a look at all leaders. Owns what similar means. Invariant: a leader
// that is similar enough shares two words with the question, or one of both has a single word; so pairs of words lead to it.

/**
 * Weights of a word that only one question has, and of a pair of words in which both differ ("create a key", "delete a
 * key"). Purity and completeness for a labelled set are in test/unit/conversations/gaps.
 */
const oneSidedCost = 0.4;
const conflictCost = 1.5;
const enough = 0.55;

/** Tversky's index: 1 for equal sets, 0 without a common word. */
export function similarity(common: number, onlyHere: number, onlyThere: number): number {
  const unmatched =
    oneSidedCost * Math.max(onlyHere, onlyThere) + conflictCost * Math.min(onlyHere, onlyThere);
  return common === 0 ? 0 : common / (common + unmatched);
}

/** The most words that one side may have, where the other has one word. */
const mostAroundOne = 3;
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

  /** Both are sorted. */
  const countCommon = (words: readonly number[], leader: number): number => {
    const start = leader * maxWords;
    const end = start + (sizes[leader] ?? 0);
    let common = 0;
    for (let here = 0, there = start; here < words.length && there < end; ) {
      const left = words[here] ?? 0;
      const right = table[there] ?? 0;
      if (left === right) common += 1;
      if (left <= right) here += 1;
      if (right <= left) there += 1;
    }
    return common;
  };

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
          const common = countCommon(words, leader);
          const score = similarity(common, words.length - common, (sizes[leader] ?? 0) - common);
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
  if (words.length > mostAroundOne) return;
  for (const word of words) yield fewKey(word);
  if (words.length === 1) yield oneKey(words[0] ?? 0);
}

function* keysOfQuestion(words: readonly number[]): Generator<number> {
  if (words.length === 1) yield fewKey(words[0] ?? 0);
  else yield* pairsOf(words);
  if (words.length > 1 && words.length <= mostAroundOne) for (const word of words) yield oneKey(word);
}

/** Two keys may be equal by accident: then leaders are compared in vain. */
const keyOf = (one: number, other: number): number =>
  Math.imul(one, 0x9e3779b1) ^ Math.imul(other, 0x85ebca6b);
/** Of a leader that has few words, this one among them. */
const fewKey = (word: number): number => keyOf(word, 1);
/** Of a leader that has this word alone. */
const oneKey = (word: number): number => keyOf(word, 2);

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
