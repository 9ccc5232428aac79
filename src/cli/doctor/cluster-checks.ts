// Checks of the program, the Kubernetes API server and the custom resource's definition. Pure functions of facts. Refuses:
// reading anything itself, so that every result can be shown in a table of facts.

import { apiVersionName } from '../../staticexport/names.ts';
import { isReadable } from '../cluster/reading.ts';
import { type Check, failed, passed, skipped, warned } from './check.ts';
import { compareFields, ownFields } from './definition-fields.ts';
import type { ClusterFacts, ProgramFacts } from './facts.ts';
import { describePermission } from './permissions.ts';
import { minorOf } from './version-skew.ts';

/** The oldest that both charts admit (`kubeVersion`). */
const oldestMinor = 29;

export function checkNode({ node, oldestNode }: ProgramFacts): readonly Check[] {
  const isOld = node.localeCompare(oldestNode, 'en', { numeric: true }) < 0;
  return isOld
    ? [
        failed(
          'NodeVersion',
          `This is Node ${node}; ${oldestNode} or newer is needed.`,
          `Install Node ${oldestNode}.`,
        ),
      ]
    : [passed('NodeVersion', `Node ${node}.`)];
}

export function checkServer({ server, user }: Pick<ClusterFacts, 'server' | 'user'>): readonly Check[] {
  if (!isReadable(server)) {
    const remedy = 'Check the context and the server of the kubeconfig, and the network between.';
    return [failed('ApiServer', `The Kubernetes API server cannot be used: ${server.unreadable}.`, remedy)];
  }
  const who = user === undefined ? '' : ` It knows you as ${user}.`;
  const minor = minorOf(server.value)?.[1];
  const isOld = minor !== undefined && minor < oldestMinor;
  return [
    passed('ApiServer', `The Kubernetes API server answers.${who}`),
    isOld
      ? failed(
          'ApiServerVersion',
          `The Kubernetes API server is ${server.value}; 1.${oldestMinor} or newer is needed.`,
          'Upgrade the cluster.',
        )
      : passed('ApiServerVersion', `The Kubernetes API server is ${server.value}.`),
  ];
}

const applyCrd =
  'upgrade the chart static-export-operator with crds.install=true, or apply the CRD of its release';

export function checkDefinition(facts: ClusterFacts): readonly Check[] {
  const { definition, objects, operators, program } = facts;
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
  if (found === undefined) {
    const remedy = 'Install the chart static-export-operator, or apply the CRD of its release.';
    return [failed('CrdInstalled', 'The CRD staticexports.staticexport.dev is not installed.', remedy)];
  }
  if (!found.isEstablished || !found.served.includes(apiVersionName)) {
    const why = found.isEstablished ? `it does not serve ${apiVersionName}` : 'it is not established';
    const remedy = 'Read its conditions: kubectl describe crd staticexports.staticexport.dev';
    return [failed('CrdInstalled', `The CRD is installed, but ${why}.`, remedy)];
  }
  const installed = passed('CrdInstalled', `The CRD is established and serves ${apiVersionName}.`);
  const { missing, unknown } = compareFields(ownFields(), found.fields);
  if (missing.length > 0) {
    const versions = isReadable(operators) ? operators.value.map(({ version }) => version) : [];
    const message = `The CRD is older than this program: it lacks ${countOf(missing)}. The Kubernetes API server drops them.`;
    // An older operator with its own CRD is whole; only this program knows more.
    const isOfOperator = versions.includes(program.version);
    const remedy = `${applyCrd.slice(0, 1).toUpperCase()}${applyCrd.slice(1)}.`;
    return [installed, (isOfOperator ? failed : warned)('CrdSchema', message, remedy)];
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
  const missing = permissions.filter(({ isAllowed }) => !isAllowed);
  const allowed = permissions.length - missing.length;
  const essential = 'Ask for a Role or ClusterRole that allows it.';
  return [
    ...(allowed > 0
      ? [
          passed(
            'Permissions',
            `You have ${allowed} of the ${permissions.length} permissions that the commands need.`,
          ),
        ]
      : []),
    ...missing.map((one) => {
      const message = `You may not ${describePermission(one)}; needed by ${namesOf(one.neededBy)}.`;
      const isRead = one.verb === 'get' && one.resource.plural === 'staticexports';
      return (isRead ? failed : warned)('Permissions', message, essential);
    }),
  ];
}

const mostNames = 5;

function namesOf(commands: readonly string[]): string {
  const more = commands.length - mostNames;
  return more > 0 ? `${commands.slice(0, mostNames).join(', ')} and ${more} others` : commands.join(', ');
}
