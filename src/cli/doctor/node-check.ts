// Judges the Node that runs this program: versions with a known flaw, and lines without fixes. A version that no row
// names passes, because Node is newer than this table.

import { isOlder } from '#platform/runtime/version.ts';
import { type Check, passed, warned } from './check.ts';
import type { ProgramFacts } from './cluster-state.ts';

interface NodeLine {
  readonly major: number;
  readonly wrong: string;
  /** The first version without it; absent where the line has none. */
  readonly fixed?: string;
}

const brotli = 'has a reported flaw: its Brotli decoder can write outside of its memory';

/** Exported for the test that the image's build refuses the same ones. */
export const nodeLines: readonly NodeLine[] = [
  { major: 24, wrong: brotli, fixed: '24.22.1' },
  { major: 25, wrong: 'is no longer supported, and gets no fixes' },
  { major: 26, wrong: brotli, fixed: '26.12.1' },
];

/** For the reader of a report too. A Node older than the first row does not start this program. */
export function checkNode({ node }: ProgramFacts): readonly Check[] {
  const line = nodeLines.find(({ major }) => Number.parseInt(node, 10) === major);
  const isFixed = line === undefined || (line.fixed !== undefined && !isOlder(node, line.fixed));
  if (isFixed) return [passed('NodeVersion', `Node ${node}.`)];
  const choices = nodeLines.flatMap(({ fixed }) => fixed ?? []);
  return [
    warned(
      'NodeVersion',
      `Node ${node} ${line.wrong}.`,
      `Install Node ${choices.join(' or ')}, or a newer one of these lines.`,
    ),
  ];
}
