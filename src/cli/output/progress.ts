// The progress of a command on standard error: a bar on a terminal; elsewhere a line for each phase and every 30 s.
// Refuses: standard output, which is for results, and text from outside that is not printable.

import type { Clock } from '#platform/runtime/clock.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { annotation } from './github-workflow.ts';
import { sectionEnd, sectionStart } from './gitlab-log.ts';
import { wrapText } from './layout.ts';
import { painted } from './paint.ts';
import type { Pipeline } from './pipeline.ts';
import { withoutWorkflowCommand } from './workflow-text.ts';

export interface Progress {
  /** A phase begins; the one before has ended. */
  phase(name: string): void;
  /** How far the phase is. @param percent 0–100; `undefined` where the end is unknown */
  advance(percent: number | undefined, detail: string): void;
  /** A line that stays. A warning is one that a pipeline shows apart from its log; the sign before a claim has its meaning. */
  note(text: string, level?: NoteLevel): void;
  /** Ends the phase. */
  end(): void;
}

export type NoteLevel = 'warning' | 'good' | 'bad';

export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const lineEveryMs = 30_000;
const drawEveryMs = 100;
const barWidth = 24;

type ProgressClock = Pick<Clock, 'now' | 'monotonic'>;

/** @param pipeline that reads the stream */
export function createProgress(
  stream: ProgressStream,
  clock: ProgressClock,
  pipeline: Pipeline = 'none',
  isColoured = false,
): Progress {
  return stream.isTTY === true ? createBar(stream, clock, isColoured) : createLines(stream, clock, pipeline);
}

/** GitLab gets a section for each phase, which shows how long it took. */
function createLines(stream: ProgressStream, clock: ProgressClock, pipeline: Pipeline): Progress {
  let name = '';
  let writtenAt = 0;
  let sections = 0;
  const hasSections = pipeline === 'gitlab';
  const sectionId = (): string => `static_export_${sections}`;
  const writeRaw = (line: string): void => {
    stream.write(`${line}\n`);
    writtenAt = clock.monotonic();
  };
  const write = (text: string): void => writeRaw(withoutWorkflowCommand(printable(text)));
  const endSection = (): void => {
    if (hasSections && name !== '') writeRaw(sectionEnd(sectionId(), clock.now()));
    name = '';
  };
  return {
    phase: (next) => {
      if (next === name) return;
      endSection();
      name = next;
      sections += 1;
      if (hasSections) writeRaw(sectionStart(sectionId(), printable(name), clock.now()));
      else write(name);
    },
    advance: (percent, detail) => {
      if (clock.monotonic() - writtenAt >= lineEveryMs) write(`${name}: ${progressText(percent, detail)}`);
    },
    note: (text, level) => {
      if (pipeline === 'github' && level === 'warning')
        writeRaw(annotation('warning', 'static-export', [text]));
      else write(text);
    },
    end: endSection,
  };
}

/** One line that is drawn again. Narrow terminals get no bar, because a line that wraps cannot be drawn again. */
function createBar(stream: ProgressStream, clock: ProgressClock, isColoured: boolean): Progress {
  let name = '';
  let drawnAt = Number.NEGATIVE_INFINITY;
  let isDrawn = false;
  const clear = (): void => {
    if (isDrawn) stream.write('\r\u001b[K');
    isDrawn = false;
  };
  const draw = (text: string): void => {
    const columns = stream.columns || 80;
    const shown = printable(text).slice(0, columns - 1);
    // The phase begins the line. Colours have no width, so they come after the line is cut.
    const phase = shown.slice(0, name.length);
    stream.write(`\r\u001b[K${isColoured ? painted(phase, 'strong') : phase}${shown.slice(phase.length)}`);
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
      const hasRoom = (stream.columns || 80) >= 60;
      const bar = percent === undefined || !hasRoom ? '' : `${barOf(percent)} `;
      draw(`${name} ${bar}${progressText(percent, detail)}`);
    },
    note: (text, level) => {
      clear();
      const lines = wrapText(printable(text), Math.min(stream.columns || 80, 120));
      for (const line of lines) stream.write(`${isColoured ? paintedNote(line, level) : line}\n`);
      if (name !== '') draw(name);
    },
    end: () => {
      clear();
      name = '';
    },
  };
}

function paintedNote(line: string, level: NoteLevel | undefined): string {
  if (level === undefined) return line;
  if (level === 'warning') return painted(line, 'unsure');
  return line.replace(/^ [✓✗]/, (sign) => painted(sign, level));
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
