// What `-o json` and `-o yaml` print about the program itself: the fields of each kind, in addition to `apiVersion` and `kind`.
// Refuses use at run time, because a command's start would pay for zod.

import * as z from 'zod';
import type { ResultOf } from './context.ts';

export const programDocuments = {
  ProgramVersion: {
    version: z.string(),
    node: z.string().describe('Version of the Node that runs the program.'),
  },
  CompletionScript: { shell: z.enum(['bash', 'zsh', 'fish']), script: z.string() },
};

export type ProgramAnswer<K extends keyof typeof programDocuments> = ResultOf<typeof programDocuments, K>;
