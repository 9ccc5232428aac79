// Questions with the intent of their author, and how well clusters follow these intents. Owns the two measures that
// every test of clusters uses.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface LabelledQuestion {
  readonly label: string;
  readonly question: string;
}

const folder = join(import.meta.dirname, '../../../fixtures/conversations');

export function readLabelled(file: string): readonly LabelledQuestion[] {
  let label = '';
  return readFileSync(join(folder, file), 'utf8')
    .split('\n')
    .flatMap((line) => {
      if (line.startsWith('## ')) label = line.slice(3);
      return line.startsWith('- ') ? [{ label, question: line.slice(2) }] : [];
    });
}

export interface ClusterQuality {
  /** Share of questions whose label is the most frequent one of their cluster. */
  readonly purity: number;
  /** Share of questions that are in the largest cluster of their label. */
  readonly completeness: number;
}

export function qualityOf(pairs: readonly (readonly [label: string, cluster: string])[]): ClusterQuality {
  const shareOfLargest = (group: 0 | 1, member: 0 | 1): number => {
    const groups = new Map<string, Map<string, number>>();
    for (const pair of pairs) {
      const counts = groups.get(pair[group]) ?? new Map<string, number>();
      counts.set(pair[member], (counts.get(pair[member]) ?? 0) + 1);
      groups.set(pair[group], counts);
    }
    const largest = [...groups.values()].map((counts) => Math.max(...counts.values()));
    return largest.reduce((sum, one) => sum + one, 0) / pairs.length;
  };
  return { purity: shareOfLargest(1, 0), completeness: shareOfLargest(0, 1) };
}

/** The same order for the same seed. */
export function shuffled<T>(items: readonly T[], seed: number): readonly T[] {
  const result = [...items];
  let state = seed;
  for (let at = result.length - 1; at > 0; at -= 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (at + 1));
    const [one, two] = [result[at], result[other]];
    if (one !== undefined && two !== undefined) [result[at], result[other]] = [two, one];
  }
  return result;
}
