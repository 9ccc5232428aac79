// Takes the messages of a browser's pipe apart: JSON texts, each ended by a NUL. Refuses long ones, which are passed over: a page
// chooses how long a text in its console is, and the answers that are waited for are short. Pure.

export const maxMessageBytes: number = 8 * 1024 * 1024;

export interface MessageReader {
  /** @returns the messages that end in this chunk */
  read(chunk: Uint8Array): readonly string[];
}

/** @param maxBytes of a message */
export function createMessageReader(maxBytes: number = maxMessageBytes): MessageReader {
  let pieces: Uint8Array[] = [];
  let length = 0;
  const take = (piece: Uint8Array): void => {
    length += piece.byteLength;
    if (length <= maxBytes) pieces.push(piece);
    else pieces = [];
  };
  return {
    read: (chunk) => {
      const messages: string[] = [];
      let from = 0;
      for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, from)) {
        take(chunk.subarray(from, end));
        if (length <= maxBytes) messages.push(Buffer.concat(pieces).toString());
        pieces = [];
        length = 0;
        from = end + 1;
      }
      take(chunk.subarray(from));
      return messages;
    },
  };
}
