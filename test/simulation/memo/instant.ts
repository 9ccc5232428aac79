// Replaces `src/wire/instant.ts`: the same times are written and read many times.

import { formatInstant as formatAnew, readInstant as readAnew } from '#wire/instant.ts';
import { byValue } from './memory.ts';

export { wholeSecond } from '#wire/instant.ts';

export const formatInstant = byValue(formatAnew);
const read = byValue((text: string) => readAnew(text));

export function readInstant(text: string | undefined): number | undefined {
  return text === undefined ? undefined : read(text);
}
