// A command of `static-export` in the process of its test: the same code as the program's, with a played process, so that a
// run costs no start of Node. Refuses: a terminal, colours and servers, which need a process; and a run that leaves anything
// of the test's process changed. A test of what the system does to a program (a kill, a closed pipe) needs a real one.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { getGlobalDispatcher } from 'undici';
import { commandSections } from '#bin/static-export-commands.ts';
import { type CliParts, type CliProcess, runCli } from '#cli/run-cli.ts';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import type { CommandResult } from './command.ts';
import { requirePublishedDocument } from './published-document.ts';
import { seeText } from './secret-watch.ts';

export interface CliOptions {
  /** Its standard input. */
  readonly input?: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where it looks for settings. What it writes is relative to the folder of this process nevertheless. */
  readonly cwd?: string;
  /** Its standard output is for the owner of a key or a link alone. */
  readonly printsSecret?: boolean;
  /** Gets what it writes to standard error, as it is written. */
  readonly onStderr?: (text: string) => void;
  /** Added to the wall clock, as where it was set forward or, with less than 0, back. */
  readonly clockMs?: number;
  /** How many seconds pass for it in one. For waits, where nothing but the test's own servers takes real time. */
  readonly speed?: number;
}

export interface RunningCli {
  /** @throws Error where it printed a document that its published schema does not admit, or left something behind */
  readonly result: Promise<CommandResult>;
  /** What it wrote to standard error so far. */
  readonly stderr: () => string;
  readonly hasExited: () => boolean;
  /** The first one; at a second one a program ends at once, which code in this process cannot. */
  readonly signal: (name: 'SIGINT' | 'SIGTERM') => void;
  /** Ends it in order where it still runs. */
  readonly stop: () => Promise<void>;
}

// Node looks here for the colours of any stream, and its test runner asks for them on a terminal.
process.env['FORCE_COLOR'] = '0';

const builtFolder = process.env['PROGRAMS_FOLDER'];
/** Built ones start sooner. */
const workerOf = (name: string): URL =>
  builtFolder === undefined
    ? new URL(`../../src/bin/${name}-worker.ts`, import.meta.url)
    : new URL(`file://${join(builtFolder, `${name}-worker.mjs`)}`);

const parts: CliParts = {
  bundleWorker: workerOf('bundle'),
  siteWorker: workerOf('site'),
  listingWorker: workerOf('listing'),
  valuesWorker: workerOf('values'),
  mirrorWorker: workerOf('mirror'),
  gitWorker: workerOf('git'),
  demoWorker: workerOf('demo'),
  serve: () => Promise.reject(new Error('a server of a test runs in a process of its own')),
};

class Written extends Writable {
  #text = '';
  readonly #decoder = new TextDecoder();
  readonly #onText: (text: string) => void;
  constructor(onText: (text: string) => void = () => {}) {
    super();
    this.#onText = onText;
  }
  get text(): string {
    return this.#text;
  }
  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    const text = this.#decoder.decode(chunk, { stream: true });
    this.#text += text;
    this.#onText(text);
    done();
  }
}

class PlayedProcess extends EventEmitter implements CliProcess {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  readonly stdout = new Written();
  readonly stderr: Written;
  exitCode: number | undefined;
  readonly exited: Promise<void>;
  readonly #end: () => void;
  readonly #folder: string;

  constructor(words: readonly string[], { input = '', env, cwd = process.cwd(), onStderr }: CliOptions) {
    super();
    this.stderr = new Written(onStderr);
    this.argv = [process.execPath, 'static-export', ...words];
    this.env = { ...process.env, ...env };
    this.stdin = Readable.from([Buffer.from(input)], { objectMode: false });
    this.#folder = cwd;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.exited = promise;
    this.#end = resolve;
  }
  cwd(): string {
    return this.#folder;
  }
  getuid(): number {
    return process.getuid?.() ?? 0;
  }
  exit(code: number): void {
    this.exitCode = code;
    this.#end();
  }
}

/** What a command in this process could change for the next one. */
const sharedState = () => ({
  exitCode: process.exitCode,
  folder: process.cwd(),
  umask: process.umask(),
  env: { ...process.env },
  listeners: process.eventNames().map((name) => [name, process.listenerCount(name)]),
  dispatcher: getGlobalDispatcher(),
});

function clockOf({ clockMs = 0, speed = 1 }: CliOptions): Clock {
  const [startMs, startTime] = [systemClock.monotonic(), systemClock.now()];
  const passedMs = (): number => (systemClock.monotonic() - startMs) * speed;
  return {
    now: () => (speed === 1 ? systemClock.now() : startTime + passedMs()) + clockMs,
    monotonic: () => startMs + passedMs(),
    after: (ms, signal) => systemClock.after(ms / speed, signal),
    deadline: (ms, parent) => systemClock.deadline(ms / speed, parent),
  };
}

/** @param words without the program */
export function startInProcess(words: readonly string[], options: CliOptions = {}): RunningCli {
  assert.ok(options.env?.['FORCE_COLOR'] === undefined, 'colours need a process');
  const played = new PlayedProcess(words, options);
  const { stdout, stderr } = played;
  const before = sharedState();
  const run = async (): Promise<CommandResult> => {
    await runCli(played, commandSections, parts, clockOf(options));
    // Help sets the code, and ends as a program does that has nothing more to do.
    if (played.exitCode === undefined) await played.exited;
    assert.deepEqual(sharedState(), before, 'the command changed the process of its test');
    await requirePublishedDocument(stdout.text);
    if (options.printsSecret !== true) seeText(`the output of ${words.slice(0, 2).join(' ')}`, stdout.text);
    seeText(`the messages of ${words.slice(0, 2).join(' ')}`, stderr.text);
    return { code: played.exitCode ?? 0, stdout: stdout.text, stderr: stderr.text };
  };
  const result = run();
  result.catch(() => {});
  const signal: RunningCli['signal'] = (name) => {
    assert.ok(played.emit(name), `the command does not listen to ${name}`);
  };
  return {
    result,
    stderr: () => stderr.text,
    hasExited: () => played.exitCode !== undefined,
    signal,
    stop: async () => {
      if (played.exitCode === undefined) signal('SIGTERM');
      await result.catch(() => {});
    },
  };
}

/** @param words without the program */
export const runInProcess = (words: readonly string[], options?: CliOptions): Promise<CommandResult> =>
  startInProcess(words, options).result;
