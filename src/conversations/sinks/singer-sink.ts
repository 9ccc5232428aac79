// Turns as messages of Singer: SCHEMA, RECORD, and STATE when a window was read as a whole. Owns the messages and the state in
// them. The target's copy of the state is the truth, so that this program keeps none. Invariant: a STATE names no window whose
// turns did not come before it.

import * as z from 'zod/mini';
import type { Bookmark, Sink } from '../sink.ts';
import { windowsSchema } from '../windows.ts';
import { allFields, type Fields, keyProperties, singerSchema, singerStream } from './singer-catalog.ts';

const stateSchema = z.object({
  bookmarks: z.object({
    [singerStream]: z.object({
      project: z.string(),
      windows: windowsSchema,
      // The first states had neither.
      stepMs: z.optional(z.number()),
      cycle: z.optional(z.number()),
    }),
  }),
});

export interface SingerState extends Bookmark {
  readonly project: string;
}

/** @returns `undefined` where it is not a state of this tap */
export function readSingerState(value: unknown): SingerState | undefined {
  const read = stateSchema.safeParse(value);
  if (!read.success) return undefined;
  const { project, windows, stepMs, cycle } = read.data.bookmarks[singerStream];
  return { project, windows, stepMs, cycle };
}

/**
 * @param write resolves when the stream has taken the text
 * @param fields the catalog selects
 */
export function singerSink(
  project: string,
  write: (text: string) => Promise<void>,
  fields: Fields = allFields,
): Sink {
  let hasSchema = false;
  const send = (messages: readonly object[]): Promise<void> =>
    write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  const begin = async (): Promise<void> => {
    if (hasSchema) return;
    hasSchema = true;
    await send([
      { type: 'SCHEMA', stream: singerStream, schema: singerSchema(fields), key_properties: keyProperties },
    ]);
  };
  return {
    write: async (turns) => {
      await begin();
      await send(
        turns.map((turn) => ({
          type: 'RECORD',
          stream: singerStream,
          record: Object.fromEntries(Object.entries(turn).filter(([name]) => fields.has(name))),
          time_extracted: turn.observed_at,
        })),
      );
    },
    isFull: () => true,
    flush: async () => new Map(),
    keepBookmark: async ({ windows, stepMs, cycle }) => {
      await begin();
      const bookmark = { project, windows, stepMs, cycle };
      await send([{ type: 'STATE', value: { bookmarks: { [singerStream]: bookmark } } }]);
    },
    close: async () => {},
  };
}
