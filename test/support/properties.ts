// fast-check, as every test imports it: each property draws the same values in each run, so that a commit is green or red for
// everybody. `npm run fuzz:properties` sets another seed and more runs. What a property fails for is printed with its seed
// and path; make it an example of the property's table.

import * as fastCheck from 'fast-check';

export * from 'fast-check';

const newSeed = process.env['PROPERTY_SEED'];
const timesRuns = Number(process.env['PROPERTY_TIMES_RUNS'] ?? '1');
const fixedSeed = 20_261_128;
const usualRuns = 100;

fastCheck.configureGlobal({ seed: Number(newSeed ?? fixedSeed), numRuns: usualRuns * timesRuns });

/** As `fc.assert`. A seed and a number of runs that a test gives are replaced where new values are searched. */
export function assert<Values>(
  property: fastCheck.IProperty<Values>,
  parameters: fastCheck.Parameters<Values> = {},
): void {
  void fastCheck.assert(property, inThisRun(parameters));
}

/** Of a property that waits. A name of its own, so that the linter sees a promise that is not awaited. */
export async function assertAsync<Values>(
  property: fastCheck.IAsyncProperty<Values>,
  parameters: fastCheck.Parameters<Values> = {},
): Promise<void> {
  await fastCheck.assert(property, inThisRun(parameters));
}

function inThisRun<Values>(parameters: fastCheck.Parameters<Values>): fastCheck.Parameters<Values> {
  const numRuns = (parameters.numRuns ?? usualRuns) * timesRuns;
  return { ...parameters, numRuns, ...(newSeed !== undefined && { seed: Number(newSeed) }) };
}
