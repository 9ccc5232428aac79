// How far a phase has come: a bar on a terminal, a line now and then anywhere else. On standard error, so that
// the figures alone are on standard output.

import cliProgress from 'cli-progress';

export interface Progress {
  begin(phase: string, goal: number): void;
  reach(done: number): void;
  end(): void;
}

const everyMs = 10_000;

/** @param title what the phases belong to */
export function showProgress(title: string): Progress {
  const bar = new cliProgress.SingleBar({
    format: `${title} {phase} {bar} {value}/{total} {duration_formatted}`,
    stream: process.stderr,
    noTTYOutput: true,
    notTTYSchedule: everyMs,
    stopOnComplete: false,
  });
  let isRunning = false;
  const end = (): void => {
    if (isRunning) bar.stop();
    isRunning = false;
  };
  return {
    begin: (phase, goal) => {
      end();
      bar.start(goal, 0, { phase });
      isRunning = true;
    },
    reach: (done) => bar.update(done),
    end,
  };
}
