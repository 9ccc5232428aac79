// Which turns were delivered, by hashes alone: decides whether a row is new, changed or known. Owns the ordinals of exact
// twins. Refuses text: a state that is stolen shows no question. Invariant: a batch changes nothing of the database
// until it is stored, together with what else the commit holds.

import type { DatabaseSync } from 'node:sqlite';
import { contentHash, earlierHashes, hashFields, type ReadTurn, turnKey } from './turn.ts';

/** One turn that was delivered. Twins share the base. */
interface KnownTurn {
  readonly base: string;
  readonly ordinal: number;
  response: string;
  content: string;
  /** Number of the reading that saw it last. */
  reading: number;
  isChanged: boolean;
}

export type Recognized = {
  /** Number of the reading that saw it last; `undefined` for a new one. */
  readonly seenBy: number | undefined;
} & (
  | { readonly kind: 'known' }
  | {
      readonly kind: 'insert' | 'update';
      readonly turnKey: string;
      readonly contentHash: string;
    }
);

/** Rows that are recognized together, and stored when a sink has them. */
export interface TurnBatch {
  /** A row comes at most once in a page, so that an equal one in it is a twin. */
  nextPage(): void;
  /**
   * @param answer of the row, also where the turn has none for a sink
   * @param reading number of the reading of this window
   */
  recognize(turn: ReadTurn, answer: string | null, reading: number): Recognized;
  /** Writes what changed; inside the caller's transaction. */
  store(): void;
}

export const knownTurnsTable =
  'CREATE TABLE IF NOT EXISTS turn (base TEXT NOT NULL, ordinal INTEGER NOT NULL, response TEXT NOT NULL, content TEXT NOT NULL, reading INTEGER NOT NULL, at INTEGER, PRIMARY KEY (base, ordinal)) WITHOUT ROWID';

/** 96 bits: a collision among a billion turns has the probability of 1 in 10^11. */
const shortened = (hash: string): string => Buffer.from(hash.slice(0, 24), 'hex').toString('base64url');

export function createKnownTurns(database: DatabaseSync) {
  const select = database.prepare('SELECT ordinal, response, content, reading FROM turn WHERE base = ?');
  const upsert = database.prepare(
    'INSERT INTO turn (base, ordinal, response, content, reading, at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (base, ordinal) DO UPDATE SET response = excluded.response, content = excluded.content, reading = excluded.reading',
  );
  const load = (base: string): KnownTurn[] =>
    select.all(base).map((row) => ({
      base,
      ordinal: Number(row['ordinal']),
      response: String(row['response']),
      content: String(row['content']),
      reading: Number(row['reading']),
      isChanged: false,
    }));

  return {
    newBatch(): TurnBatch {
      const loaded = new Map<string, { readonly at: number | null; readonly twins: KnownTurn[] }>();
      let onPage = new Set<KnownTurn>();
      const twinsOf = (base: string, turn: ReadTurn): KnownTurn[] => {
        const found = loaded.get(base);
        if (found !== undefined) return found.twins;
        const twins = load(base);
        loaded.set(base, { at: turn.timestamp === null ? null : Date.parse(turn.timestamp), twins });
        return twins;
      };
      return {
        nextPage: () => {
          onPage = new Set();
        },
        recognize: (turn, answer, reading) => {
          const first = turnKey(turn, 0);
          const base = shortened(first);
          const twins = twinsOf(base, turn);
          const whole = contentHash(turn);
          const row = { response: shortened(hashFields([answer])), content: shortened(whole), reading };
          const found = findTwin(twins, row, onPage);
          if (found === undefined) {
            const added = { base, ordinal: twins.length, ...row, isChanged: true };
            twins.push(added);
            onPage.add(added);
            const key = added.ordinal === 0 ? first : turnKey(turn, added.ordinal);
            return { kind: 'insert', seenBy: undefined, turnKey: key, contentHash: whole };
          }
          onPage.add(found);
          const isSame = [row.content, ...earlierHashes(turn).map(shortened)].includes(found.content);
          const seenBy = found.reading;
          Object.assign(found, row, { isChanged: true });
          if (isSame) return { kind: 'known', seenBy };
          const key = found.ordinal === 0 ? first : turnKey(turn, found.ordinal);
          return { kind: 'update', seenBy, turnKey: key, contentHash: whole };
        },
        store: () => {
          for (const { at, twins } of loaded.values()) {
            for (const one of twins) {
              if (!one.isChanged) continue;
              upsert.run(one.base, one.ordinal, one.response, one.content, one.reading, at);
            }
          }
        },
      };
    },
  };
}

export type KnownTurns = ReturnType<typeof createKnownTurns>;

/**
 * The delivered turn that a row is. Equal rows of one page are twins. In other pages they are one turn: a page may come
 * again, and a listing may move a row whose category changes meanwhile. `undefined`: a new turn.
 */
function findTwin(
  twins: readonly KnownTurn[],
  row: Pick<KnownTurn, 'response' | 'content' | 'reading'>,
  onPage: ReadonlySet<KnownTurn>,
): KnownTurn | undefined {
  const free = twins.filter((one) => !onPage.has(one));
  const isUnseen = (one: KnownTurn): boolean => one.reading !== row.reading;
  const isSameAnswer = (one: KnownTurn): boolean => one.response === row.response;
  return (
    free.find((one) => one.content === row.content) ??
    free.find((one) => isSameAnswer(one) && isUnseen(one)) ??
    free.find(isSameAnswer) ??
    free.find(isUnseen)
  );
}
