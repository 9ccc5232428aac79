// A program that prints data: its logs go to standard error. Fails after its first log line if it is told to.

import process from 'node:process';
import { toggle } from '#platform/runtime/flags/flag-kinds.ts';
import { runProgram } from '#platform/runtime/program.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

const description = {
  name: 'data-program',
  summary: 'prints one JSON object',
  flags: { fail: toggle('End with an error') },
};

await runProgram(
  process,
  description,
  async ({ fail }, { logger }) => {
    logger.info({}, 'started');
    if (fail) throw new PublishableError('Failed', 'no data');
    process.stdout.write('{"digest":"d"}\n');
  },
  'stderr',
);
