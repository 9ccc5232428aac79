// All commands of `static-export`, in the order of `--help`: the sections that each product exports, put together. Refuses:
// loading the work of any, because `--help` would load it too.

import type { Command, CommandSection } from '#cli/command.ts';
import { programSection, workSections } from '#cli/commands.ts';
import { conversationSection } from '#conversations/commands/conversation-commands.ts';

export const commandSections: readonly CommandSection[] = [
  ...workSections,
  conversationSection,
  programSection,
];

export const commands: readonly Command[] = commandSections.flatMap((section) => section.commands);
