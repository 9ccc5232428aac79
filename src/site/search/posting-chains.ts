// The postings of all terms of an index while it is built: numbers in chains, one after another in blocks of memory outside of the heap.
// Most terms are on one page, and an array for each would take ten times as much. Refuses more postings than a limit, because the limit of a
// thread's heap counts none of them. Invariant: a chain reads as it was appended.

import { PublishableError } from '#platform/wire/publishable-error.ts';

/** The empty chain. A chain is named by its last number. */
export const noPostings = 0;

export interface PostingChains {
  /**
   * @param chain what an earlier call returned
   * @param posting 0 to 2^32 - 1
   * @returns the longer chain, which takes its place
   * @throws {PublishableError} `SearchTooLarge`
   */
  append(chain: number, posting: number): number;
  /** `undefined` for the empty chain. */
  last(chain: number): number | undefined;
  /** In the order of appending. */
  read(chain: number): readonly number[];
}

/** A block has two numbers for each posting. Powers of two, because a chain of a frequent term is long. */
const blockBits = 15;
const blockPostings = 2 ** blockBits;
const inBlock = blockPostings - 1;

/** 128 MB. 4,222 pages of documentation have 1.5 million. */
const maxPostings = 16 * 1024 * 1024;

/** @param most of all chains */
export function createPostingChains(most: number = maxPostings): PostingChains {
  const blocks: Uint32Array[] = [];
  /** The first is the empty chain. */
  let count = 1;
  const numberAt = (posting: number, part: 0 | 1): number =>
    blocks[posting >>> blockBits]?.[(posting & inBlock) * 2 + part] ?? 0;
  return {
    append: (chain, posting) => {
      if (count > most) throw tooLarge();
      const own = count;
      count += 1;
      const block = blocks[own >>> blockBits] ?? new Uint32Array(2 * blockPostings);
      blocks[own >>> blockBits] = block;
      const at = (own & inBlock) * 2;
      block[at] = posting;
      block[at + 1] = chain;
      return own;
    },
    last: (chain) => (chain === noPostings ? undefined : numberAt(chain, 0)),
    read: (chain) => {
      const postings: number[] = [];
      for (let one = chain; one !== noPostings; one = numberAt(one, 1)) postings.push(numberAt(one, 0));
      return postings.reverse();
    },
  };
}

const tooLarge = (): PublishableError =>
  new PublishableError(
    'SearchTooLarge',
    'the search of this site takes too much memory; its pages have too many different words',
    { remedy: 'Publish fewer or shorter pages.' },
  );
