// Why the listing of a window did not come to its end: the export API refuses its own cursor, or its pages lead nowhere. A
// shorter window may come to its end. Refuses what concerns the whole run, such as a key or a network.

import { ExportApiError } from '../export-api/answers.ts';
import type { PacedListing } from './paced-listing.ts';

/** A cursor does not outlive its time. */
export class CursorLost extends Error {}

const cursorRefusals: ReadonlySet<string> = new Set(['BadRequest', 'NotFound', 'Gone', 'Conflict']);

/** The same listing, where a refused cursor is a {@link CursorLost}. */
export function withCursorLost(listing: PacedListing): PacedListing['listConversations'] {
  return async (query, signal) => {
    try {
      return await listing.listConversations(query, signal);
    } catch (error) {
      if (!(error instanceof ExportApiError)) throw error;
      if (query.cursor === undefined || !cursorRefusals.has(error.code)) throw error;
      throw new CursorLost('the export API refused its own cursor', { cause: error });
    }
  };
}

/** A listing that gives a cursor or its rows twice, or no cursor where it says more. */
export const isBrokenPaging = (error: unknown): error is ExportApiError =>
  error instanceof ExportApiError && error.code === 'UnexpectedAnswer' && error.status === undefined;
