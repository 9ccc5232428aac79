// What must hold before the operator is installed: permissions, and nothing of that name in the way. Pure. Refuses: judging
// what the chart checks itself, such as its values.

import { isReadable } from '../cluster/reading.ts';
import { type Check, failedCheck, passed, skipped, warned } from './check.ts';
import { checkUnanswered } from './cluster-checks.ts';
import type { ClusterFacts } from './cluster-state.ts';
import { compareFields, ownFields } from './definition-fields.ts';
import { describePermission, sortReviews } from './permissions.ts';

export function checkInstallation(facts: ClusterFacts): readonly Check[] {
  return [...checkInstallPermissions(facts), ...checkConflicts(facts)];
}

function checkInstallPermissions({ permissions }: ClusterFacts): readonly Check[] {
  const { allowed, missing } = sortReviews(permissions);
  const unanswered = checkUnanswered('InstallPermissions', permissions);
  if (missing.length === 0 && unanswered.length === 0) {
    return [passed('InstallPermissions', `You have the ${allowed.length} permissions that the chart needs.`)];
  }
  const refused = missing.map((one) => {
    const isOfCluster = one.scope === 'cluster';
    const remedy = isOfCluster
      ? 'Ask an administrator of the cluster to install the chart, or set crds.install=false and watchNamespaces.'
      : 'Ask for a Role that allows it, or name another namespace with --namespace.';
    return failedCheck('InstallPermissions', `You may not ${describePermission(one)}.`, remedy);
  });
  return [...refused, ...unanswered];
}

function checkConflicts({ definition, operators }: ClusterFacts): readonly Check[] {
  return [
    ...(isReadable(operators)
      ? operators.value.map(({ deployment }) =>
          warned(
            'InstallConflict',
            `An operator is installed already: ${deployment.metadata.namespace}/${deployment.metadata.name}.`,
            'Upgrade that release, or use disjoint watchNamespaces or an instance for a second operator.',
          ),
        )
      : []),
    definitionConflict(definition),
  ];
}

function definitionConflict(definition: ClusterFacts['definition']): Check {
  if (!isReadable(definition))
    return skipped('InstallConflict', `The CRD is not readable: ${definition.unreadable}.`);
  const found = definition.value;
  if (found === undefined) return passed('InstallConflict', 'The CRD is not installed yet.');
  const { missing, unknown } = compareFields(ownFields(), found.fields);
  if (unknown.length > 0) {
    return failedCheck(
      'InstallConflict',
      `A newer CRD is installed; it has ${unknown.length} fields that this version would remove.`,
      'Install the version of the chart that the CRD is of, or set crds.install=false.',
    );
  }
  if (found.release === undefined) {
    return warned(
      'InstallConflict',
      'The CRD is installed, but not by Helm: helm install refuses to take it over.',
      'Set crds.install=false, or add --take-ownership to helm install.',
    );
  }
  const age = missing.length > 0 ? 'an older CRD' : 'the CRD';
  return warned(
    'InstallConflict',
    `The Helm release ${found.release} has installed ${age}.`,
    'Upgrade that release, or set crds.install=false for another.',
  );
}
