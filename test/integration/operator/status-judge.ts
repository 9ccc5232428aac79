// Checks every status that an operator stores against the rules that other programs rely on. A watch from before its
// first reconcile also sees statuses between two reads of a test.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChildProgram } from '../../support/child-program.ts';
import { brokenRules, type StoredStatus } from '../../support/kstatus-rules.ts';

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

interface ReadObject {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly status?: StoredStatus;
}

/** The rules that one status breaks, as text. */
export function judgeStatus({ metadata, status = {} }: ReadObject): readonly string[] {
  const broken = brokenRules(metadata.generation, status, 'any');
  return broken.map((words) => `${metadata.name}: ${words}`);
}

export interface StatusJudge {
  /** Starts the watch; further calls change nothing. */
  begin(): void;
  /** @throws if a rule was broken, or if something was watched and no status was ever seen. */
  conclude(): void;
}

const columns = '{.metadata.name}{" "}{.metadata.generation}{" "}{.status}{"\\n"}';

export function createStatusJudge(
  watch: (args: readonly string[], onLine: (line: string) => void) => Pick<ChildProgram, 'exited'>,
): StatusJudge {
  const broken = new Set<string>();
  let seen = 0;
  let state: 'idle' | 'watching' | 'over' = 'idle';

  const judge = (line: string): void => {
    const [, name = '', generation, text = ''] = /^(\S+) (\d+) (\{.*"conditions".*)$/.exec(line) ?? [];
    if (name === '') return;
    seen += 1;
    const read = { metadata: { name, generation: Number(generation) }, status: JSON.parse(text) };
    for (const words of judgeStatus(read)) broken.add(`${words} (${text})`);
  };
  // A changed CRD ends every watch; the next one starts with the present objects.
  const look = async (): Promise<void> => {
    while (state === 'watching') {
      await watch(['get', 'sx', '-A', '-o', `jsonpath=${columns}`], judge).exited;
      await sleep(200);
    }
  };
  return {
    begin: () => {
      if (state !== 'idle') return;
      state = 'watching';
      void look();
    },
    conclude: () => {
      const wasWatching = state === 'watching';
      // First, or a failure below would leave a watch that starts again and again.
      state = 'over';
      if (wasWatching) assert.ok(seen > 0, 'no status was seen');
      assert.deepEqual([...broken], []);
    },
  };
}
