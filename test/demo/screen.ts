// The demo's screen: finished steps with their times, remarks, and on a terminal one live line with the job's progress
// and the link's remaining lifetime. On a pipe only whole lines, so that the log of a run is readable.

import cliProgress from 'cli-progress';

/** The content of the live line. */
export interface Life {
  readonly job: string;
  readonly progressPercent: number;
  readonly pages: number;
  readonly version: string;
  readonly linkLeftMs: number | undefined;
}

export interface StepTime {
  readonly name: string;
  readonly ms: number;
}

export class Screen {
  readonly #bars: cliProgress.MultiBar;
  readonly #isTerminal: boolean;
  readonly #started = performance.now();
  readonly times: StepTime[] = [];
  readonly #running = new Set<string>();
  #bar: cliProgress.SingleBar | undefined;

  constructor(isTerminal: boolean) {
    this.#isTerminal = isTerminal;
    this.#bars = new cliProgress.MultiBar(
      {
        format: ' {bar} {value} %  {text}',
        barsize: 20,
        hideCursor: true,
        clearOnComplete: true,
        stopOnComplete: false,
        gracefulExit: false,
        // The bar cuts its own text to the width; a command printed above must wrap, or it cannot be copied.
        linewrap: true,
        barCompleteChar: '█',
        barIncompleteChar: '░',
      },
      cliProgress.Presets.shades_classic,
    );
  }

  /** Runs one step and prints it with its time when it is done; a failure is printed and thrown on. */
  async step<T>(
    name: string,
    run: () => Promise<T>,
    describe: (result: T) => string = () => name,
  ): Promise<T> {
    const start = performance.now();
    this.#running.add(name);
    this.#showRunning();
    try {
      const result = await run();
      const ms = performance.now() - start;
      this.times.push({ name, ms });
      this.line(` ✓ ${describe(result).padEnd(78)} ${seconds(ms)}`);
      return result;
    } catch (error) {
      this.line(` ✗ ${name.padEnd(78)} ${seconds(performance.now() - start)}`);
      throw error;
    } finally {
      this.#running.delete(name);
      this.#showRunning();
    }
  }

  remark(text: string): void {
    this.line(`   ${text}`);
  }

  line(text: string): void {
    if (this.#isTerminal && this.#bar !== undefined) this.#bars.log(`${text}\n`);
    else process.stdout.write(`${text}\n`);
  }

  /** Replaces the live line. Nothing on a pipe. */
  live(life: Life): void {
    this.bar(life.progressPercent, describeLife(life));
  }

  bar(percent: number, text: string): void {
    if (!this.#isTerminal) return;
    const cut = text.slice(0, Math.max(20, (process.stdout.columns ?? 80) - 32));
    this.#bar ??= this.#bars.create(100, 0, { text: cut });
    this.#bar.update(Math.round(percent), { text: cut });
  }

  /** Shows the running step, so that a long step is not mistaken for a hang. */
  #showRunning(): void {
    const names = [...this.#running];
    if (names.length > 0) this.bar(0, `${names.join(', ')} …`);
  }

  elapsed(): string {
    return seconds(performance.now() - this.#started).trim();
  }

  close(): void {
    this.#bars.stop();
    this.#bar = undefined;
  }
}

/** The live line's text, as a pure function of its data. */
export function describeLife({ job, pages, version, linkLeftMs }: Life): string {
  const left =
    linkLeftMs === undefined
      ? 'no link yet'
      : linkLeftMs < 0
        ? 'link dead'
        : `link ${clock(linkLeftMs)} left`;
  return [`job ${job}`, `${pages} pages`, version === '' ? 'nothing published' : version, left].join(' · ');
}

function clock(ms: number): string {
  const whole = Math.floor(ms / 1000);
  return `${String(Math.floor(whole / 60)).padStart(2, '0')}:${String(whole % 60).padStart(2, '0')}`;
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`.padStart(8);
}
