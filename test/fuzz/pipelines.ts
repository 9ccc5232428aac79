// Fuzzing of the two ways to answer a request against each other, on demand:
// `node test/fuzz/pipelines.ts --count 1000000 --seed 1 [--at-once 8]`. Random pipelines go to a port that answers plain
// requests on the connection itself and to one that does not. Ends with 1 and the first pipelines that were answered
// differently; `--seed S --from N --count 1` repeats pipeline N.

import { parseArgs } from 'node:util';
import * as fc from '../support/properties.ts';
import { isAlike, openTwinPorts, pipelines, type Side, talk } from './twin-ports.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    'at-once': { type: 'string', default: '8' },
  },
});
const [count, seed, from] = [Number(values.count), Number(values.seed), Number(values.from)];
const atOnce = Number(values['at-once']);
const mostShown = 20;

const twins = await openTwinPorts();
const { full, quick } = twins;
const start = performance.now();
const seconds = (): number => Math.round((performance.now() - start) / 1000);
const different: string[] = [];
let resets = 0;
let repeated = 0;

/** Pipelines are drawn in blocks, because the first ones that a seed draws are much alike. */
const blockLength = 1000;
let block: { readonly number: number; readonly pipelines: readonly (readonly Buffer[])[] } | undefined;

function pipelineAt(at: number): readonly Buffer[] {
  const number = Math.floor(at / blockLength);
  if (block?.number !== number) {
    const blockSeed = (Math.imul(seed, 0x9e3779b1) + Math.imul(number, 0x85ebca6b)) | 0;
    block = { number, pipelines: fc.sample(pipelines, { seed: blockSeed, numRuns: blockLength }) };
  }
  return block.pipelines[at % blockLength] ?? [];
}

/** A reset that came before anything was read hides both answers: such a pipeline is sent again. */
async function compare(at: number, pieces: readonly Buffer[], attemptsLeft = 3): Promise<void> {
  const [one, other] = await Promise.all([full, quick].map((side) => talk(side, pieces)));
  if (one === undefined || other === undefined) return;
  if (one.wasReset || other.wasReset) resets += 1;
  if (isAlike(one, other)) return;
  if (attemptsLeft > 1) {
    repeated += 1;
    return compare(at, pieces, attemptsLeft - 1);
  }
  const heads = (text: string): string =>
    [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status).join();
  different.push(
    `${at}: full ${heads(one.text)} (${one.text.length}), quick ${heads(other.text)} (${other.text.length}) for ${JSON.stringify(pieces.map((piece) => piece.toString('latin1')))}`,
  );
}

/** The answers that the metrics counted, by side. */
const tallies = new Map<Side, Map<string, number>>([full, quick].map((side) => [side, new Map()]));

function tally(side: Side, counted: string): void {
  const one = tallies.get(side);
  one?.set(counted, (one.get(counted) ?? 0) + 1);
}

let next = from;
let said = 0;
async function work(): Promise<void> {
  while (next < from + count && different.length < mostShown) {
    const at = next;
    next += 1;
    await compare(at, pipelineAt(at));
    for (const side of [full, quick]) for (const counted of side.counted.splice(0)) tally(side, counted);
    if (next - from - said >= count / 20) {
      said = next - from;
      console.log(`${said} of ${count} pipelines, ${seconds()} s, ${different.length} different`);
    }
  }
}
await Promise.all(Array.from({ length: atOnce }, work));
await twins.close();
console.log(
  `seed ${seed}: ${next - from} pipelines in ${seconds()} s, ${quick.answeredPlainly()} requests answered plainly`,
);
console.log(`connections reset: ${resets}; sent again: ${repeated}; differences: ${different.length}`);
/** A reset, or a cut on a busy machine, decides whether a request was seen at all: each may be counted on one side alone. */
const countedApart = [
  ...new Set([full, quick].flatMap((side) => [...(tallies.get(side) ?? new Map()).keys()])),
]
  .map((key) => Math.abs((tallies.get(full)?.get(key) ?? 0) - (tallies.get(quick)?.get(key) ?? 0)))
  .reduce((sum, one) => sum + one, 0);
const isCountedAlike = countedApart <= 3 * (resets + repeated);
console.log(
  `answers that one side counted and the other did not: ${countedApart}${isCountedAlike ? '' : ', WRONG'}`,
);
for (const line of different) console.log(line);
process.exitCode = different.length === 0 && isCountedAlike ? 0 : 1;
