// Bodies of hot files in memory, so that a page does not read the disk for every visitor. Keyed by content, so a swap
// keeps what did not change. The memory is a ring of blocks that are filled, emptied and filled again: nothing is left
// for the garbage collector, which would let twice the budget accumulate before it runs. The oldest block goes first,
// and what was asked for since it came in stays. A file that is asked for once passes through and is not kept: a crawler
// of the whole site neither fills the memory nor drives out what is hot.
// A reader who is slow keeps the block that his body lies in, but many keep no more than half the budget of them: from
// there on each gets a copy of what he asked for.
// Invariant: blocks exceed the budget by no more than the half of it that is still being sent; a held body never
// changes; one file is read once however many ask at the same time.

/** Bytes of an answer that do not change between `hold` and `release`. */
export interface HeldBytes {
  hold(): void;
  release(): void;
}

/** Of use until the caller returns to the event loop; longer where something of it is held. */
export interface CachedBody {
  readonly bytes: Buffer;
  toSend(start: number, endExclusive: number): BodyPart;
}

/** Comes held, and is released once. */
export interface LoadedBody extends CachedBody {
  release(): void;
}

export interface BodyPart {
  readonly part: Buffer;
  /** For a reader who has not taken all of the part yet: while it is held, the part does not change. */
  readonly held: HeldBytes;
}

export interface BodyCache {
  /** Files larger than this are never held. */
  readonly maxEntryBytes: number;
  get(key: string): CachedBody | undefined;
  /**
   * Reads through: `read` fills the whole buffer, and is called at most once at a time for one content. What is asked for
   * a second time is kept. The body comes held. Rejects as `read` does.
   */
  load(key: string, size: number, read: (into: Buffer) => Promise<void>): Promise<LoadedBody>;
  /** As `load`, without a wait and not held. @throws as `read` does */
  loadAtOnce(key: string, size: number, read: (into: Buffer) => void): CachedBody;
  readonly heldBytes: () => number;
}

const empty = Buffer.alloc(0);

interface Block {
  readonly memory: Buffer;
  filled: number;
  holders: number;
  /** Those of the holders whose readers decide how long. */
  senders: number;
  /** Of a block of many bodies, all of it: one slow reader of one keeps the others' room. */
  readonly sharedBytes: number;
  /** How a sender holds it. */
  readonly held: HeldBytes;
  /** False once it left the ring; bytes that come in later are not remembered. */
  isInRing: boolean;
  readonly entries: Set<Entry>;
}

interface Entry extends LoadedBody {
  readonly key: string;
  readonly block: Block;
  wasAsked: boolean;
}

/** The least room that is taken for a copy. */
const leastCopyBytes = 64 * 1024;

const mostForOneFile = 1024 * 1024;
const mostForOneBlock = 2 * 1024 * 1024;
const leastBlocks = 16;
/** While there is room, so many files asked for once are remembered: as many again may come before one is forgotten. */
const rememberedOnce = 16_384;
const leastRememberedOnce = 64;

const leastBudget = 32 * 1024 * 1024;
const mostBudget = 256 * 1024 * 1024;

/**
 * What the process needs besides does not grow with its limit, so more of a larger limit is for files.
 *
 * @param memoryBytes memory limit of this process, or all memory of the machine
 */
export function defaultBodyBudget(memoryBytes: number): number {
  return Math.min(mostBudget, Math.max(leastBudget, Math.floor(memoryBytes / 4)));
}

/** @param budgetBytes 0 holds nothing */
export function createBodyCache(budgetBytes: number): BodyCache {
  const maxEntryBytes = Math.min(mostForOneFile, Math.floor(budgetBytes / 4));
  const blockBytes = Math.max(
    maxEntryBytes,
    Math.min(mostForOneBlock, Math.floor(budgetBytes / leastBlocks)),
  );
  const mostBlocks = blockBytes === 0 ? 1 : Math.floor(budgetBytes / blockBytes);
  const held = new Map<string, Entry>();
  const loading = new Map<string, { readonly entry: Entry; readonly done: Promise<void> }>();
  /** The last one is being filled. */
  const ring: Block[] = [];
  /** Rooms for copies, by size. */
  const spares = new Map<number, Block>();
  const mostKeptBytes = Math.floor(budgetBytes / 2);
  /** In blocks of many bodies that have senders, wherever they are by now. */
  let keptBytes = 0;
  const blockOf = (memory: Buffer, sharedBytes = 0): Block => {
    const hold = (): void => {
      if (block.senders === 0) keptBytes += sharedBytes;
      block.senders += 1;
      block.holders += 1;
    };
    const release = (): void => {
      block.holders -= 1;
      block.senders -= 1;
      if (block.senders === 0) keptBytes -= sharedBytes;
    };
    const block: Block = {
      memory,
      sharedBytes,
      filled: 0,
      holders: 0,
      senders: 0,
      held: { hold, release },
      isInRing: true,
      entries: new Set(),
    };
    return block;
  };

  let passage = blockOf(empty);
  // What comes into full memory drives out something. Files of a large site that are asked for in turn would drive out
  // each other, and none would be there when it comes again.
  const wasAskedBefore = createRecollection(() =>
    ring.length < mostBlocks ? rememberedOnce : Math.max(leastRememberedOnce, held.size / 4),
  );
  let heldBytes = 0;

  const remember = (entry: Entry): void => {
    if (!entry.block.isInRing || held.has(entry.key)) return;
    held.set(entry.key, entry);
    entry.block.entries.add(entry);
    heldBytes += entry.bytes.length;
  };

  /** A power of two, so that there are few sizes, and a reader keeps at most twice what it requested. */
  const copyOf = (part: Buffer): BodyPart => {
    const room = Math.max(leastCopyBytes, 2 ** Math.ceil(Math.log2(part.length)));
    let spare = spares.get(room);
    if (spare === undefined || spare.holders > 0) {
      spare = blockOf(Buffer.allocUnsafeSlow(room));
      spares.set(room, spare);
    }
    spare.memory.set(part);
    return { part: spare.memory.subarray(0, part.length), held: spare.held };
  };

  const entryOf = (key: string, bytes: Buffer, block: Block): Entry => ({
    key,
    bytes,
    block,
    wasAsked: false,
    release: () => {
      block.holders -= 1;
    },
    toSend: (start, endExclusive) => {
      const part = endExclusive - start === bytes.length ? bytes : bytes.subarray(start, endExclusive);
      const mayStay = block.senders > 0 || keptBytes + block.sharedBytes <= mostKeptBytes;
      return mayStay ? { part, held: block.held } : copyOf(part);
    },
  });

  const append = (block: Block, key: string, size: number): Entry => {
    const bytes = block.memory.subarray(block.filled, block.filled + size);
    block.filled += size;
    return entryOf(key, bytes, block);
  };

  /** Empties the oldest block and fills it again with what was asked for, up to its half. */
  const renewOldest = (oldest: Block): Block => {
    oldest.isInRing = false;
    // Still being sent from: its memory is freed with the last sender.
    const memory = oldest.holders > 0 ? Buffer.allocUnsafeSlow(blockBytes) : oldest.memory;
    const renewed = blockOf(memory, blockBytes);
    const inOrder = [...oldest.entries].sort((a, b) => a.bytes.byteOffset - b.bytes.byteOffset);
    for (const { key, bytes, wasAsked } of inOrder) {
      held.delete(key);
      heldBytes -= bytes.length;
      if (!wasAsked || renewed.filled + bytes.length > blockBytes / 2) continue;
      // Never to the right of where it lies, so that nothing is written over before it was moved.
      memory.set(bytes, renewed.filled);
      remember(append(renewed, key, bytes.length));
    }
    return renewed;
  };

  const allocate = (key: string, size: number): Entry => {
    if (size > maxEntryBytes) throw new RangeError(`${size} bytes are more than one file may take`);
    const last = ring.at(-1);
    if (last !== undefined && last.filled + size <= blockBytes) return append(last, key, size);
    const oldest = ring.length < mostBlocks ? undefined : ring.shift();
    const next =
      oldest === undefined ? blockOf(Buffer.allocUnsafeSlow(blockBytes), blockBytes) : renewOldest(oldest);
    if (next.filled + size <= blockBytes) {
      ring.push(next);
      return append(next, key, size);
    }
    // What stayed leaves no room for this one.
    ring.push(next);
    return allocate(key, size);
  };

  /** Memory that the next uncached file reuses, unless it is still being sent from. */
  const passThrough = (key: string, size: number): Entry => {
    if (size > maxEntryBytes) throw new RangeError(`${size} bytes are more than one file may take`);
    if (passage.holders > 0 || passage.memory.length < size) {
      passage = blockOf(Buffer.allocUnsafeSlow(Math.max(size, passage.memory.length)));
    }
    return entryOf(key, passage.memory.subarray(0, size), passage);
  };

  const startLoading = (key: string, size: number, read: (into: Buffer) => Promise<void>) => {
    const isKept = wasAskedBefore(key);
    const entry = isKept ? allocate(key, size) : entryOf(key, Buffer.allocUnsafeSlow(size), blockOf(empty));
    const done = read(entry.bytes)
      .then(() => {
        if (isKept) remember(entry);
      })
      .finally(() => loading.delete(key));
    const started = { entry, done };
    loading.set(key, started);
    return started;
  };

  return {
    maxEntryBytes,
    get: (key) => {
      const entry = held.get(key);
      if (entry !== undefined) entry.wasAsked = true;
      return entry;
    },
    load: async (key, size, read) => {
      const { entry, done } = loading.get(key) ?? startLoading(key, size, read);
      // From the first moment on: the block must not be filled again while it is read into.
      entry.block.holders += 1;
      try {
        await done;
      } catch (error) {
        entry.release();
        throw error;
      }
      return entry;
    },
    loadAtOnce: (key, size, read) => {
      const isKept = wasAskedBefore(key);
      const entry = isKept ? allocate(key, size) : passThrough(key, size);
      read(entry.bytes);
      if (isKept) remember(entry);
      return entry;
    },
    heldBytes: () => heldBytes,
  };
}

/**
 * True for a key that came once before, unless too many others have come since.
 *
 * @param mostKeys that may come; where it has fallen by more than half, what came before is forgotten
 */
function createRecollection(mostKeys: () => number): (key: string) => boolean {
  let recent = new Set<string>();
  let older = new Set<string>();
  return (key) => {
    const most = mostKeys();
    if (recent.size > 2 * most) recent = new Set();
    if (older.size > 2 * most) older = new Set();
    if (recent.delete(key) || older.delete(key)) return true;
    recent.add(key);
    if (recent.size >= most) {
      older = recent;
      recent = new Set();
    }
    return false;
  };
}
