// Troubles of an object that a target writes, in a scenario run: its owner, its controller, the permissions on it. None
// may delay a link or a status, so none stops links.

import type { ForeignObjects } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { Dice } from './dice.ts';
import { type ObjectShape, type ObjectTarget, objectKey } from './object-target.ts';
import type { Simulation } from './simulation.ts';
import type { Trouble } from './troubles.ts';

/** @param begin returns what must be undone in addition to restoring the object */
function ofObject(
  begin: (target: ObjectTarget, simulation: Simulation) => (() => void) | undefined,
): Trouble {
  return ({ simulation }) => {
    const { object } = simulation.owned;
    if (object === undefined) return { stopsLinks: false };
    const undo = begin(object, simulation);
    const end = (): void => {
      undo?.();
      object.restore();
    };
    return { end, stopsLinks: false };
  };
}

/** What only restoring the object must undo. */
function simply(change: (target: ObjectTarget, simulation: Simulation) => void): Trouble {
  return ofObject((target, simulation) => {
    change(target, simulation);
    return undefined;
  });
}

/** The owner's manifest changes, or the settings of the object's controller. */
function changed(change: (target: ObjectTarget, simulation: Simulation) => void): Trouble {
  return simply((target, simulation) => {
    change(target, simulation);
    target.own();
  });
}

/** A new version is wanted, so that the object is written during the trouble. */
function exportAgain({ vendor, dice, annotate }: Simulation, simulation: Simulation): void {
  vendor.contents.set('docs.example.com', {
    name: `content-${dice.between(1, 9)}`,
    pages: dice.between(8, 30),
  });
  annotate.call(simulation, { 'staticexport.dev/requestedAt': `object-${dice.roll()}` });
}

/** Calls for the object are forbidden; what others call is not. */
function forbidden(names: readonly (keyof ForeignObjects)[]): Trouble {
  return ofObject((target, simulation) => {
    const { bend } = simulation;
    simulation.bend = (context, own) => {
      const bent = bend(context, own);
      const refuse = (): Promise<never> =>
        Promise.reject(new ClusterError('Forbidden', 'the operator may not call this'));
      const refused = Object.fromEntries(names.map((name) => [name, refuse]));
      return { ...bent, objects: { ...bent.objects, ...refused } };
    };
    target.own();
    exportAgain(simulation, simulation);
    return () => {
      simulation.bend = bend;
    };
  });
}

/** The object changes between the operator's read and its write. */
function moving(change: (target: ObjectTarget) => void): Trouble {
  return ofObject((target, simulation) => {
    const { objects } = simulation.cluster;
    const { meanwhile } = objects;
    objects.meanwhile = async (call) => {
      await meanwhile(call);
      if (call === 'write' && simulation.dice.isBelow(0.5)) change(target);
    };
    exportAgain(simulation, simulation);
    return () => {
      objects.meanwhile = meanwhile;
    };
  });
}

export const objectTroubles: Readonly<Record<string, Trouble>> = {
  'an object whose owner declares the key': changed((target, { dice }) => {
    target.declared = `from-git-${dice.between(1, 9)}`;
  }),
  'an object whose owner declares the published version': changed((target, simulation) => {
    target.declared = simulation.output()?.['version'];
    exportAgain(simulation, simulation);
  }),
  'an object whose owner leaves the key to others': changed((target, simulation) => {
    target.declared = 'from-git';
    target.isIgnored = true;
    exportAgain(simulation, simulation);
  }),
  'an object that another client reverts': simply((target, { dice }) => {
    target.revertsAfterMs = dice.pick([1000, 10_000, 60_000]);
    target.own();
  }),
  'an object whose rollout fails': simply((target, simulation) => {
    target.ending = 'fails';
    exportAgain(simulation, simulation);
  }),
  'an object whose rollout never ends': simply((target, simulation) => {
    target.ending = 'never';
    exportAgain(simulation, simulation);
  }),
  'an object whose rollout takes an hour': simply((target, simulation) => {
    target.rolloutMs = 3_600_000;
    exportAgain(simulation, simulation);
  }),
  'an object that is paused': changed((target, simulation) => {
    target.isPaused = true;
    exportAgain(simulation, simulation);
  }),
  'an object that vanishes': simply((target, { cluster }) => {
    cluster.objects.remove(target.kind, objectKey);
  }),
  'an object that is replaced': simply((target) => target.replace()),
  'an object that takes its consent back': changed((target) => {
    target.isConsenting = false;
  }),
  'an object that no target can edit': changed((target) => {
    target.isForeign = true;
  }),
  'an object that is replaced before a write': moving((target) => target.replace()),
  'an object whose sources move before a write': moving((target) => {
    target.isReordered = !target.isReordered;
    target.own();
  }),
  'an object that may not be read': forbidden(['readForeign']),
  'an object that may not be written': forbidden(['applyFields', 'patchForeign']),
  'an object whose calls are slow': ofObject((_target, simulation) => {
    const { objects } = simulation.cluster;
    const { meanwhile } = objects;
    objects.meanwhile = async (call) => {
      await meanwhile(call);
      await simulation.clock.after(call === 'read' ? 1000 : 14_000);
    };
    exportAgain(simulation, simulation);
    return () => {
      objects.meanwhile = meanwhile;
    };
  }),
};

/** Half of all resources have none. */
export const objectShapes: readonly (ObjectShape | undefined)[] = [
  ...Array.from({ length: 9 }, () => undefined),
  'HelmRelease',
  'HelmRelease',
  'HelmRelease',
  'Application',
  'Application with sources',
  'Application with text',
  'Application without automated sync',
  'Deployment',
  'StatefulSet',
  'DaemonSet',
];
/** Separate dice, so that the object does not change the draws of the scenario run. */
const salt = 0x0b1e_c700;

export const objectShapeOf = (seed: number): ObjectShape | undefined =>
  new Dice(seed ^ salt).pick(objectShapes);
