// How fast and how large the operator is, beside a controller-runtime operator that does the same reads and
// writes, on a real API server, by turns. To be run alone on a quiet machine:
//   npm run bench:operator -- --resources 10000 --rounds 1
// Prints one line of JSON per round, then the medians and their ratios. Judges nothing.

import { parseArgs } from 'node:util';
import { findContestants } from './contestants.ts';
import { type Figures, measure } from './measures.ts';
import { showProgress } from './progress.ts';
import { quantile } from './quantile.ts';

const usage = `node test/bench/operator/run.ts [flags]
  --resources N      StaticExports of one domain (1000)
  --rounds N         rounds of each contestant (3)
  --workers N        passes at the same time (4)
  --edits N          edits while the first list is worked off (100)
  --idle SECONDS     how long idle is watched (30)
  --phase SECONDS    a phase that takes longer has failed (300 and a third of a second for each resource)
  --only NAME        ours or peer
  --node-flag FLAG   given to our Node, to profile it; may be repeated
`;

const { values } = parseArgs({
  options: {
    resources: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
    workers: { type: 'string', default: '4' },
    edits: { type: 'string', default: '100' },
    idle: { type: 'string', default: '30' },
    phase: { type: 'string' },
    only: { type: 'string' },
    'node-flag': { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', default: false },
  },
});

const print = (facts: object): void => {
  const rounded = (_name: string, value: unknown): unknown =>
    typeof value === 'number' ? Math.round(value * 100) / 100 : value;
  process.stdout.write(`${JSON.stringify(facts, rounded)}\n`);
};

function medianOf(rounds: readonly Figures[]): Figures {
  const names = Object.keys(rounds[0] ?? {});
  const median = (name: string): number =>
    quantile(
      rounds.map((round) => round[name] ?? Number.NaN),
      0.5,
    );
  return Object.fromEntries(names.map((name) => [name, median(name)]));
}

async function main(): Promise<void> {
  const resources = Number(values.resources);
  const sizes = {
    resources,
    edits: Number(values.edits),
    idleSeconds: Number(values.idle),
    phaseSeconds: Number(values.phase ?? 300 + resources / 3),
  };
  const found = await findContestants({ workers: Number(values.workers), nodeFlags: values['node-flag'] });
  const contestants = found.filter(({ name }) => values.only === undefined || name === values.only);
  const all = new Map(contestants.map(({ name }): [string, Figures[]] => [name, []]));
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const contestant of contestants) {
      const { name } = contestant;
      const figures = await measure(contestant, sizes, showProgress(`${name} ${round + 1}`));
      all.get(name)?.push(figures);
      print({ round: name, resources, ...figures });
    }
  }
  const medians = new Map([...all].map(([name, rounds]) => [name, medianOf(rounds)]));
  for (const [name, figures] of medians) print({ median: name, resources, ...figures });
  const [ours, peer] = [medians.get('ours'), medians.get('peer')];
  if (ours === undefined || peer === undefined) return;
  const ratios = Object.entries(ours).map(([name, value]) => [name, value / (peer[name] ?? Number.NaN)]);
  print({ ratio: 'ours / peer', resources, ...Object.fromEntries(ratios) });
}

if (values.help) process.stdout.write(usage);
else await main();
