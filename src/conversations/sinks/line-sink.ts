// Turns as lines of text: into a folder with a part for each day, into one file, or to a stream. Owns the names of parts. A
// changed turn is one more line, so that readers take the last line of a key.

import type { PartLedger, Sink } from '../sink.ts';
import type { Turn } from '../turn.ts';
import { PartFiles } from './part-files.ts';

/** How turns are written as lines. */
export interface LineFormat {
  /** Of names of parts: `.ndjson`. */
  readonly ending: string;
  /** The first line of each file, with its line feed; empty where there is none. */
  readonly header: string;
  /** With its line feed. */
  lineOf(turn: Turn): string;
}

/** One JSON object a line. */
export const ndjson: LineFormat = {
  ending: '.ndjson',
  header: '',
  lineOf: (turn) => `${JSON.stringify(turn)}\n`,
};

/** `2026-11-26`, of a turn's own time in UTC; `undated` where it has none. */
export const dayOf = ({ timestamp }: Pick<Turn, 'timestamp'>): string =>
  timestamp === null ? 'undated' : timestamp.slice(0, 10);

/** `turns-2026-11-26.ndjson`, `turns-undated.ndjson`. */
export function lineFolderSink(folder: string, format: LineFormat, ledger: PartLedger): Sink {
  return partSink(folder, (turn) => `turns-${dayOf(turn)}${format.ending}`, format, ledger);
}

/** @param name of the file in its folder */
export function lineFileSink(folder: string, name: string, format: LineFormat, ledger: PartLedger): Sink {
  return partSink(folder, () => name, format, ledger);
}

function partSink(
  folder: string,
  nameOf: (turn: Turn) => string,
  { header, lineOf }: LineFormat,
  ledger: PartLedger,
): Sink {
  const files = new PartFiles(folder, ledger);
  return {
    write: async (turns) => {
      const texts = new Map<string, string>();
      for (const turn of turns) {
        const name = nameOf(turn);
        texts.set(name, (texts.get(name) ?? '') + lineOf(turn));
      }
      for (const [name, text] of texts) await files.append(name, text, header);
    },
    // Each page is a commit, so that a kill repeats one page.
    isFull: () => true,
    flush: () => files.flush(),
    close: () => files.close(),
  };
}

/** The reader of a stream may get a turn again after a kill. @param write resolves when the stream has taken the text */
export function lineStreamSink(write: (text: string) => Promise<void>, { header, lineOf }: LineFormat): Sink {
  let start = header;
  return {
    write: async (turns) => {
      await write(start + turns.map(lineOf).join(''));
      start = '';
    },
    isFull: () => true,
    flush: async () => new Map(),
    close: async () => {},
  };
}
