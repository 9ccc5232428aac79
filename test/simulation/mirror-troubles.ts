// Troubles of a mirror in a scenario run: the registry, its credentials, its copies, and edits of what a resource asks
// of it. None may delay the published link or a status, so none stops links.

import type { MirrorErrorCode } from '#mirror/mirror-error.ts';
import { Dice } from './dice.ts';
import { isLinkless, type MirrorShape, mirrorFields } from './fake-mirror.ts';
import { mirrorSecret, type Simulation } from './simulation.ts';
import type { Trouble } from './troubles.ts';

function ofMirror(begin: (simulation: Simulation) => void): Trouble {
  return ({ simulation }) => {
    if (simulation.mirror.shape === undefined) return { stopsLinks: false };
    begin(simulation);
    return { end: () => restoreMirror(simulation), stopsLinks: false };
  };
}

/** A new version is wanted, so that there is something to copy. */
function exportAgain(simulation: Simulation): void {
  const { vendor, dice } = simulation;
  vendor.contents.set('docs.example.com', {
    name: `content-${dice.between(1, 9)}`,
    pages: dice.between(8, 30),
  });
  simulation.annotate({ 'staticexport.dev/requestedAt': `mirror-${dice.roll()}` });
}

/** The mirror works again, and the resource asks for what it asked at first. The copies are not restored. */
export function restoreMirror(simulation: Simulation): void {
  const { mirror } = simulation;
  if (mirror.shape === undefined) return;
  Object.assign(mirror, { failing: undefined, isHostAllowed: true, takesMs: 1000 });
  simulation.cluster.putSecret(mirrorSecret, { username: 'u', password: 'p' });
  simulation.editSpec(mirrorFields(mirror.shape));
}

const failures: readonly MirrorErrorCode[] = ['Unreachable', 'Denied', 'RepositoryMissing', 'ClockSkewed'];
const shapes: readonly MirrorShape[] = [
  'required',
  'best-effort',
  'linkless',
  'retained',
  'repaired',
  'searched',
];

export const mirrorTroubles: Readonly<Record<string, Trouble>> = {
  'a mirror that refuses': ofMirror((simulation) => {
    simulation.mirror.failing = simulation.dice.pick(failures);
    exportAgain(simulation);
  }),
  'a slow mirror': ofMirror((simulation) => {
    simulation.mirror.takesMs = simulation.dice.between(1, 20) * 60_000;
    exportAgain(simulation);
  }),
  'copies that are lost': ofMirror(({ mirror }) => mirror.copies.clear()),
  'the Secret of a mirror is gone': ofMirror((simulation) => {
    simulation.cluster.secrets.delete(`${mirrorSecret.namespace}/${mirrorSecret.name}`);
    exportAgain(simulation);
  }),
  'a mirror whose host is not allowed': ofMirror((simulation) => {
    simulation.mirror.isHostAllowed = false;
    exportAgain(simulation);
  }),
  'an edit of what a mirror is for': ofMirror((simulation) => {
    // A target that receives the link needs one.
    const allowed = shapes.filter((shape) => simulation.target !== 'Secret' || !isLinkless(shape));
    simulation.editSpec(mirrorFields(simulation.dice.pick(allowed)));
  }),
  'a mirror that refuses a pin': ofMirror((simulation) => {
    const { history = [] } = simulation.status();
    simulation.mirror.failing = simulation.dice.pick(failures);
    if (history.length > 0) simulation.editSpec({ pin: { version: simulation.dice.pick(history).version } });
  }),
};

/** Four of ten resources have a mirror. */
export const drawnMirrorShapes: readonly (MirrorShape | undefined)[] = [
  ...Array.from({ length: 6 }, () => undefined),
  'required',
  'best-effort',
  'linkless',
  'retained',
];
/** Separate dice, so that the mirror does not change the draws of the scenario run. */
const salt = 0x3c0d_51a7;

export const mirrorShapeOf = (seed: number): MirrorShape | undefined =>
  new Dice(seed ^ salt).pick(drawnMirrorShapes);
