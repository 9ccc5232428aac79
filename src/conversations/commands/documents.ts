// What `-o json` and `-o yaml` print about assistant conversations: the fields of each kind, in addition to `apiVersion` and
// `kind`. Refuses use at run time, because a command's start would pay for zod.

import * as z from 'zod';
import type { ResultOf } from '#cli/context.ts';
import { countSchema, instantSchema, pathSchema } from '#cli/output/common-schemas.ts';
import { reportFields } from '../gaps/report-schema.ts';

export const conversationDocuments = {
  ConversationExport: {
    project: z.string(),
    path: pathSchema.describe('What --to names.'),
    inserted: countSchema.describe('Number of new turns.'),
    updated: countSchema.describe('Number of turns that were delivered before and have changed.'),
    unchanged: countSchema.describe('Number of turns that were read again and are as they were.'),
    outside: countSchema.describe('Number of turns outside of the time that was asked for.'),
    undated: countSchema.describe('Number of turns whose timestamp is not an instant.'),
    windows: countSchema.describe('Number of spans of time that were read.'),
    requests: countSchema.describe('Number of requests to the export API.'),
    readUntilTime: instantSchema.describe('All turns from --since to this time are exported.'),
  },
  GapsWritten: {
    path: pathSchema.describe('The folder of --to.'),
    turns: countSchema.describe('Number of turns that were read.'),
    open: countSchema.describe('Number of gaps that are open or reopened.'),
    newGaps: countSchema.describe('Number of gaps that are new or reopened since the report before.'),
    generatedTime: instantSchema,
  },
  PrunedConversations: {
    project: z.string(),
    path: pathSchema.describe('What --to names.'),
    beforeTime: instantSchema.describe('Turns before this time were removed.'),
    turns: countSchema.describe('Number of turns that the state has forgotten.'),
    parts: countSchema.describe('Number of files that were removed.'),
  },
  GapReport: reportFields,
};

export type ConversationAnswer<K extends keyof typeof conversationDocuments> = ResultOf<
  typeof conversationDocuments,
  K
>;
