// Splits a stream of bytes into lines of text. Refuses a line beyond its limit before the whole line is in memory. Lines are
// decoded whole, because a character may be split between two chunks, but never by a newline.

const newline = 0x0a;

/**
 * Each as soon as its newline is here, without it. Text after the last newline is not a line.
 * @param refuse makes the error for a line above the limit, from its number (from 1)
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
  refuse: (lineNumber: number) => Error,
): AsyncGenerator<string> {
  let lineNumber = 1;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  const hold = (piece: Uint8Array): void => {
    held.push(piece);
    heldBytes += piece.byteLength;
    if (heldBytes > maxLineBytes) throw refuse(lineNumber);
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      hold(chunk.subarray(start, end));
      yield Buffer.concat(held).toString();
      [held, heldBytes] = [[], 0];
      lineNumber += 1;
      start = end + 1;
    }
    hold(chunk.subarray(start));
  }
}
