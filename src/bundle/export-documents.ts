// Documents that an export writes about itself into its archive. Owns their places and longest sizes, and keeps their bytes while
// an archive is read. Refuses a long one: it counts as absent. Invariant: at most two of each are in memory, one at the root and
// one in a wrapping folder.

/** Below this folder of an archive. */
export const documentFolder = '_sx/';

/** What of the site is not in the archive. */
export const siteReportPath = '_sx/report.json';
/** Content types that the names of files do not show. */
export const siteTypesPath = '_sx/types.json';

/** What is longer is not read. */
export const maxReportBytes: number = 1024 * 1024;
export const maxTypesBytes: number = 2 * 1024 * 1024;

const longestOf: ReadonlyMap<string, number> = new Map([
  [siteReportPath, maxReportBytes],
  [siteTypesPath, maxTypesBytes],
]);

/** No server shows it. @param path of a file in the bundle */
export function isExportDocument(path: string): boolean {
  return longestOf.has(path);
}

export interface DocumentCapture {
  /**
   * Forgets an earlier file of that path, because the later one replaces it.
   *
   * @param size in bytes, as declared
   * @returns what takes the file's bytes; `undefined` for a file that is not a document
   */
  begin(path: string, size: number): ((chunk: Uint8Array) => void) | undefined;
  /** @param path in the archive, with a wrapping folder. @returns `undefined` where there is none that can be read */
  bytesOf(path: string): Uint8Array | undefined;
}

export function createDocumentCapture(): DocumentCapture {
  const chunksOf = new Map<string, Uint8Array[]>();
  let wrapping: string | undefined;
  return {
    begin: (path, size) => {
      chunksOf.delete(path);
      const isAtRoot = isExportDocument(path);
      const slash = path.indexOf('/') + 1;
      const longest = longestOf.get(isAtRoot ? path : path.slice(slash));
      if (longest === undefined || size > longest) return undefined;
      if (!isAtRoot) {
        wrapping ??= path.slice(0, slash);
        // An archive with two such folders has no wrapping folder.
        if (!path.startsWith(wrapping)) return undefined;
      }
      const chunks: Uint8Array[] = [];
      chunksOf.set(path, chunks);
      // A reader may use its buffer again.
      return (chunk) => void chunks.push(Uint8Array.from(chunk));
    },
    bytesOf: (path) => {
      const chunks = chunksOf.get(path);
      return chunks && Buffer.concat(chunks);
    },
  };
}
