// One of the demo's servers in a process of its own, so that it can be killed and started as in the field. Owns the process
// and all that it writes. Refuses settings and keys of the user's environment. Invariant: the process ends with this one,
// also after kill -9, because its channel closes.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import * as z from 'zod/mini';
import { type Clock, hasWaited } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

export type ServerName = 'bundle-server' | 'export-service';

export interface ChildServer {
  readonly name: ServerName;
  readonly pid: number;
  readonly url: string;
  readonly adminUrl: string;
  /** All that it wrote, on both streams. */
  readonly output: () => string;
  /** Asks it to end, and kills it if that takes long. Resolves when it is gone. */
  stop(): Promise<void>;
  /** SIGKILL. Resolves when it is gone. */
  kill(): Promise<void>;
}

export interface ChildServerContext {
  /** `src/bin/demo-worker.ts`, or where the build put it. */
  readonly program: URL;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const addresses = z.object({ url: z.string(), adminUrl: z.string() });
/** For a server that is asked to end. */
const graceMs = 3000;
/** For its start, on a busy machine. */
const startMs = 30_000;

/** Resolves when it listens. @throws {PublishableError}, the signal's reason */
export async function startChildServer(
  name: ServerName,
  flags: readonly string[],
  { program, env, clock, signal }: ChildServerContext,
): Promise<ChildServer> {
  signal.throwIfAborted();
  const child = fork(program, [name, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: serverEnvironment(env),
    execArgv: [],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const gone = new AbortController();
  const ended = once(child, 'close').then(
    () => gone.abort(),
    () => gone.abort(),
  );
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    if (await hasWaited(clock, graceMs, gone.signal)) await kill();
  };
  try {
    const ends = [signal, gone.signal, clock.deadline(startMs)];
    const [message] = await once(child, 'message', { signal: AbortSignal.any(ends) });
    return { ...addresses.parse(message), name, pid: child.pid ?? 0, output: () => output, stop, kill };
  } catch (error) {
    await kill();
    signal.throwIfAborted();
    const [last = 'no output'] = output.trim().split('\n').slice(-1);
    throw new PublishableError('ServerNotStarted', `the ${name} did not start: ${last}`, {
      cause: error,
    });
  }
}

/** Variables of our programs and of proxies would change the demo; one of them may hold the user’s key. */
const foreignSetting = /^(BUNDLE_SERVER|EXPORT_SERVICE|STATIC_EXPORT)_|_PROXY$/i;

export function serverEnvironment(env: ChildServerContext['env']): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !foreignSetting.test(name)));
}
