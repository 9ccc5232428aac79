// The commands of this product, in the order of `--help`. `bin` puts them together with those of others. Refuses: importing
// the work of any, because `--help` would load it.

import { bundleCommands } from './bundle/commands.ts';
import { changeCommands, viewCommands } from './cluster/commands.ts';
import { type CommandSection, defineCommand } from './command.ts';
import { shells } from './completion/shells.ts';
import { demoCommands } from './demo/commands.ts';
import { doctorCommands } from './doctor/commands.ts';
import { exportCommands } from './export/commands.ts';
import { runCommands } from './folder/commands.ts';
import { kitCommands } from './kit/commands.ts';
import { madeFilesCommands } from './made-files/commands.ts';
import { reportCommands } from './report/commands.ts';

/** Those that come before sections of other products. */
export const workSections: readonly CommandSection[] = [
  { title: 'Without a cluster', commands: [...exportCommands, ...runCommands, ...demoCommands] },
  {
    title: 'With a cluster',
    commands: [...viewCommands, ...reportCommands, ...doctorCommands, ...changeCommands],
  },
  { title: 'Archives', commands: [...bundleCommands, ...madeFilesCommands] },
  { title: 'Air gap', commands: kitCommands },
];

export const programSection: CommandSection = {
  title: 'This program',
  commands: [
    defineCommand({
      words: 'version',
      summary: 'shows the version of this program',
      flags: {},
      examples: ['version', 'version -o json'],
      run: async () => (await import('./version-command.ts')).showVersion,
      documents: async () => (await import('./program-documents.ts')).programDocuments,
    }),
    defineCommand({
      words: 'completion',
      summary: 'prints the script that lets a shell complete commands',
      arguments: [
        { placeholder: 'SHELL', describe: shells.join(', '), isRequired: true, candidates: shells },
      ],
      flags: {},
      examples: ['completion bash'],
      run: async () => (await import('./completion/completion-command.ts')).printScript,
      documents: async () => (await import('./program-documents.ts')).programDocuments,
    }),
  ],
};
