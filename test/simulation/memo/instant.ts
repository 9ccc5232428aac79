// Replaces `src/platform/wire/instant.ts`: the same times are written and read many times.

import { formatInstant as formatAnew, readInstant as readAnew } from '#platform/wire/instant.ts';
import { byValue } from './memory.ts';

export { wholeSecond } from '#platform/wire/instant.ts';

export const formatInstant = byValue(formatAnew);
const read = byValue((text: string) => readAnew(text));

export function readInstant(text: string | undefined): number | undefined {
  return text === undefined ? undefined : read(text);
}
