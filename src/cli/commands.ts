// The commands of this product, in the order of `--help`. `bin` puts them together with those of others. Refuses: importing
// the work of any, because `--help` would load it.

import type { CommandSection } from './command.ts';
import { bundleCommands } from './commands/bundle-commands.ts';
import { clusterCommands } from './commands/cluster-commands.ts';
import { demoCommands } from './commands/demo-commands.ts';
import { exportCommands } from './commands/export-commands.ts';
import { kitCommands } from './commands/kit-commands.ts';
import { toolCommands } from './commands/tool-commands.ts';

/** Those that come before sections of other products. */
export const workSections: readonly CommandSection[] = [
  { title: 'Without a cluster', commands: [...exportCommands, ...demoCommands] },
  { title: 'With a cluster', commands: clusterCommands },
  { title: 'Archives', commands: bundleCommands },
  { title: 'Air gap', commands: kitCommands },
];

export const programSection: CommandSection = { title: 'This program', commands: toolCommands };
