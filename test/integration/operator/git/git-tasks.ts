// What the tests of a push share: a task with everything that it needs, and edits of it. The credentials are words that no
// message may hold.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { runPush } from '#operator/git/push-run.ts';
import type { GitEdit, GitEditResult, GitPushResult, GitPushTask } from '#operator/git/push-task.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { maySkip } from '../../../support/may-skip.ts';

/** Why the tests with a git server are skipped here; `false` when they are not. */
export const noGit = maySkip(
  'gitops',
  spawnSync('git', ['--version']).status !== 0 && 'git is not installed',
);

export const secret = 'hunter2-password-of-the-bot';
export const login = { username: 'bot', password: secret };
export const author = { name: 'static-export-operator', email: 'operator@example.com' };
export const noProxy = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined };

export const context = { clock: systemClock, random: systemRandom, proxy: noProxy };

export function taskOf(
  url: string,
  edits: readonly GitEdit[],
  overrides: Partial<GitPushTask> = {},
): GitPushTask {
  return {
    url,
    branch: 'main',
    access: login,
    allowPrivateAddresses: true,
    isHttpAllowed: true,
    userAgent: 'static-export-operator/test',
    limits: { maxBytes: 16 * 1024 * 1024, deadlineMs: 120_000 },
    author,
    edits,
    ...overrides,
  };
}

export function editOf(path: string, version: string, overrides: Partial<GitEdit> = {}): GitEdit {
  return {
    id: path,
    path,
    keyPath: ['staticExport'],
    wanted: { version },
    subject: `Update ${path}`,
    body: `docs/${path}: ${version}`,
    ...overrides,
  };
}

export async function push(task: GitPushTask): Promise<GitPushResult> {
  const result = await runPush(task, context);
  const text = JSON.stringify(result);
  const pair = Buffer.from(`${login.username}:${secret}`).toString('base64');
  for (const word of [secret, pair, 'Basic ', '?service']) assert.ok(!text.includes(word), 'no credential');
  return result;
}

/** The failure of a task that must not push: its code, whether it is temporary, and its message. */
export async function mustFail(task: GitPushTask): Promise<PublishableError> {
  const error: unknown = await push(task).then(
    (result) => assert.fail(JSON.stringify(result)),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof PublishableError, String(error));
  return error;
}

export function outcomesOf(result: GitPushResult): readonly string[] {
  return result.edits.map(shortOf);
}

const shortOf = (edit: GitEditResult): string =>
  edit.outcome === 'refused' ? `refused ${edit.code}` : edit.outcome;
