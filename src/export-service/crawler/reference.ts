// A reference as it stands in a page, a style sheet or a script, before anybody asks where it leads.
// The readers of each format produce these and nothing else; they never throw and never resolve.

/** How much the site depends on it. */
export type ReferenceUse =
  | 'page' // a visitor may open it: followed, and counted if it is a document
  | 'asset' // a page loads it: missing it is worth a report
  | 'hint'; // it looks like an address: worth a try, no word if there is nothing

export interface Reference {
  readonly text: string;
  readonly use: ReferenceUse;
}
