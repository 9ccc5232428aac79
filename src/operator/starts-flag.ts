// The flag for plans with another number of starts in an hour. The operator and the commands without a cluster share it.
// Refuses: loading more than flag kinds and names, because `--help` of any command loads it.

import { FlagValueError, kind } from '#platform/runtime/flags/flag-kinds.ts';
import { defaultStartsPerHour, mostStartsPerHour } from './staticexport/names.ts';

const startCount = kind('N', (text) => {
  if (!/^\d{1,3}$/.test(text) || Number(text) > mostStartsPerHour)
    throw new FlagValueError(`must be a whole number from 0 to ${mostStartsPerHour}`);
  return Number(text);
});

export const startsPerHour = startCount.withDefault(
  String(defaultStartsPerHour),
  `Starts that one key may have in an hour, where the export API is asked by project (0–${mostStartsPerHour}; 0: no limit)`,
);
