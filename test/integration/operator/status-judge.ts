// Every status that an operator stores, held to the rules that other programs rely on: by a watch from before its
// first pass on, so that what is there between two looks of a test is seen too.

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

/** Of one status, the rules that it breaks, in words. */
export function judgeStatus({ metadata, status = {} }: ReadObject): readonly string[] {
  const broken = brokenRules(metadata.generation, status, 'any');
  return broken.map((words) => `${metadata.name}: ${words}`);
}

export interface StatusJudge {
  /** Watches from now on; again is the same. */
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
  // A changed CRD ends every watch; the next one begins with what is there.
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
      if (state === 'watching') assert.ok(seen > 0, 'no status was seen');
      state = 'over';
      assert.deepEqual([...broken], []);
    },
  };
}
