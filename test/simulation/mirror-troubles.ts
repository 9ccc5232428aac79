// Troubles of a mirror in a scenario run: it refuses, is slow, or loses its copies. None may delay a link, so none stops
// links. And which resources have a mirror, whose targets then get the reference of the copy.

import type { MirrorErrorCode } from '../../src/mirror/mirror-error.ts';
import { Dice } from './dice.ts';
import type { MirrorPolicy } from './fake-mirror.ts';
import type { Simulation } from './simulation.ts';
import type { Trouble } from './troubles.ts';

function ofMirror(begin: (simulation: Simulation) => void): Trouble {
  return ({ simulation }) => {
    if (!simulation.writesRef) return { stopsLinks: false };
    begin(simulation);
    exportAgain(simulation);
    return { end: () => restoreMirror(simulation), stopsLinks: false };
  };
}

export function restoreMirror({ mirror }: Simulation): void {
  Object.assign(mirror, { failing: undefined, takesMs: 1000 });
}

/** A new version is wanted, so that there is something to copy. */
function exportAgain(simulation: Simulation): void {
  const { vendor, dice } = simulation;
  const name = `content-${dice.between(1, 9)}`;
  vendor.contents.set('docs.example.com', { name, pages: dice.between(8, 30) });
  simulation.annotate({ 'staticexport.dev/requestedAt': `mirror-${dice.roll()}` });
}

const refusals: readonly MirrorErrorCode[] = ['Denied', 'Unreachable', 'RepositoryMissing'];

export const mirrorTroubles: Readonly<Record<string, Trouble>> = {
  'a mirror that refuses': ofMirror(({ mirror, dice }) => {
    mirror.failing = dice.pick(refusals);
  }),
  'a mirror that is slow': ofMirror(({ mirror, dice }) => {
    mirror.takesMs = dice.between(1, 8) * 60_000;
  }),
  'a mirror that loses its copies': ofMirror(({ mirror }) => mirror.copies.clear()),
};

/** A quarter of all resources has a mirror. */
export const mirrorPolicies: readonly (MirrorPolicy | undefined)[] = [
  ...Array.from({ length: 6 }, () => undefined),
  'Required',
  'BestEffort',
];
/** Separate dice, so that the mirror does not change the draws of the scenario run. */
const salt = 0x3a17_70c9;

export const mirrorPolicyOf = (seed: number): MirrorPolicy | undefined =>
  new Dice(seed ^ salt).pick(mirrorPolicies);
