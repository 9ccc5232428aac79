// The progress of a command on standard error: a bar on a terminal; elsewhere a line for each phase and every 30 s.
// Refuses: standard output, which is for results, and text from outside that is not printable.

import type { Clock } from '../../runtime/clock.ts';
import { printable } from '../../wire/printable-text.ts';
import { withoutWorkflowCommand } from './workflow-text.ts';

export interface Progress {
  /** A phase begins; the one before has ended. */
  phase(name: string): void;
  /** How far the phase is. @param percent 0–100; `undefined` where the end is unknown */
  advance(percent: number | undefined, detail: string): void;
  /** A line that stays. */
  note(text: string): void;
  /** Ends the phase. */
  end(): void;
}

export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const lineEveryMs = 30_000;
const drawEveryMs = 100;
const barWidth = 24;

export function createProgress(stream: ProgressStream, clock: Pick<Clock, 'monotonic'>): Progress {
  return stream.isTTY === true ? createBar(stream, clock) : createLines(stream, clock);
}

function createLines(stream: ProgressStream, clock: Pick<Clock, 'monotonic'>): Progress {
  let name = '';
  let writtenAt = 0;
  const write = (text: string): void => {
    stream.write(`${withoutWorkflowCommand(printable(text))}\n`);
    writtenAt = clock.monotonic();
  };
  return {
    phase: (next) => {
      if (next === name) return;
      name = next;
      write(name);
    },
    advance: (percent, detail) => {
      if (clock.monotonic() - writtenAt >= lineEveryMs) write(`${name}: ${progressText(percent, detail)}`);
    },
    note: write,
    end: () => {
      name = '';
    },
  };
}

/** One line that is drawn again. Narrow terminals get no bar, because a line that wraps cannot be drawn again. */
function createBar(stream: ProgressStream, clock: Pick<Clock, 'monotonic'>): Progress {
  let name = '';
  let drawnAt = Number.NEGATIVE_INFINITY;
  let isDrawn = false;
  const clear = (): void => {
    if (isDrawn) stream.write('\r\u001b[K');
    isDrawn = false;
  };
  const draw = (text: string): void => {
    const columns = stream.columns ?? 80;
    stream.write(`\r\u001b[K${printable(text).slice(0, columns - 1)}`);
    drawnAt = clock.monotonic();
    isDrawn = true;
  };
  return {
    phase: (next) => {
      if (next === name) return;
      name = next;
      draw(name);
    },
    advance: (percent, detail) => {
      if (clock.monotonic() - drawnAt < drawEveryMs) return;
      const hasRoom = (stream.columns ?? 80) >= 60;
      const bar = percent === undefined || !hasRoom ? '' : `${barOf(percent)} `;
      draw(`${name} ${bar}${progressText(percent, detail)}`);
    },
    note: (text) => {
      clear();
      stream.write(`${printable(text)}\n`);
      if (name !== '') draw(name);
    },
    end: () => {
      clear();
      name = '';
    },
  };
}

function progressText(percent: number | undefined, detail: string): string {
  const share = percent === undefined ? '' : `${Math.floor(percent)} %`;
  return [share, detail].filter((part) => part !== '').join(', ');
}

function barOf(percent: number): string {
  const full = Math.round((Math.min(100, Math.max(0, percent)) / 100) * barWidth);
  return `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}]`;
}

export const silentProgress: Progress = {
  phase: () => {},
  advance: () => {},
  note: () => {},
  end: () => {},
};
