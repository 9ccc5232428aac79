// `demo`: the whole loop on this machine, with a docs site of its own, and each claim checked. Owns its folder and its end:
// nothing of it stays, whether the claims hold, one is false, or the user stops it.

import { once as onceOf } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeQuietly } from '#bundle/store/store-disk.ts';
import type { HostPort } from '#platform/runtime/http/http-listener.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { plainScreen, renderBlocks } from '../output/screen.ts';
import { ClaimFailed, createClaims } from './claims.ts';
import type { DemoAnswer } from './documents.ts';
import { type DemoEnvironment, openEnvironment, startFolderLoop } from './environment.ts';
import { startDemoSite } from './origin.ts';
import { demoResult } from './result.ts';
import { tellStory } from './scenario.ts';
import { findSecrets, secretsOf } from './secret-search.ts';

interface DemoValues {
  readonly once: boolean;
  readonly listen: HostPort;
}

export async function runDemo(
  { once, listen }: DemoValues,
  _args: readonly string[],
  context: CliContext,
): Promise<DemoAnswer> {
  const { clock, progress, signal } = context;
  const startedAt = clock.monotonic();
  progress.note('The whole loop on this machine, without a cluster and without a network.');
  const claims = createClaims(progress, clock, signal);
  const folder = await makeTemporaryFolder();
  let demo: DemoEnvironment | undefined;
  try {
    demo = await openEnvironment(folder, listen, context, {
      site: await startDemoSite(clock),
      startLoop: (inFolder, keyFile) => startFolderLoop(inFolder, keyFile, context),
    });
    const { version, digest } = await tellStory({ demo, claims, progress, clock, signal });
    const url = `${demo.siteUrl()}/`;
    const result = demoResult(claims.list, clock.monotonic() - startedAt, { version, digest, url });
    return once || !context.isWatched ? result : await stayUp(result, url, context);
  } catch (error) {
    if (!(error instanceof ClaimFailed)) throw error;
    if (demo !== undefined) showLogs(demo, context);
    return demoResult(claims.list, clock.monotonic() - startedAt, {});
  } finally {
    await demo?.close();
    await removeQuietly(folder);
  }
}

async function makeTemporaryFolder(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), 'static-export-demo-'));
  } catch (cause) {
    const message = `the folder for temporary files cannot be written (${publishableCode(cause)}); name another in TMPDIR`;
    throw new CliError('usage', 'TemporaryFolderRefused', message, { cause });
  }
}

/** The lines are shown now, because the user reads them while the site is up. */
async function stayUp(
  result: DemoAnswer,
  url: string,
  { progress, signal }: CliContext,
): Promise<DemoAnswer> {
  progress.end();
  for (const line of renderBlocks(result.lines, plainScreen)) progress.note(line);
  progress.note(`Open ${url}`);
  progress.note('The vendor is still away. Ctrl-C stops the demo and leaves nothing behind.');
  if (!signal.aborted) await onceOf(signal, 'abort');
  return { ...result, lines: [] };
}

/** The reason of a claim that does not hold is often in a log. */
function showLogs(demo: DemoEnvironment, { progress }: CliContext): void {
  const written = demo.written();
  const secret = findSecrets(written, secretsOf(demo.key, demo.linkQueries));
  for (const [name, text] of written) {
    if (secret.includes(name)) continue;
    progress.note(`Last lines of ${name}:`);
    for (const line of text.trim().split('\n').slice(-3)) progress.note(`  ${line}`);
  }
}
