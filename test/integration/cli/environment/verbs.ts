// The two verbs that export a site, `export` and `run --once`, behind one form: what a table over both needs. Each publishes
// into one folder, from a scripted vendor.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { exportWorkplace } from './export-workplace.ts';
import { type RunWorkplace, runWorkplace } from './run-workplace.ts';

export const verbs = ['export', 'run'] as const;
export type Verb = (typeof verbs)[number];

export interface VerbWorkplace extends Pick<RunWorkplace, 'folder' | 'to' | 'vendor' | 'run' | 'runAt'> {
  /** The command line of `run`, without Node, for a process of its own. */
  readonly args: (...more: readonly string[]) => readonly string[];
  /** `run` without this flag. */
  readonly runWithout: (flag: string) => ReturnType<RunWorkplace['run']>;
  /** Nothing was published, and nothing half written is left. */
  readonly assertNothingWritten: () => void;
}

/** @param spec of the manifest of `run`, further lines of it */
export async function workplaceOf(verb: Verb, t: TestContext, spec = ''): Promise<VerbWorkplace> {
  const { folder, vendor, args, run, runAt, runWithout } =
    verb === 'run' ? await runWorkplace(t, spec) : await exportWorkplace(t);
  const to = join(folder, 'site');
  const own = verb === 'run' ? ['--once'] : ['--to', to];
  const given = verb === 'run' ? ['docs.yaml', 'key'] : ['key'];
  return {
    ...{ folder, to, vendor },
    args: (...more) => args(...own, ...more),
    run: (...more) => (verb === 'run' ? run(...more) : run(...own, ...more)),
    runAt: (clockMs, ...more) => (verb === 'run' ? runAt(clockMs, ...more) : runAt(clockMs, ...own, ...more)),
    runWithout: (flag) => runWithout(flag, ...own),
    assertNothingWritten: () => {
      const state = join(folder, 'state');
      assert.deepEqual(
        readdirSync(folder).filter((name) => name !== 'state'),
        given,
      );
      assert.ok(!existsSync(state) || !readdirSync(state).includes('.static-export-work'));
    },
  };
}
