// Checks of the Kubernetes API server and the custom resource's definition. Pure functions of facts. Refuses:
// reading anything itself, so that every result can be shown in a table of facts.

import { apiVersionName } from '#operator/staticexport/names.ts';
import { isReadable } from '../cluster/reading.ts';
import { type Check, failedCheck, passed, type Remedy, skipped, warned } from './check.ts';
import type { ClusterFacts } from './cluster-state.ts';
import { compareFields, ownFields } from './definition-fields.ts';
import { describePermission, sortReviews } from './permissions.ts';
import { minorOf } from './version-skew.ts';

/** The oldest that both charts admit (`kubeVersion`). */
const oldestMinor = 29;

export function checkServer({ server, user }: Pick<ClusterFacts, 'server' | 'user'>): readonly Check[] {
  if (!isReadable(server)) {
    const remedy = 'Check the context and the server of the kubeconfig, and the network between.';
    return [
      failedCheck('ApiServer', `The Kubernetes API server cannot be used: ${server.unreadable}.`, remedy),
    ];
  }
  const who = user === undefined ? '' : ` It knows you as ${user}.`;
  const minor = minorOf(server.value)?.[1];
  const isOld = minor !== undefined && minor < oldestMinor;
  return [
    passed('ApiServer', `The Kubernetes API server answers.${who}`),
    isOld
      ? failedCheck(
          'ApiServerVersion',
          `The Kubernetes API server is ${server.value}; 1.${oldestMinor} or newer is needed.`,
          'Upgrade the cluster.',
        )
      : passed('ApiServerVersion', `The Kubernetes API server is ${server.value}.`),
  ];
}

const applyCrd =
  'upgrade the chart static-export-operator with crds.install=true, or apply the CRD of its release';

/** Also where only the list of StaticExports is readable: a list of what is not served is not found. */
export function isInstalled({ definition, objects }: Pick<ClusterFacts, 'definition' | 'objects'>): boolean {
  if (isReadable(definition)) return definition.value !== undefined;
  return isReadable(objects) || objects.code !== 'NotFound';
}

export function checkDefinition(facts: ClusterFacts): readonly Check[] {
  const { definition, objects, operators, program } = facts;
  if (!isInstalled(facts)) {
    const remedy = 'Install the chart static-export-operator, or apply the CRD of its release.';
    return [failedCheck('CrdInstalled', 'The CRD staticexports.staticexport.dev is not installed.', remedy)];
  }
  if (!isReadable(definition)) {
    const isServed = isReadable(objects);
    return [
      isServed
        ? passed('CrdInstalled', 'The Kubernetes API server serves StaticExports.')
        : skipped('CrdInstalled', `Not readable: ${definition.unreadable}.`),
      skipped('CrdSchema', `Not readable: ${definition.unreadable}.`),
    ];
  }
  const found = definition.value;
  if (found === undefined) return [];
  if (!found.isEstablished || !found.served.includes(apiVersionName)) {
    const why = found.isEstablished ? `it does not serve ${apiVersionName}` : 'it is not established';
    const remedy: Remedy = ['Read its conditions:', 'kubectl describe crd staticexports.staticexport.dev'];
    return [failedCheck('CrdInstalled', `The CRD is installed, but ${why}.`, remedy)];
  }
  const installed = passed('CrdInstalled', `The CRD is established and serves ${apiVersionName}.`);
  const { missing, unknown } = compareFields(ownFields(), found.fields);
  if (missing.length > 0) {
    const versions = isReadable(operators) ? operators.value.map(({ version }) => version) : [];
    const message = `The CRD is older than this program: it lacks ${countOf(missing)}. The Kubernetes API server drops them.`;
    // An older operator with its own CRD is whole; only this program knows more.
    const isOfOperator = versions.includes(program.version);
    const remedy = `${applyCrd.slice(0, 1).toUpperCase()}${applyCrd.slice(1)}.`;
    return [installed, (isOfOperator ? failedCheck : warned)('CrdSchema', message, remedy)];
  }
  if (unknown.length > 0) {
    const message = `The CRD is newer than this program: it also has ${countOf(unknown)}.`;
    return [installed, warned('CrdSchema', message, 'Upgrade this program.')];
  }
  return [installed, passed('CrdSchema', 'The CRD has the fields that this program knows.')];
}

function countOf(fields: readonly string[]): string {
  const [first = ''] = fields;
  return fields.length === 1 ? `the field ${first}` : `${fields.length} fields, such as ${first}`;
}

export function checkPermissions({ permissions }: Pick<ClusterFacts, 'permissions'>): readonly Check[] {
  const { allowed, missing } = sortReviews(permissions);
  const essential = 'Ask for a Role or ClusterRole that allows it.';
  return [
    ...(allowed.length > 0
      ? [
          passed(
            'Permissions',
            `You have ${allowed.length} of the ${permissions.length} permissions that the commands need.`,
          ),
        ]
      : []),
    ...missing.map((one) => {
      const message = `You may not ${describePermission(one)}; needed by ${namesOf(one.neededBy)}.`;
      const isRead = one.verb === 'get' && one.resource.plural === 'staticexports';
      return (isRead ? failedCheck : warned)('Permissions', message, essential);
    }),
    ...checkUnanswered('Permissions', permissions),
  ];
}

/** Reviews without an answer: no permission is known to be there. */
export function checkUnanswered(
  code: 'Permissions' | 'InstallPermissions',
  permissions: ClusterFacts['permissions'],
): readonly Check[] {
  const { unanswered } = sortReviews(permissions);
  const [first] = unanswered;
  if (permissions.length === 0) return [skipped(code, 'No permission was asked for.')];
  if (first === undefined) return [];
  if (unanswered.length === permissions.length) {
    const remedy = 'Check the credentials of the kubeconfig.';
    return [failedCheck(code, `Your permissions are not known: ${first.unreadable}.`, remedy)];
  }
  const message = `${unanswered.length} of ${permissions.length} permissions are not known: ${first.unreadable}.`;
  return [warned(code, message, 'Run the command again.')];
}

const mostNames = 5;

function namesOf(commands: readonly string[]): string {
  const more = commands.length - mostNames;
  return more > 0 ? `${commands.slice(0, mostNames).join(', ')} and ${more} others` : commands.join(', ');
}
