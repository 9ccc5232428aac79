// All commands, in the order of `--help`. A new command is one entry in a list below, and one file with its work. Refuses:
// importing that work.

import type { Command } from './command.ts';
import { bundleCommands } from './commands/bundle-commands.ts';
import { clusterCommands } from './commands/cluster-commands.ts';
import { conversationCommands } from './commands/conversation-commands.ts';
import { demoCommands } from './commands/demo-commands.ts';
import { exportCommands } from './commands/export-commands.ts';
import { gapsCommands } from './commands/gaps-commands.ts';
import { kitCommands } from './commands/kit-commands.ts';
import { toolCommands } from './commands/tool-commands.ts';

export interface CommandSection {
  readonly title: string;
  readonly commands: readonly Command[];
}

export const commandSections: readonly CommandSection[] = [
  { title: 'Without a cluster', commands: [...exportCommands, ...demoCommands] },
  { title: 'With a cluster', commands: clusterCommands },
  { title: 'Archives', commands: bundleCommands },
  { title: 'Air gap', commands: kitCommands },
  { title: 'Conversations', commands: [...conversationCommands, ...gapsCommands] },
  { title: 'This program', commands: toolCommands },
];

export const commands: readonly Command[] = commandSections.flatMap((section) => section.commands);
