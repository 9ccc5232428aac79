// What `-o json` and `-o yaml` print about assistant conversations: the fields of each kind, in addition to `apiVersion` and
// `kind`. Refuses use at run time, because a command's start would pay for zod.

import * as z from 'zod';
import { count, instant, path } from './common-schemas.ts';

export const conversationFields = {
  ConversationExport: {
    project: z.string(),
    path: path.describe('What --to names.'),
    inserted: count.describe('Number of new turns.'),
    updated: count.describe('Number of turns that were delivered before and have changed.'),
    unchanged: count.describe('Number of turns that were read again and are as they were.'),
    outside: count.describe('Number of turns outside of the time that was asked for.'),
    undated: count.describe('Number of turns whose timestamp is not an instant.'),
    windows: count.describe('Number of spans of time that were read.'),
    requests: count.describe('Number of requests to the export API.'),
    readUntilTime: instant.describe('All turns from --since to this time are exported.'),
  },
  GapsWritten: {
    path: path.describe('The folder of --to.'),
    turns: count.describe('Number of turns that were read.'),
    open: count.describe('Number of gaps that are open or reopened.'),
    newGaps: count.describe('Number of gaps that are new or reopened since the report before.'),
    generatedTime: instant,
  },
  PrunedConversations: {
    project: z.string(),
    path: path.describe('What --to names.'),
    beforeTime: instant.describe('Turns before this time were removed.'),
    turns: count.describe('Number of turns that the state has forgotten.'),
    parts: count.describe('Number of files that were removed.'),
  },
};
