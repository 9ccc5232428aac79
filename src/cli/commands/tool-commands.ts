// The commands about the program itself: words, flags and texts. Refuses: importing their work, because `--help` of any
// command would load it.

import { type Command, defineCommand } from '../command.ts';
import { shells } from '../completion/shells.ts';

export const toolCommands: readonly Command[] = [
  defineCommand({
    words: 'version',
    summary: 'shows the version of this program',
    flags: {},
    examples: ['version', 'version -o json'],
    run: async () => (await import('../version-command.ts')).showVersion,
    documents: async () => (await import('../program-documents.ts')).programDocuments,
  }),
  defineCommand({
    words: 'completion',
    summary: 'prints the script that lets a shell complete commands',
    arguments: [{ placeholder: 'SHELL', describe: shells.join(', '), isRequired: true, candidates: shells }],
    flags: {},
    examples: ['completion bash'],
    run: async () => (await import('../completion/completion-command.ts')).printScript,
    documents: async () => (await import('../program-documents.ts')).programDocuments,
  }),
];
