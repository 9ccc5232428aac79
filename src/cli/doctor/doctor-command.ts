// `doctor`: gathers facts, judges them, and prints a result for each check. An unreachable cluster is a result too. Refuses:
// changing anything in the cluster.

import { nodeVersion, version } from '#platform/runtime/version.ts';
import { CliError } from '../cli-error.ts';
import { type ClusterClient, type ClusterFlags, withCluster } from '../cluster/client.ts';
import { isReadable } from '../cluster/reading.ts';
import type { CliContext } from '../context.ts';
import { type Check, checkBlocks, countStates, failedCheck, findingsOfChecks, skipped } from './check.ts';
import { checkDefinition, checkPermissions, checkServer, isInstalled } from './cluster-checks.ts';
import type { ClusterFacts, ProgramFacts } from './cluster-state.ts';
import type { DoctorAnswer } from './documents.ts';
import { checkExport } from './export-checks.ts';
import { gatherFacts, type Scope } from './gather.ts';
import { checkInstallation } from './install-checks.ts';
import { checkNode } from './node-check.ts';
import { checkLeases, checkOperators, checkOverlap } from './operator-checks.ts';
import { checkSkew } from './version-skew.ts';

export interface DoctorValues extends ClusterFlags {
  readonly allNamespaces: boolean;
  readonly pre: boolean;
  readonly report: string | undefined;
}

const program: ProgramFacts = { version, node: nodeVersion };

export async function runDoctor(
  values: DoctorValues,
  [name]: readonly string[],
  context: CliContext,
): Promise<DoctorAnswer> {
  const scope: Scope = { name, allNamespaces: values.allNamespaces, isPre: values.pre };
  if (values.report !== undefined) {
    await (await import('./report.ts')).requireNewReport(values.report);
  }
  const examine = async (client: ClusterClient): Promise<DoctorAnswer> => {
    context.progress.phase('Reading the cluster');
    const facts = await gatherFacts(client, program, scope, context.clock);
    const result = resultOf(checksOf(facts, values.pre));
    if (values.report === undefined) return result;
    context.progress.phase('Writing the report');
    const { writeReport } = await import('./report.ts');
    await writeReport(values.report, result, facts, client, context);
    return { ...result, lines: [...result.lines, `The report is in ${values.report}.`] };
  };
  try {
    return await withCluster(values, context, examine);
  } catch (error) {
    // Without a usable kubeconfig there is no cluster to read, which is what was asked.
    if (!(error instanceof CliError) || error.outcome !== 'cluster' || error.code === 'NotFound') throw error;
    if (values.report !== undefined)
      context.progress.note('No report is written, because no cluster is known.', 'warning');
    const remedy = 'Correct the kubeconfig, or name it with --kubeconfig and --context.';
    return resultOf([
      ...checkNode(program),
      failedCheck('ApiServer', `No cluster can be chosen: ${error.message}.`, remedy),
    ]);
  }
}

/** All checks, in the order in which they are printed. Pure. */
export function checksOf(facts: ClusterFacts, isPre: boolean): readonly Check[] {
  const first = [...checkNode(facts.program), ...checkServer(facts)];
  if (!isReadable(facts.server)) return first;
  if (isPre) return [...first, ...checkInstallation(facts)];
  return [
    ...first,
    ...checkDefinition(facts),
    ...checkOperators(facts),
    ...checkLeases(facts),
    ...checkOverlap(facts),
    ...checkSkew(facts),
    ...checkPermissions(facts),
    ...checkObjects(facts),
    ...facts.exports.flatMap((one) => checkExport(one, facts)),
  ];
}

function checkObjects(facts: ClusterFacts): readonly Check[] {
  const { objects, named } = facts;
  if (!isReadable(objects)) {
    if (!isInstalled(facts)) return [];
    if (named === undefined) return [skipped('StaticExport', `Not readable: ${objects.unreadable}.`)];
    const remedy = 'Ask for a Role that allows to get it, or correct the name and --namespace.';
    return [failedCheck('StaticExport', `${named} is not readable: ${objects.unreadable}.`, remedy)];
  }
  return objects.value.length === 0
    ? [skipped('StaticExport', 'There are no StaticExports here; see --namespace and --all-namespaces.')]
    : [];
}

function resultOf(checks: readonly Check[]): DoctorAnswer {
  const counts = countStates(checks);
  return {
    outcome: counts.error > 0 ? 'no' : 'done',
    kind: 'DoctorReport',
    fields: { passed: counts.error === 0, counts, checks },
    lines: checkBlocks(checks),
    findings: findingsOfChecks(checks),
  };
}
