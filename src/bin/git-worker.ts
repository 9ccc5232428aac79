// Composition root of the process that pushes to one git repository, or reads its heads. Started by src/operator/services/git-pusher.ts.
// Of the environment it reads only the usual proxy variables.

import process from 'node:process';
import { readHeads, runPush } from '#operator/git/push-run.ts';
import type { GitHeads, GitPushResult, SentGitTask } from '#operator/git/push-task.ts';
import { readProxySettings } from '#platform/http/proxy-settings.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import { serveTasks } from '#platform/runtime/task.ts';
import { processPort } from '#platform/runtime/task-process.ts';

// A file may hold 130,000 syntax errors, whose stacks would take the process to its limit of memory.
Error.stackTraceLimit = 0;

serveTasks(work, processPort(process));

function work(sent: SentGitTask): Promise<GitPushResult | GitHeads> {
  const context = { clock: systemClock, random: systemRandom, proxy: readProxySettings(process.env) };
  return sent.type === 'push' ? runPush(sent.task, context) : readHeads(sent.task, context);
}
