// The verbs that change one StaticExport, such as `request` and `promote`. Asks before a risky one. Invariant: the object
// that was read is the object that is changed. Where Flux or Argo CD manages the object, a change of the spec is printed
// for git, and nothing is written.

import { resourceKind } from '#operator/staticexport/names.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import type { Failure } from '#operator/staticexport/status-schema.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { type ClusterClient, type ClusterFlags, withCluster } from './client.ts';
import type { StaticExportAnswer } from './documents.ts';
import { type Edit, type EditVerb, gitChangeOf, managerOf, planEdit, questionOf } from './edits.ts';
import { nextSteps, stepOf } from './next-steps.ts';
import { exportSummaryOf, nameOf, siteOf } from './summary.ts';
import {
  type Awaited,
  awaitedExport,
  awaitedLink,
  awaitedVersion,
  heldBack,
  publishedWords,
  waitFor,
} from './wait.ts';

type ChangeFields = Partial<StaticExportAnswer<'StaticExportChange'>['fields']>;

export interface EditValues extends ClusterFlags {
  readonly yes: boolean;
  readonly dryRun: 'none' | 'client' | 'server';
  /** Only of verbs after which readers may get something else. */
  readonly wait?: boolean;
  readonly timeout?: number;
}

/** The work of one verb. */
export function editWith(verb: EditVerb) {
  return (
    values: EditValues,
    [name, version]: readonly string[],
    context: CliContext,
  ): Promise<StaticExportAnswer<'StaticExportChange'>> =>
    withCluster(values, context, async (client) => {
      const object = name === undefined ? await readOnly(verb, client, context) : await client.read(name);
      return edit(verb, object, version, values, client, context);
    });
}

/** As many as a reader takes in. */
const mostNamed = 5;

/**
 * The StaticExport that is meant where none is named: the only one of the namespace.
 *
 * @throws {CliError} `NameMissing` where there are several, `NotFound` where there is none
 */
export async function readOnly(
  verb: EditVerb,
  { namespace, list }: Pick<ClusterClient, 'namespace' | 'list'>,
  { progress }: Pick<CliContext, 'progress'>,
): Promise<StaticExportObject> {
  const [only, ...others] = await list({ allNamespaces: false, selector: undefined });
  if (only === undefined) {
    throw new CliError(
      'cluster',
      'NotFound',
      `namespace ${namespace} has no ${resourceKind}; check --namespace`,
      {
        next: ['static-export get --all-namespaces  # lists all'],
      },
    );
  }
  if (others.length > 0) {
    const all = [only, ...others];
    const rest = all.length > mostNamed ? [`static-export get -n ${namespace}  # lists all`] : [];
    const named = all
      .slice(0, mostNamed)
      .map((one) => stepOf(one.metadata, verb, siteOf(exportSummaryOf(one)) ?? 'its spec is not valid'));
    throw new CliError(
      'usage',
      'NameMissing',
      `namespace ${namespace} has ${all.length} StaticExports; name one of them`,
      { next: [...named, ...rest] },
    );
  }
  progress.note(`The only ${resourceKind} of namespace ${namespace} is ${only.metadata.name}`);
  return only;
}

async function edit(
  verb: EditVerb,
  object: StaticExportObject,
  version: string | undefined,
  values: EditValues,
  client: ClusterClient,
  context: CliContext,
): Promise<StaticExportAnswer<'StaticExportChange'>> {
  const { name } = object.metadata;
  const token = new Date(context.clock.now()).toISOString();
  const planned = planEdit(verb, object, version, token);
  // What was requested before may still be in progress.
  const requested = planned === undefined ? exportSummaryOf(object).pinned : planned.requestedVersion;
  const isWaiting = values.wait === true && values.dryRun === 'none';
  const earlier = planned === undefined ? undefined : parseStaticExport(object).status.failures?.poll;
  const awaited = isWaiting ? awaitedOf(verb, token, requested, earlier) : undefined;
  const fields = {
    ...((verb === 'request' || verb === 'refresh-link') && { token }),
    ...(requested !== undefined && { requestedVersion: requested }),
    ...(planned?.rejectedVersion !== undefined && { rejectedVersion: planned.rejectedVersion }),
  };
  const awaitResult = async (until: Awaited): Promise<StaticExportAnswer<'StaticExportChange'>> => {
    const ended = await waitFor(until, { name, timeoutMs: values.timeout ?? 0 }, client, context);
    const [before, now] = [object, ended.object].map((one) => exportSummaryOf(one).version);
    const changed = verb === 'request' ? before !== now : planned !== undefined;
    const message = verb === 'refresh-link' ? ended.message : publishedWords(before, now);
    return resultOf(ended.object, { ...fields, changed }, [message]);
  };
  if (planned === undefined) {
    return awaited === undefined
      ? resultOf(object, { changed: false }, ['Nothing to change.'])
      : awaitResult(awaited);
  }
  const manager = managerOf(object);
  if (planned.isOfSpec && manager !== undefined) return printForGit(object, planned, manager, context);
  if (values.dryRun === 'client')
    return resultOf(object, { changed: false, patch: planned.patch }, [JSON.stringify(planned.patch)]);
  if (planned.isRisky && !values.yes && values.dryRun === 'none')
    await confirm(questionOf(verb, requested ?? '', object), context);
  const stored = await client.patch(object, planned.patch, {
    isDryRun: values.dryRun === 'server',
    // The operator writes status all the time; a request changes nothing that it decides on.
    isVersioned: planned.isOfSpec,
  });
  if (values.dryRun === 'server') {
    const lines = [`${planned.message} (dry run: nothing was stored)`];
    return resultOf(stored, { ...fields, changed: false }, lines);
  }
  return awaited === undefined ? requestedResult(verb, stored, planned, fields) : awaitResult(awaited);
}

function awaitedOf(
  verb: EditVerb,
  token: string,
  requested: string | undefined,
  earlier: Failure | undefined,
): Awaited | undefined {
  if (verb === 'request') return awaitedExport(token);
  if (verb === 'refresh-link') return awaitedLink(token);
  if (requested === undefined) return undefined;
  return awaitedVersion(requested, verb === 'promote' ? verb : 'pin', earlier);
}

/** The change is stored, and the operator has not acted on it yet. */
function requestedResult(
  verb: EditVerb,
  stored: StaticExportObject,
  { message, requestedVersion }: Edit,
  fields: ChangeFields,
): StaticExportAnswer<'StaticExportChange'> {
  const delayed = verb === 'request' ? heldBack(parseStaticExport(stored).spec, 'The export') : undefined;
  const next = [
    ...(delayed === undefined ? [] : nextSteps(exportSummaryOf(stored))),
    ...(requestedVersion === undefined ? [] : [stepOf(stored.metadata, 'status', 'shows what is published')]),
  ];
  const lines = [delayed?.message ?? message, ...next.map((step) => `  ${step}`)];
  return resultOf(stored, { ...fields, changed: true, ...(next.length > 0 && { next }) }, lines);
}

async function printForGit(
  object: StaticExportObject,
  { patch }: Edit,
  manager: string,
  { progress, output }: CliContext,
): Promise<StaticExportAnswer<'StaticExportChange'>> {
  const { manifest, removals } = gitChangeOf(object, 'spec' in patch ? { spec: patch['spec'] } : {});
  const what = output === 'text' ? 'Make this change in its repository instead:' : 'Nothing was changed.';
  const reason = `${manager} manages this object and would revert the change.`;
  progress.note(`${reason} ${what}`);
  const yaml = manifest && (await import('../output/yaml-text.ts')).yamlOf(manifest);
  const lines = [
    ...removals.map(
      (path) => `# remove ${path} from ${resourceKind} ${object.metadata.namespace}/${object.metadata.name}`,
    ),
    ...(yaml?.trimEnd().split('\n') ?? []),
  ];
  // Exit code 0 would let a pipeline go on as if the object had changed.
  const finding = {
    level: 'error',
    code: 'Managed',
    lines: [reason, 'Make the change on standard output in its repository instead.'],
  } as const;
  const result = resultOf(object, { changed: false, manager, patch }, lines);
  return { ...result, outcome: 'managed', findings: [finding] };
}

async function confirm(question: string, context: CliContext): Promise<void> {
  const answer = await context.confirm(question);
  if (answer === true) return;
  throw answer === undefined
    ? new CliError('usage', 'ConfirmationMissing', 'this changes what readers get; add --yes')
    : new CliError('usage', 'NotConfirmed', 'not confirmed; nothing was changed');
}

function resultOf(
  object: StaticExportObject,
  fields: ChangeFields & { readonly changed: boolean },
  lines: readonly string[],
): StaticExportAnswer<'StaticExportChange'> {
  const { namespace, name, version, reason } = exportSummaryOf(object);
  return {
    outcome: 'done',
    kind: 'StaticExportChange',
    fields: { namespace, name, version, reason, ...fields },
    lines,
    names: [nameOf({ name })],
  };
}
