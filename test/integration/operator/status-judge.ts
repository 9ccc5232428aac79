// Checks every status that an operator stores against the rules that other programs rely on. A watch from before its
// first reconcile also sees statuses between two reads of a test.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { brokenRules, type StoredStatus } from '../../support/kstatus-rules.ts';
import type { KubeApi } from '../../support/kube-api.ts';

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

export function createStatusJudge(
  api: Pick<KubeApi, 'watch'>,
  namespaces: readonly (string | undefined)[],
): StatusJudge {
  const broken = new Set<string>();
  const over = new AbortController();
  let seen = 0;
  let isWatching = false;

  const judge = ({ metadata, status }: ReadObject): void => {
    if (status?.conditions === undefined) return;
    seen += 1;
    for (const words of judgeStatus({ metadata, status })) broken.add(`${words} (${JSON.stringify(status)})`);
  };
  // A changed CRD ends every watch; the next one starts with the present objects.
  const look = async (namespace: string | undefined): Promise<void> => {
    while (!over.signal.aborted) {
      await api.watch('sx', namespace, judge, over.signal).catch(() => {});
      await sleep(200);
    }
  };
  return {
    begin: () => {
      if (isWatching) return;
      isWatching = true;
      for (const namespace of namespaces) void look(namespace);
    },
    conclude: () => {
      // First, or a failure below would leave a watch that starts again and again.
      over.abort();
      if (isWatching) assert.ok(seen > 0, 'no status was seen');
      assert.deepEqual([...broken], []);
    },
  };
}
