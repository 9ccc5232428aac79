// Troubles of a target's document and of archive inspections in a scenario run. None may delay the refresh of the
// published link, so none stops links.

import { ownDocument, type TargetKind } from './target-document.ts';
import type { Trouble } from './troubles.ts';

/** The document's owner changes it, and restores it at the end. */
function changed(text: string | undefined, isConsenting: boolean): Trouble {
  return ({ simulation }) => {
    const kind = simulation.target;
    if (kind === undefined) return { stopsLinks: false };
    ownDocument(simulation, kind, text, isConsenting);
    return { end: () => ownDocument(simulation, kind), stopsLinks: false };
  };
}

/** Writes of the document are refused, or their answers lost, during the trouble. */
function failingWrites(fault: 'refused' | 'lost'): Trouble {
  return ({ simulation }) => {
    const { faults, target } = simulation;
    simulation.faults = { next: (name) => (name === 'cluster.editDocument' ? fault : faults.next(name)) };
    if (target !== undefined) ownDocument(simulation, target);
    const end = (): void => {
      simulation.faults = faults;
    };
    return { end, stopsLinks: false };
  };
}

/** Every inspection has this fault; a new export is requested, so that there is an inspection. */
function failingReads(fault: 'crash-before' | 'lost' | 'verdict'): Trouble {
  return ({ simulation }) => {
    const { faults } = simulation;
    if (fault === 'verdict') simulation.vendor.unreadable = 'rejected';
    else simulation.faults = { next: (name) => (name === 'bundles.inspect' ? fault : faults.next(name)) };
    const name = `content-${simulation.dice.between(1, 9)}`;
    simulation.vendor.contents.set('docs.example.com', { name, pages: simulation.dice.between(8, 30) });
    simulation.annotate({ 'staticexport.dev/requestedAt': `unread-${simulation.dice.roll()}` });
    const end = (): void => {
      simulation.faults = faults;
      simulation.vendor.unreadable = undefined;
    };
    return { end, stopsLinks: false };
  };
}

export const targetTroubles: Readonly<Record<string, Trouble>> = {
  'a target is put back as it was': changed(undefined, true),
  'a target takes its consent back': changed(undefined, false),
  'a target is no YAML any more': changed('# the site\nreplicas: 2\n\t- [', true),
  'a target that refuses writes': failingWrites('refused'),
  'a target whose answers are lost': failingWrites('lost'),
  'the reader of archives crashes': failingReads('crash-before'),
  'the reader of archives refuses them': failingReads('verdict'),
  'the reader of archives hangs': failingReads('lost'),
};

/** Most resources have none; one in ten receives every new link. */
export const targetKinds: readonly (TargetKind | undefined)[] = [
  ...Array.from({ length: 6 }, () => undefined),
  'ConfigMap',
  'ConfigMap',
  'ConfigMap',
  'Secret',
];
