// Everything that a command gets from outside besides its flags. Owns types only. `bin` fills it from the process, and
// tests from plain values.

import type * as z from 'zod';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import type { Random } from '#platform/runtime/random.ts';
import type { Outcome } from './exit-code.ts';
import type { Progress } from './output/progress.ts';
import type { Block } from './output/screen.ts';
import type { OutputFormat } from './output-format.ts';

export interface CliContext {
  readonly clock: Clock;
  readonly random: Random;
  /** Aborts on the first SIGINT or SIGTERM; its reason is a `CliError` with that outcome. */
  readonly signal: AbortSignal;
  /** How texts name the program: `static-export`, or `kubectl static-export`. */
  readonly called: string;
  /** Format of the result. */
  readonly output: OutputFormat;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Phases and notes, on standard error. */
  readonly progress: Progress;
  /** True where a person watches standard error. */
  readonly isWatched: boolean;
  /** Asks on the terminal; `undefined` where there is none to ask on. */
  confirm(question: string): Promise<boolean | undefined>;
  /** A line on standard output before the result, for commands that go on. Never with `-o json`. */
  print(block: Block): void;
  /** Writes to standard output, and resolves when it has taken the text. Only where the result prints nothing there. */
  writeOut(text: string): Promise<void>;
  /** All of standard input. */
  readStdin(): Promise<string>;
  /** Program of the worker thread that reads archives. */
  readonly bundleWorker: URL;
  /** Program of the worker thread that reads the pages of a site. */
  readonly siteWorker: URL;
  /** Program of the worker thread that plans edits of targets. */
  readonly valuesWorker: URL;
  /** Program of the worker thread that copies bundles to mirrors. */
  readonly mirrorWorker: URL;
  /** Program of the worker thread that reads large pages of conversations. */
  readonly listingWorker: URL;
  /** Program of the process that reads and pushes git repositories. */
  readonly gitWorker: URL;
  /** Program of a process that runs one of the demo’s servers: `bundle-server` or `export-service`. */
  readonly demoWorker: URL;
  /**
   * Runs the bundle server until the signal aborts. Composed in `bin`, because commands import no server.
   *
   * @param flags as on its own command line
   * @param onServing gets the address of the site, base path included, without a trailing slash, when its pages are there
   */
  serve(
    flags: readonly string[],
    onServing: (url: string) => void,
    logger: Logger,
    signal: AbortSignal,
  ): Promise<void>;
}

/** An error or a warning in the result of a command. */
export interface Finding {
  readonly level: 'error' | 'warning';
  /** Stable. */
  readonly code: string;
  /** What is wrong, and then what to do. Printable text without a key or a link. */
  readonly lines: readonly string[];
}

/** The fields of the documents that a command prints, by kind, in addition to `apiVersion` and `kind`. */
export type DocumentShapes = Readonly<Record<string, z.ZodRawShape>>;

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

/** A result whose fields are those of one of the documents. */
export type ResultOf<D extends DocumentShapes, K extends keyof D & string = keyof D & string> = {
  readonly [One in K]: CommandResult<One, Frozen<z.infer<z.ZodObject<D[One]>>>>;
}[K];

/** What a command prints on standard output, and how it ended. */
export interface CommandResult<K extends string = string, Fields = Readonly<Record<string, unknown>>> {
  readonly outcome: Outcome;
  /** Replaces the exit code of the outcome (`--unchanged-exit-code`). */
  readonly exitCode?: number;
  /** Of the document that `-o json` and `-o yaml` print, for example `ArchiveSummary`. */
  readonly kind: K;
  /** The fields of that document. Holds no key and no link. */
  readonly fields: Fields;
  /** The same for a person. */
  readonly lines: readonly Block[];
  /** On a terminal, in place of the lines and of the script. */
  readonly screen?: readonly Block[];
  /** What a pipeline shows apart from its log; absent: the last line, unless the command is done. */
  readonly findings?: readonly Finding[];
  /** Printed as it is, instead of the lines: a program that another one reads. */
  readonly script?: string;
  /** With `-o wide`; absent: as `lines`. */
  readonly wide?: readonly Block[];
  /** The objects with `-o name`, as kubectl names them. */
  readonly names?: readonly string[];
}
