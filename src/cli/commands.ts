// All commands, in the order of `--help`. A new command is one entry in a list below, and one file with its work. Refuses:
// importing that work.

import type { Command } from './command.ts';
import { bundleCommands } from './commands/bundle-commands.ts';
import { clusterCommands } from './commands/cluster-commands.ts';
import { demoCommands } from './commands/demo-commands.ts';
import { exportCommands } from './commands/export-commands.ts';
import { toolCommands } from './commands/tool-commands.ts';

export const commands: readonly Command[] = [
  ...exportCommands,
  ...clusterCommands,
  ...bundleCommands,
  ...demoCommands,
  ...toolCommands,
];
