// Reads a small file that someone else chose. Refuses to hold more than a limit, whatever the file claims: a device and a
// pipe have no size, and never end.

import { open } from 'node:fs/promises';

/**
 * @param mostBytes that the file may have
 * @returns `undefined` where it has more
 * @throws the system's own error
 */
export async function readBounded(path: string, mostBytes: number): Promise<string | undefined> {
  const file = await open(path, 'r');
  try {
    const chunks: Buffer[] = [];
    // `end` is inclusive, so one byte more than allowed is read.
    for await (const chunk of file.createReadStream({ end: mostBytes, autoClose: false }))
      chunks.push(Buffer.from(chunk));
    const bytes = Buffer.concat(chunks);
    return bytes.length > mostBytes ? undefined : bytes.toString('utf8');
  } finally {
    await file.close();
  }
}
