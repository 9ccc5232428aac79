// The answer to a shell that asks what may follow, in the protocol that its script and kubectl read: a line for each
// candidate with its description, and a number that says what else the shell may do. Never fails: a shell has no place for
// an error. Refuses: waiting for a cluster that is slow, and candidates that a shell would evaluate.

import { ShellCompDirective } from '@bomb.sh/tab';
import { variableName } from '#platform/runtime/flags/flags.ts';
import { type Command, programName } from '../command.ts';
import { type Offer, offerFor } from './offer.ts';
import type { SourceRequest } from './source-request.ts';

/** A user waits for it at the prompt. */
const deadlineMs = 2000;
/** Names of contexts are free text; one with other characters would need quotes. */
const plainText = /^(?:--)?[A-Za-z0-9][A-Za-z0-9_./:@=+,-]*$/;

const {
  ShellCompDirectiveDefault: files,
  ShellCompDirectiveNoSpace: noSpace,
  ShellCompDirectiveNoFileComp: noFiles,
  ShellCompDirectiveKeepOrder: keepOrder,
} = ShellCompDirective;

/** Lists names; may be slow, and may fail. */
type Source = (request: SourceRequest) => Promise<readonly string[]>;

const sources: Readonly<Record<string, () => Promise<Source>>> = {
  candidates: async () => (await import('./cluster-names.ts')).listCandidates,
  contexts: async () => (await import('./contexts.ts')).listContexts,
  names: async () => (await import('./cluster-names.ts')).listNames,
  namespaces: async () => (await import('./cluster-names.ts')).listNamespaces,
  versions: async () => (await import('./cluster-names.ts')).listVersions,
};
export const sourceNames: readonly string[] = Object.keys(sources);

export interface AnswerContext extends Pick<SourceRequest, 'clock' | 'env'> {
  readonly cwd: string;
  /** Of this process; `undefined` where the system has none. */
  readonly userId: number | undefined;
}

/** @param typed `--`, and then the words after the program's name; the last one is to be completed */
export async function answerShell(
  typed: readonly string[],
  commands: readonly Command[],
  context: AnswerContext,
): Promise<string> {
  const offer = offerFor(typed[0] === '--' ? typed.slice(1) : typed, commands);
  const { candidates } = offer;
  if (candidates === 'files') return `:${files}\n`;
  const isListed = 'source' in candidates;
  const values = isListed ? await listInTime(candidates.source, offer, commands, context) : candidates;
  const fitting = values.filter((value) => value.startsWith(offer.typed) && plainText.test(value));
  const lines = fitting.map((value) => {
    const describe = offer.descriptions.get(value);
    return describe ? `${value}\t${describe}\n` : `${value}\n`;
  });
  const isOpen = fitting.length > 0 && fitting.every((value) => value.endsWith('='));
  return `${lines.join('')}:${noFiles | (isOpen ? noSpace : 0) | (isListed ? keepOrder : 0)}\n`;
}

async function listInTime(
  name: string,
  { command, rest, given, args }: Offer,
  commands: readonly Command[],
  context: AnswerContext,
): Promise<readonly string[]> {
  const { clock, env } = context;
  const signal = clock.deadline(deadlineMs);
  const list = async (): Promise<readonly string[]> => {
    if (command === undefined) return [];
    // A profile of the user may name the cluster, and the namespace.
    const { readConfiguration } = await import('../config/configuration.ts');
    const { flags } = await readConfiguration(command, rest, commands, context);
    const request: SourceRequest = {
      given: (flag) =>
        given.get(flag) ?? (env[variableName(programName, flag)] || flags.get(flag)?.texts.at(-1)),
      args,
      clock,
      env,
      signal,
    };
    return (await sources[name]?.())?.(request) ?? [];
  };
  // A source may be in a call that ignores the signal, such as a slow look-up of a host.
  return Promise.race([list(), clock.after(deadlineMs).then(() => [])]).catch(() => []);
}
