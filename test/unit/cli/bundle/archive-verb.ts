// A verb of `bundle` in the process of a test, read by its JSON.

import { runInProcess } from '../../../support/cli-in-process.ts';

/** @returns what runs `bundle VERB`; any shape of its document may be read */
export const archiveVerb =
  (verb: string) =>
  async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await runInProcess(['bundle', verb, ...args, '-o', 'json']);
    return { code, stderr, document: JSON.parse(stdout) };
  };
