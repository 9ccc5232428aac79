// What a push says at its end: each artifact with its address, digest and tags, and whether it was there already. Pure.

import { readableSize } from '../release/release-table.ts';
import type { Artifact } from './artifact.ts';
import type { PlannedTags } from './push-plan.ts';

export interface Pushed {
  readonly artifact: Pick<Artifact, 'kind' | 'name' | 'root'>;
  readonly plan: PlannedTags;
  /** `undefined` where the version was there. */
  readonly sent: { readonly blobs: number; readonly bytes: number } | undefined;
}

export function pushReport(registry: string, all: readonly Pushed[]): string {
  const rows = all.map(({ artifact, plan, sent }) => {
    const { kind, name, root } = artifact;
    const state = sent === undefined ? 'is there already' : `pushed, ${sentText(sent)}`;
    return `  ${kind.padEnd(6)}${registry}/${name}:${plan.version.tag}\n        ${root.digest}\n        ${[state, minorText(plan)].join('; ')}\n`;
  });
  const isDone = all.every(({ plan, sent }) => sent === undefined && plan.minor?.step !== 'write');
  const start = isDone
    ? `nothing to do: ${registry} has this release, byte for byte`
    : `pushed to ${registry}`;
  return `${start}\n${rows.join('')}`;
}

function minorText({ minor }: PlannedTags): string {
  if (minor === undefined) return 'a prerelease gets no further tag';
  if (minor.step === 'leave') return `${minor.tag} stays at ${minor.newer}`;
  return minor.step === 'write' ? `${minor.tag} names it now` : `${minor.tag} names it`;
}

const sentText = ({ blobs, bytes }: { readonly blobs: number; readonly bytes: number }): string =>
  `${blobs} ${blobs === 1 ? 'blob' : 'blobs'} of ${readableSize(bytes)} sent`;
