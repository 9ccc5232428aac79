// The command that shows the program at work: words, flags and texts. Refuses: importing its work, because `--help` of any
// command would load it.

import { hostPort, toggle } from '#platform/runtime/flags/flag-kinds.ts';
import { type Command, defineCommand } from '../command.ts';

export const demoCommands: readonly Command[] = [
  defineCommand({
    words: 'demo',
    summary: 'shows the whole loop on this machine and checks each claim',
    flags: {
      once: toggle('End when all claims are checked; without a terminal it always does'),
      listen: hostPort.withDefault('127.0.0.1:0', 'Address of the site; port 0 takes a free one'),
    },
    examples: ['demo', 'demo --once -o json'],
    run: async () => (await import('./demo-command.ts')).runDemo,
    documents: async () => (await import('./documents.ts')).demoDocuments,
  }),
];
