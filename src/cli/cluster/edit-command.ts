// The verbs that change one StaticExport, such as `request` and `promote`. Asks before a risky one. Invariant: the object
// that was read is the object that is changed. Where Flux or Argo CD manages the object, a change of the spec is printed
// for git, and nothing is written.

import type { StaticExportObject } from '../../wire/cluster.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext, CommandResult } from '../context.ts';
import { type ClusterClient, type ClusterFlags, withCluster } from './client.ts';
import { type Edit, managerOf, planEdit, type Verb } from './edits.ts';
import { nameOf, summaryOf } from './summary.ts';
import { awaitedExport, awaitedLink, waitFor } from './wait.ts';

export interface EditValues extends ClusterFlags {
  readonly yes: boolean;
  readonly dryRun: 'none' | 'client' | 'server';
  /** Only of `request` and `refresh-link`. */
  readonly wait?: boolean;
  readonly timeout?: number;
}

/** The work of one verb. */
export function editWith(verb: Verb) {
  return (
    values: EditValues,
    [name = '', version]: readonly string[],
    context: CliContext,
  ): Promise<CommandResult> =>
    withCluster(values, context, (client) => edit(verb, name, version, values, client, context));
}

async function edit(
  verb: Verb,
  name: string,
  version: string | undefined,
  values: EditValues,
  client: ClusterClient,
  context: CliContext,
): Promise<CommandResult> {
  const object = await client.read(name);
  const token = new Date(context.clock.now()).toISOString();
  const planned = planEdit(verb, object, version, token);
  if (planned === undefined) return resultOf(object, { changed: false }, ['Nothing to change.']);
  const manager = managerOf(object);
  if (planned.isOfSpec && manager !== undefined) return printForGit(object, planned, manager, context);
  if (values.dryRun === 'client')
    return resultOf(object, { changed: false, patch: planned.patch }, [JSON.stringify(planned.patch)]);
  if (planned.isRisky && !values.yes) await confirm(planned, object, context);
  const stored = await client.patch(object, planned.patch, {
    isDryRun: values.dryRun === 'server',
    // The operator writes status all the time; a request changes nothing that it decides on.
    isVersioned: planned.isOfSpec,
  });
  const lines = [
    values.dryRun === 'server' ? `${planned.message} (dry run: nothing was stored)` : planned.message,
  ];
  const isAwaitable = verb === 'request' || verb === 'refresh-link';
  if (!isAwaitable || values.wait !== true || values.dryRun !== 'none') {
    return resultOf(stored, { changed: values.dryRun === 'none', ...(isAwaitable && { token }) }, lines);
  }
  const awaited = verb === 'request' ? awaitedExport : awaitedLink;
  const ended = await waitFor(awaited, { name, token, timeoutMs: values.timeout ?? 0 }, client, context);
  return resultOf(ended.object, { changed: true, token }, [ended.message]);
}

async function printForGit(
  object: StaticExportObject,
  { patch }: Edit,
  manager: string,
  { progress }: CliContext,
): Promise<CommandResult> {
  const reason = `${manager} manages this object and would revert the change.`;
  progress.note(`${reason} Commit this to its repository instead:`);
  const { yamlOf } = await import('../output/yaml-text.ts');
  const lines = yamlOf(patch).trimEnd().split('\n');
  // Exit code 0 would let a pipeline go on as if the object had changed.
  const finding = {
    level: 'error',
    code: 'Managed',
    lines: [reason, 'Commit the YAML on standard output to its repository instead.'],
  } as const;
  const result = resultOf(object, { changed: false, manager, patch }, lines);
  return { ...result, outcome: 'managed', findings: [finding] };
}

async function confirm(
  { message }: Edit,
  { metadata }: StaticExportObject,
  context: CliContext,
): Promise<void> {
  const answer = await context.confirm(`${metadata.namespace}/${metadata.name}: ${message} Continue?`);
  if (answer === true) return;
  throw answer === undefined
    ? new CliError('usage', 'ConfirmationMissing', 'this changes what readers get; add --yes')
    : new CliError('usage', 'NotConfirmed', 'not confirmed; nothing was changed');
}

function resultOf(
  object: StaticExportObject,
  fields: Readonly<Record<string, unknown>>,
  lines: readonly string[],
): CommandResult {
  const { namespace, name, version, reason } = summaryOf(object);
  return {
    outcome: 'done',
    kind: 'StaticExportChange',
    fields: { namespace, name, version, reason, ...fields },
    lines,
    names: [nameOf({ name })],
  };
}
