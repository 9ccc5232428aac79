// Writes a kit: `kit.json`, its signature, then the OCI image layout in the order of the list. Refuses content that is not as
// long as the list says. Holds one piece of one blob at a time.

import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { OpenBytes } from '../carrier.ts';
import { formatDocument, type KitDocument } from './kit-document.ts';
import { endMark, type FramedEntry, type FramedKit, frameKit } from './kit-frame.ts';
import { type SignKey, signBytes } from './minisign.ts';

export interface NewKit {
  readonly frame: FramedKit;
  /** Called once for each attempt to write. */
  bytes(signal: AbortSignal): AsyncGenerator<Uint8Array>;
}

/**
 * @param contents by path: all files of the document's list
 * @param createdSeconds Unix time, for the signature's comment
 */
export function composeKit(
  document: KitDocument,
  contents: ReadonlyMap<string, OpenBytes>,
  createdSeconds: number,
  key: SignKey,
): NewKit {
  const text = formatDocument(document);
  // The comment that minisign itself writes.
  const comment = `timestamp:${createdSeconds}\tfile:kit.json\thashed`;
  const signature = Buffer.from(signBytes(text, comment, key));
  const frame = frameKit(text.length, signature.length, document.files);
  return {
    frame,
    bytes: async function* (signal) {
      yield* entryBytes(frame.document, () => only(text), signal);
      yield* entryBytes(frame.signature, () => only(signature), signal);
      for (const entry of frame.files) yield* entryBytes(entry, contents.get(entry.path), signal);
      yield endMark;
    },
  };
}

async function* entryBytes(
  { header, size, padding, path }: FramedEntry,
  open: OpenBytes | undefined,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (open === undefined) throw new Error(`no content for ${path}`);
  yield header;
  let length = 0;
  for await (const piece of open()) {
    signal.throwIfAborted();
    length += piece.length;
    yield piece;
  }
  if (length !== size) {
    throw new PublishableError('FileChanged', 'a file changed while it was written to the kit; start again');
  }
  yield padding;
}

/** The bytes of a small file, as a blob is opened. */
export async function* only(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}
