// What a crawl leaves out and what it notes, while its waves are settled. Owns their bounds and which example is kept: the
// first in the order of settling. Refuses a second reason for one path. Pure. Invariant: the same calls give the same lists.

import type { ExternalReference } from '#site/references/external.ts';
import type { CrawlNote, SkippedUrl } from './contract.ts';

export type LeftOut = Omit<SkippedUrl, 'path'>;

/** What bodies of the site load from one address of another host. */
export interface ExternalLoad {
  readonly name: string;
  /** Path of the first body that loads it. */
  readonly from: string | undefined;
}

export interface Externals {
  /** By address; a query may be secret. */
  readonly loads: ReadonlyMap<string, ExternalLoad>;
  /** Whether pages prepare connections to other hosts. */
  readonly hasConnections: boolean;
}

export interface LeftOutList {
  /** By path. */
  readonly leftOut: ReadonlyMap<string, LeftOut>;
  readonly notes: ReadonlyMap<string, Omit<CrawlNote, 'code'>>;
  leaveOut(path: string, reason: string, from: string | undefined): void;
  note(code: string, count: number, example: string): void;
  takeExternal(reference: ExternalReference, from: string | undefined): void;
  externals(): Externals;
}

const maxLeftOut = 10_000;
/** A site with more loads pictures that its readers send. */
const maxLoads = 5_000;
const maxLoadsLength = 4 * 1024 * 1024;

export function createLeftOutList(): LeftOutList {
  const leftOut = new Map<string, LeftOut>();
  const notes = new Map<string, { count: number; example: string }>();
  const loads = new Map<string, ExternalLoad>();
  let loadsLength = 0;
  let hasConnections = false;
  const leaveOut = (path: string, reason: string, from: string | undefined): void => {
    if (leftOut.size < maxLeftOut && !leftOut.has(path)) leftOut.set(path, { reason, from });
  };
  const note = (code: string, count: number, example: string): void => {
    if (count === 0) return;
    const known = notes.get(code);
    if (known === undefined) notes.set(code, { count, example });
    else known.count += count;
  };
  const takeLoad = ({ name, href }: ExternalReference, from: string | undefined): void => {
    if (loads.has(href)) return;
    loadsLength += href.length;
    if (loads.size < maxLoads && loadsLength <= maxLoadsLength) loads.set(href, { name, from });
    else leaveOut(name, 'ExternalNotTried', from);
  };
  return {
    leftOut,
    notes,
    leaveOut,
    note,
    takeExternal: (reference, from) => {
      if (reference.kind === 'load') takeLoad(reference, from);
      else if (reference.kind === 'untried') leaveOut(reference.name, 'ExternalNotTried', from);
      else if (reference.kind === 'embedded') note('EmbeddedFromElsewhere', 1, from ?? '/');
      else hasConnections = true;
    },
    externals: () => ({ loads, hasConnections }),
  };
}
