// Stands in for `src/wire/instant.ts`: the same instants are written and read over and over.

import { formatInstant as formatAnew, readInstant as readAnew } from '../../../src/wire/instant.ts';
import { byValue } from './memory.ts';

export { wholeSecond } from '../../../src/wire/instant.ts';

export const formatInstant = byValue(formatAnew);
const read = byValue((text: string) => readAnew(text));

export function readInstant(text: string | undefined): number | undefined {
  return text === undefined ? undefined : read(text);
}
