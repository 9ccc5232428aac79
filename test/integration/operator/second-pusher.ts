// Another client of a git repository: git itself in a clone, which changes one file every second and pushes it over HTTPS.
// Where its push comes too late, it rebases and pushes again, as a person does. Invariant: it never forces a push.

import assert from 'node:assert/strict';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type CommandResult, runCommand } from '../../support/command.ts';
import { removeAfterUs } from '../../support/reaper.ts';

export interface PusherCounts {
  readonly pushed: number;
  /** Pushes that came after another client's. */
  readonly rejected: number;
}

export interface SecondPusher {
  /** The file that it changes; no other client may. */
  readonly path: string;
  readonly counts: PusherCounts;
  /** Resolves when its last commit is pushed. */
  stop(): Promise<void>;
}

const everyMs = 1000;
const mostAttempts = 100;

/** @param url with the credentials */
export async function startSecondPusher(url: string, caPem: string): Promise<SecondPusher> {
  const folder = await mkdtemp(join(tmpdir(), 'second-pusher-'));
  removeAfterUs(folder);
  const caFile = join(folder, 'ca.crt');
  const clone = join(folder, 'clone');
  await writeFile(caFile, caPem);
  const person = ['-c', 'user.name=Other', '-c', 'user.email=other@example.com'];
  const git = (...args: readonly string[]): Promise<CommandResult> =>
    runCommand(['git', ...person, ...args], { env: { GIT_SSL_CAINFO: caFile } });
  const mustGit = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await git(...args);
    assert.equal(code, 0, `git ${args.join(' ')}: ${stderr}`);
  };
  await mustGit('clone', '--quiet', url, clone);
  const path = 'other.yaml';
  const counts = { pushed: 0, rejected: 0 };
  const pushOnce = async (): Promise<void> => {
    const number = counts.pushed + 1;
    await writeFile(join(clone, path), `count: ${number}\n`);
    await mustGit('-C', clone, 'commit', '--quiet', '--all', `--message=other ${number}`);
    for (let attempt = 1; ; attempt += 1) {
      const { code, stderr } = await git('-C', clone, 'push', '--quiet');
      if (code === 0) break;
      assert.match(stderr, /fetch first|non-fast-forward|cannot lock ref|failed to update ref/, stderr);
      assert.ok(attempt < mostAttempts, 'the operator is faster each time');
      counts.rejected += 1;
      await mustGit('-C', clone, 'pull', '--quiet', '--rebase');
    }
    counts.pushed = number;
  };
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const next = delay(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
      await pushOnce();
      await next;
    }
  })();
  running.catch(() => {});
  return {
    path,
    counts,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
