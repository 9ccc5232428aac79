// The states of a gap, as a table: what was counted before and after each version, and in which versions its pages changed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcomes } from '#conversations/gaps/counts.ts';
import {
  type GapMemory,
  type GapState,
  gapRules,
  isGap,
  judgeGap,
  upperBound,
} from '#conversations/gaps/judge.ts';
import * as fc from '../../../support/properties.ts';

/** `unanswered/turns`. */
const counts = (...texts: readonly string[]): readonly Outcomes[] =>
  texts.map((text) => {
    const [unanswered = 0, turns = 0] = text.split('/').map(Number);
    return { turns, unanswered };
  });

interface Row {
  readonly name: string;
  /** Before the first version, then of each version: v1, v2, … */
  readonly counts: readonly Outcomes[];
  readonly changes?: readonly number[];
  readonly previous?: GapMemory;
  readonly state: GapState | undefined;
  readonly closedIn?: string;
  readonly waitingIn?: string;
}

const closedInV2: GapMemory = {
  closed: {
    version: 'v2',
    before: { turns: 10, unanswered: 10 },
    after: { turns: 12, unanswered: 0 },
  },
  counts: [
    { version: null, turns: 10, unanswered: 10 },
    { version: 'v2', turns: 12, unanswered: 0 },
  ],
};
const reopenedInV3: GapMemory = { ...closedInV2, reopened: { version: 'v3' } };

const rows: readonly Row[] = [
  { name: 'no turn is no gap', counts: counts(), state: undefined },
  { name: 'a page whose questions are answered is no gap', counts: counts('1/40'), state: undefined },
  { name: 'one unanswered turn is no gap', counts: counts('1/1'), state: undefined },
  { name: 'two unanswered turns are too few', counts: counts('2/2'), state: 'TooFewTurns' },
  { name: 'three of five unanswered turns are a gap', counts: counts('3/5'), state: 'Open' },
  {
    name: 'a change without later turns waits for them',
    counts: counts('0/0', '8/10', '0/0'),
    changes: [1],
    state: 'TooFewTurns',
    waitingIn: 'v2',
  },
  {
    name: 'a change with nine later turns waits for one more',
    counts: counts('8/10', '0/0', '0/9'),
    changes: [1],
    state: 'TooFewTurns',
    waitingIn: 'v2',
  },
  {
    name: 'a change with ten answered turns closes the gap',
    counts: counts('8/10', '0/0', '0/10'),
    changes: [1],
    state: 'Closed',
    closedIn: 'v2',
  },
  { name: 'no page changed, and the gap stays open', counts: counts('8/10', '0/0', '0/10'), state: 'Open' },
  {
    name: 'the assistant learns a change later, and the change closes the gap all the same',
    counts: counts('0/0', '4/5', '4/5', '0/10'),
    changes: [1],
    state: 'Closed',
    closedIn: 'v2',
  },
  {
    name: 'a rate that fell a little stays open',
    counts: counts('8/10', '5/10'),
    changes: [0],
    state: 'Open',
  },
  {
    name: 'a rate that halved by chance stays open',
    counts: counts('3/10', '1/10'),
    changes: [0],
    state: 'Open',
  },
  {
    name: 'the second of two changes closes it',
    counts: counts('9/10', '9/10', '0/12'),
    changes: [0, 1],
    state: 'Closed',
    closedIn: 'v2',
  },
  {
    name: 'the first of two changes closes it',
    counts: counts('9/10', '0/12', '0/12'),
    changes: [0, 1],
    state: 'Closed',
    closedIn: 'v1',
  },
  {
    name: 'of two changes in short order the later one closes it',
    counts: counts('9/10', '0/3', '0/12'),
    changes: [0, 1],
    state: 'Closed',
    closedIn: 'v2',
  },
  {
    name: 'a closed gap stays closed',
    counts: counts('10/10', '0/0', '1/20'),
    previous: closedInV2,
    changes: [1],
    state: 'Closed',
    closedIn: 'v2',
  },
  {
    name: 'a closed gap stays closed while few turns say otherwise',
    counts: counts('10/10', '0/0', '8/20'),
    previous: closedInV2,
    changes: [1],
    state: 'Closed',
    closedIn: 'v2',
  },
  {
    name: 'a closed gap whose rate rose again is reopened',
    counts: counts('10/10', '0/0', '0/12', '9/11'),
    previous: closedInV2,
    changes: [1],
    state: 'Reopened',
  },
  {
    name: 'turns of a store that was pruned are remembered',
    counts: counts('0/0', '0/0', '0/2', '9/11'),
    previous: closedInV2,
    changes: [1],
    state: 'Reopened',
  },
  {
    name: 'a reopened gap stays so',
    counts: counts('10/10', '0/0', '0/12', '9/11', '1/3'),
    previous: reopenedInV3,
    changes: [1],
    state: 'Reopened',
  },
  {
    name: 'a reopened gap is not closed by the version before',
    counts: counts('10/10', '0/0', '0/12', '9/11', '0/20'),
    previous: reopenedInV3,
    changes: [1, 2],
    state: 'Reopened',
  },
  {
    name: 'a later change closes a reopened gap',
    counts: counts('10/10', '0/0', '0/12', '9/11', '0/20'),
    previous: reopenedInV3,
    changes: [1, 3],
    state: 'Closed',
    closedIn: 'v4',
  },
];

for (const row of rows) {
  test(row.name, () => {
    const versions = row.counts.slice(1).map((_, at) => `v${at + 1}`);
    const judged = judgeGap({
      versions,
      changes: row.changes ?? [],
      counts: row.counts,
      previous: row.previous,
    });
    assert.equal(judged?.state, row.state);
    if (row.closedIn !== undefined) assert.equal(judged?.closed?.version, row.closedIn);
    assert.equal(judged?.waiting?.version, row.waitingIn);
  });
}

test('a gap that was closed by a version which is no longer listed is judged by the listed ones', () => {
  const judged = judgeGap({
    versions: ['v8', 'v9'],
    changes: [],
    counts: counts('10/22', '0/3', '0/4'),
    previous: closedInV2,
  });
  assert.equal(judged?.state, 'Closed');
  assert.deepEqual(judged?.outcomes, { turns: 7, unanswered: 0 });
});

const outcomes = fc
  .nat(40)
  .chain((turns) => fc.record({ turns: fc.constant(turns), unanswered: fc.nat(turns) }));

test('a gap is only closed in a version in which one of its pages changed, with enough turns around it', () => {
  fc.assert(
    fc.property(fc.array(outcomes, { maxLength: 6 }), fc.subarray([0, 1, 2, 3, 4]), (all, changes) => {
      const versions = all.slice(1).map((_, at) => `v${at}`);
      const judged = judgeGap({
        versions,
        changes: changes.filter((at) => at < versions.length),
        counts: all,
        previous: undefined,
      });
      if (judged?.state !== 'Closed' || judged.closed === undefined) return;
      const { version, before, after } = judged.closed;
      assert.ok(changes.includes(versions.indexOf(version)));
      assert.ok(isGap(before) && after.turns >= gapRules.laterTurns);
    }),
  );
});

test('the same turns judged again with the report before give the same state', () => {
  fc.assert(
    fc.property(fc.array(outcomes, { maxLength: 6 }), fc.subarray([0, 1, 2, 3, 4]), (all, changes) => {
      const versions = all.slice(1).map((_, at) => `v${at}`);
      const input = { versions, changes: changes.filter((at) => at < versions.length), counts: all };
      const first = judgeGap({ ...input, previous: undefined });
      if (first === undefined) return;
      const second = judgeGap({ ...input, previous: first });
      assert.equal(second?.state, first.state);
      assert.deepEqual(second?.closed, first.closed);
    }),
  );
});

test('the bound of a rate falls with more turns, and is never below the rate', () => {
  fc.assert(
    fc.property(outcomes, ({ turns, unanswered }) => {
      const bound = upperBound({ turns, unanswered });
      assert.ok(bound <= 1.000001 && bound >= (turns === 0 ? 1 : unanswered / turns) - 1e-9);
      assert.ok(upperBound({ turns: turns * 2, unanswered: unanswered * 2 }) <= bound + 1e-9);
    }),
  );
});
