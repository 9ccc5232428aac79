// `tree`: one StaticExport with the objects around it, as a document and as a drawing. What is not readable is a line that
// says so; nothing but the StaticExport itself is needed. Refuses: the data of Secrets.

import type { Condition } from '#operator/staticexport/status-schema.ts';
import { targetKindOf } from '#operator/staticexport/wanted.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { CliContext } from '../context.ts';
import type { TreeNode } from '../output/layout.ts';
import { marked, type Paint, type TextSpan, textOfSpan } from '../output/paint.ts';
import type { Block } from '../output/screen.ts';
import { type ClusterFlags, withCluster } from './client.ts';
import type { StaticExportAnswer } from './documents.ts';
import { isReadable } from './reading.ts';
import {
  createPodReads,
  type FoundGitTarget,
  idOf,
  type MetadataReading,
  type ObjectKind,
  readSurroundings,
  type Surroundings,
  type TargetReading,
  type UsingPod,
} from './related-objects.ts';
import { conditionsOf, exportSummaryOf, paintOf } from './summary.ts';

type Tree = Pick<StaticExportAnswer<'StaticExportTree'>['fields'], 'objects' | 'notReadable'>;
export type TreeObject = Tree['objects'][number];
export type TreePod = TreeObject['pods'][number];

export function showTree(
  values: ClusterFlags,
  [name = '']: readonly string[],
  context: CliContext,
): Promise<StaticExportAnswer<'StaticExportTree'>> {
  return withCluster(values, context, async (client): Promise<StaticExportAnswer<'StaticExportTree'>> => {
    const object = await client.read(name);
    const tree = treeOf(await readSurroundings(client, object, createPodReads(client)));
    const { namespace, ready, reason, message, version, digest, ref, linkExpirationTime } =
      exportSummaryOf(object);
    const head = { namespace, name, ready, reason, message, version, digest, ref, linkExpirationTime };
    const mirrored = conditionsOf(object).find(({ type }) => type === 'Mirrored');
    return {
      outcome: 'done',
      kind: 'StaticExportTree',
      fields: { ...head, ...tree },
      lines: linesOf({ ...head, mirrored }, tree),
    };
  });
}

/** Pure. */
export function treeOf(around: Surroundings): Tree {
  const { object, wanted, key, outputSecret, outputConfigMap, targets, gitTargets, pods } = around;
  const { namespace } = object.metadata;
  const shown = new Set<UsingPod>();
  const podsAt = (kind: ObjectKind, at: ObjectKey): readonly TreePod[] => {
    const read = pods.get(at.namespace);
    const using = read !== undefined && isReadable(read) ? read.value : [];
    const own = using.filter((one) => !shown.has(one) && one.uses.includes(idOf(kind, at)));
    for (const one of own) shown.add(one);
    return own.map(podOf);
  };
  const output = (kind: ObjectKind, found: MetadataReading | undefined): readonly TreeObject[] => {
    if (wanted === undefined || found === undefined) return [];
    const at = { namespace, name: wanted.outputName };
    return [{ role: 'Output', kind, ...at, ...presenceOf(found), pods: podsAt(kind, at) }];
  };
  const keyObjects = (kind: ObjectKind): readonly TreeObject[] => {
    if (wanted === undefined || key === undefined) return [];
    const { name, key: dataKey } = wanted.keySecret;
    return [{ role: 'Key', kind, namespace, name, ...keyOf(key, dataKey), pods: [] }];
  };
  return {
    objects: [
      ...keyObjects('Secret'),
      ...output('Secret', outputSecret),
      ...output('ConfigMap', outputConfigMap),
      ...targets.map((target) => targetOf(target, podsAt(targetKindOf(target.wanted), target.wanted))),
      ...gitTargets.map((target) => gitTargetOf(target, namespace)),
    ],
    notReadable: [...pods].flatMap(([of, read]) =>
      isReadable(read) ? [] : [{ namespace: of, message: read.unreadable }],
    ),
  };
}

type Presence = Pick<TreeObject, 'state' | 'message'>;

function presenceOf(found: MetadataReading): Presence {
  if (!isReadable(found)) return { state: 'NotReadable', message: found.unreadable };
  return { state: found.value === undefined ? 'Missing' : 'Present' };
}

function keyOf(found: MetadataReading, dataKey: string): Presence {
  const dataKeys = isReadable(found) ? found.value?.dataKeys : undefined;
  if (dataKeys === undefined) return presenceOf(found);
  return dataKeys.includes(dataKey)
    ? { state: 'Present', message: `It has the key ${dataKey}.` }
    : {
        state: 'Present',
        message: `Its managed fields do not name the key ${dataKey}, which may be there nevertheless.`,
      };
}

function targetOf({ wanted, found, status }: TargetReading, pods: readonly TreePod[]): TreeObject {
  const { namespace, name, targetName } = wanted;
  const presence = presenceOf(found);
  const message = status?.synced === false ? status.message : presence.message;
  return {
    role: 'Target',
    kind: targetKindOf(wanted),
    namespace,
    name,
    state: presence.state,
    target: targetName,
    ...reportOf(status),
    ...(message !== undefined && { message: printable(message) }),
    pods,
  };
}

function gitTargetOf({ wanted, status }: FoundGitTarget, namespace: string): TreeObject {
  const { targetName, object } = wanted;
  const message = status?.message;
  return {
    role: 'Target',
    kind: wanted.type,
    namespace,
    name: printable(object.replace(/^Git\//, '')),
    state: 'Remote',
    target: targetName,
    ...reportOf(status),
    ...(message !== undefined && { message: printable(message) }),
    pods: [],
  };
}

function reportOf(status: TargetReading['status']): Pick<TreeObject, 'synced' | 'reason' | 'version'> {
  if (status === undefined) return {};
  const { synced, reason, version } = status;
  return { synced, reason, ...(version !== undefined && { version }) };
}

function podOf({ pod, serving }: UsingPod): TreePod {
  const { namespace, name } = pod.metadata;
  return { namespace, name, ready: pod.isReady, ...serving };
}

const statePaints: Readonly<Record<TreePod['state'], Paint>> = {
  InStep: 'good',
  Behind: 'unsure',
  Ended: 'quiet',
  Unknown: 'unsure',
};
const stateWords = { InStep: 'in step', Behind: 'behind', Ended: 'ended', Unknown: 'unknown' } as const;

function linesOf(
  head: Pick<
    ReturnType<typeof exportSummaryOf>,
    'namespace' | 'name' | 'ready' | 'reason' | 'version' | 'ref' | 'linkExpirationTime'
  > & { readonly mirrored: Condition | undefined },
  tree: Tree,
): readonly Block[] {
  const { namespace, name, ready, reason, version, linkExpirationTime } = head;
  const verdict = marked(reason || 'no status yet', paintOf({ type: 'Ready', status: ready, reason }));
  const root: TreeNode = {
    text: [`StaticExport ${namespace}/${name}: `, verdict, version === undefined ? '' : `, ${version}`],
    children: [
      ...tree.objects.map((object) => nodeOf(object, namespace, linkExpirationTime)),
      ...(head.mirrored === undefined ? [] : [copyNode(head.ref, head.mirrored)]),
      ...tree.notReadable.map((one) =>
        leaf(`Pods of namespace ${one.namespace}: not readable: ${one.message}.`),
      ),
    ],
  };
  return [{ kind: 'tree', root }];
}

function nodeOf(object: TreeObject, own: string, linkExpirationTime: string | undefined): TreeNode {
  const { role, kind, namespace, name, state, target, synced, reason, version, message } = object;
  const where = namespace === own ? name : `${namespace}/${name}`;
  const title = `${role === 'Target' ? `Target ${target}, ` : ''}${kind} ${where}${role === 'Key' ? ' (key)' : ''}`;
  const isLink = role === 'Output' && kind === 'Secret' && state === 'Present';
  const facts = [
    state === 'Missing' ? marked('missing', 'bad') : '',
    ...(synced === undefined
      ? []
      : [
          synced
            ? marked('synced', 'good')
            : marked(
                `not synced (${reason})`,
                paintOf({ type: 'Target', status: 'False', reason: reason ?? '' }),
              ),
        ]),
    contentOf(version, undefined),
    isLink && linkExpirationTime !== undefined ? `link expires ${linkExpirationTime}` : '',
    state === 'NotReadable' ? `not readable: ${message ?? ''}.` : '',
  ];
  const more = state === 'NotReadable' || message === undefined ? '' : `. ${message}`;
  return { text: [...factsOf(title, facts), more], children: object.pods.map(podNode) };
}

/** The copy of the published version, and whether it was found there. */
function copyNode(ref: string | undefined, { status, reason }: Condition): TreeNode {
  const state = status === 'True' ? 'copied' : status === 'False' ? `not copied (${reason})` : reason;
  const paint = paintOf({ type: 'Mirrored', status, reason });
  return leaf(`Mirror ${ref ?? '(no copy yet)'}: `, marked(state, paint));
}

function podNode({ name, ready, state, version, digest, message = '' }: TreePod): TreeNode {
  const facts = [
    marked(stateWords[state], statePaints[state]),
    contentOf(version, digest),
    ready || state === 'Ended' ? '' : marked('not ready', 'unsure'),
  ];
  return leaf(...factsOf(`Pod ${name}`, facts), message === '' ? '' : `. ${message}`);
}

function contentOf(version: string | undefined, digest: string | undefined): string {
  const short = digest === undefined ? '' : `sha256:${digest.slice(0, 12)}`;
  return [version ?? '', short].filter((part) => part !== '').join(' ');
}

/** `TITLE: FACT, FACT`, without those that say nothing. */
function factsOf(title: string, facts: readonly TextSpan[]): readonly TextSpan[] {
  const said = facts.filter((fact) => textOfSpan(fact) !== '');
  return [title, ...said.flatMap((fact, at) => [at === 0 ? ': ' : ', ', fact])];
}

const leaf = (...text: readonly TextSpan[]): TreeNode => ({ text, children: [] });
