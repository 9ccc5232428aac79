// The formats of a result on standard output. Owns their names, which are API. Refuses: writing any of them; that is in
// output/.

export type OutputFormat = 'text' | 'wide' | 'name' | 'json' | 'yaml';

/** Of every command. `wide` and `name` are for those that show objects. */
export const documentFormats = ['text', 'json', 'yaml'] as const satisfies readonly OutputFormat[];
