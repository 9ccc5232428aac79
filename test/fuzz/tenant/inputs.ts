// What the hostile tenant does in its namespace, one input after the other, by dice. An input is a few writes to the
// Kubernetes API server. Names come from pools, so that a long run has no more objects than a short one. Pure: the same
// number and dice give the same writes.

import type { Dice } from '../mutation.ts';
import { stages } from './answer.ts';
import { between, fill, isLucky, makeOddText, pick } from './choice.ts';
import type { TenantContext } from './context.ts';
import { makeDocument } from './documents.ts';
import { repositoryPath, shapeNames } from './hostile-hosts.ts';
import {
  apply,
  configMap,
  documentsEach,
  documentsInput,
  forgeStatus,
  gitExportCount,
  gitInput,
  group,
  hostileSpec,
  mirrorExportCount,
  mirrorInput,
  published,
  publishedCount,
  publishedSpec,
  secret,
  staticExport,
  type TenantInput,
  type Write,
} from './objects.ts';
import { makeSpec, makeTarget } from './specs.ts';
import { hostileDomain } from './vendor.ts';

/** Names of a pool. */
const oddCount = 40;

/** @param at its number, by which names differ */
export function makeInput(at: number, dice: Dice, context: TenantContext): TenantInput {
  return pick(dice, makers)(at, dice, context);
}

type Maker = (at: number, dice: Dice, context: TenantContext) => TenantInput;

const vendorExport: Maker = (at, dice, context) => {
  const stage = pick(dice, [...stages, 'file'] as const);
  const name = `ven-${dice(oddCount)}`;
  const spec = hostileSpec(
    pick(dice, [context.hostileUrl, context.neighbourUrl]),
    hostileDomain(stage, undefined, at),
  );
  const annotations = { [`${group}/requestedAt`]: `r${at}` };
  return { kind: `hostile vendor, ${stage}`, writes: [apply(staticExport(name, spec, { annotations }))] };
};

const oddSpec: Maker = (at, dice, context) => {
  const name = `odd-${dice(oddCount)}`;
  const spec = makeSpec(
    dice,
    context,
    hostileDomain(pick(dice, [...stages, 'file'] as const), undefined, at),
  );
  return { kind: 'odd spec', writes: [apply(staticExport(name, spec))] };
};

const randomDocuments: Maker = (at, dice, context) =>
  documentsInput(
    Array.from({ length: documentsEach }, () => makeDocument(dice)),
    dice(publishedCount),
    `r${at}`,
    context,
  );

const annotated: Maker = (at, dice) => {
  const target = dice(publishedCount);
  const annotations = {
    [`${group}/requestedAt`]: makeOddText(dice, 100_000),
    [`${group}/promote`]: makeOddText(dice, 50_000),
    [`${group}/allow-from`]: makeOddText(dice, 1_000),
    'example.com/huge': fill(makeOddText(dice, 20), pick(dice, [10, 60_000])),
    'example.com/token': `${at}`,
  };
  return {
    kind: 'annotations',
    writes: [apply(staticExport(published(target), publishedSpec(target), { annotations }))],
  };
};

const churn: Maker = (at, dice, { hostileUrl }) => {
  const name = `churn-${dice(4)}`;
  const isRequested = isLucky(dice, 50);
  const writes = Array.from({ length: 30 }, (_, turn) => {
    const annotations = { [`${group}/${pick(dice, ['requestedAt', 'promote'])}`]: `${at}-${turn}` };
    const spec = hostileSpec(
      hostileUrl,
      hostileDomain('poll', undefined, isRequested ? at : at * 100 + turn),
    );
    return apply(staticExport(name, spec, { annotations }));
  });
  return { kind: 'edits in a row', writes };
};

const keys: Maker = (at, dice, { hostileUrl }) => {
  const name = `key-${dice(3)}`;
  const value = pick(dice, [
    '',
    '\n',
    '\0',
    'svc_odd\n',
    'svc_o\ndd',
    'svc_\u00e4',
    fill('k', 1_000_000),
    Buffer.alloc(64, 0xff),
    ' svc_blank ',
    'svc_\r\nx-evil: 1',
    `svc_${makeOddText(dice, 100)}`,
  ]);
  const spec = {
    ...hostileSpec(hostileUrl, hostileDomain('start', undefined, at)),
    api: { baseUrl: hostileUrl, keySecretRef: { name } },
  };
  return {
    kind: 'keys',
    writes: [apply(secret(name, { apiKey: value })), apply(staticExport(`keyed-${name}`, spec))],
  };
};

const outputs: Maker = (at, dice, { hostileUrl, servedOutput }) => {
  const name = `out-${dice(6)}`;
  const output = pick(dice, [
    `${name}-bundle`,
    servedOutput,
    'pub-0-bundle',
    'export-api',
    'kube-root-ca.crt',
    fill('o', 253),
  ]);
  const data = { version: makeOddText(dice, 1_000), 'values.yaml': makeDocument(dice).text.slice(0, 10_000) };
  const foreign = isLucky(dice, 50)
    ? configMap(output, data)
    : secret(output, { 'bundle.json': makeOddText(dice, 100_000) });
  const spec = { ...hostileSpec(hostileUrl, hostileDomain('file', undefined, at)), output: { name: output } };
  const removed: Write = { verb: 'delete', object: staticExport(name, {}) };
  return {
    kind: 'outputs of others',
    writes: [
      ...(isLucky(dice, 50) ? [removed] : []),
      ...(isLucky(dice, 50) && output !== 'export-api' ? [apply(foreign)] : []),
      apply(staticExport(name, spec)),
    ],
  };
};

const deletions: Maker = (at, dice, { hostileUrl }) => {
  const name = `gone-${dice(6)}`;
  const spec = hostileSpec(hostileUrl, hostileDomain('poll', undefined, at));
  const finalizers = isLucky(dice, 50) ? ['example.com/stays'] : [];
  const object = staticExport(name, spec, { finalizers });
  const released = staticExport(name, spec, { finalizers: [] });
  return {
    kind: 'deletion under way',
    writes: [apply(released), apply(object), { verb: 'delete', object }, apply(released)],
  };
};

const forgedStatus: Maker = (_at, dice) => forgeStatus(dice);

const manyTargets: Maker = (at, dice, context) => {
  const target = dice(publishedCount);
  const targets = Array.from({ length: documentsEach }, () => makeTarget(dice, context));
  const annotations = { 'example.com/token': `${at}` };
  return {
    kind: 'targets of others',
    writes: [apply(staticExport(published(target), { ...publishedSpec(target), targets }, { annotations }))],
  };
};

const gitTarget: Maker = (at, dice, context) =>
  gitInput(
    dice(gitExportCount),
    repositoryPath(pick(dice, [...shapeNames, 'mutant', 'mutant', 'answer']), at),
    `g${at}`,
    context,
  );

const mirrored: Maker = (at, dice, context) => mirrorInput(dice(mirrorExportCount), `m${at}`, context);

const flood: Maker = (at, dice, context) => {
  const count = between(dice, 40, 200);
  const stage = pick(dice, [...stages, 'file'] as const);
  const writes = Array.from({ length: count }, (_, place) =>
    apply(
      staticExport(
        `flood-${place}`,
        hostileSpec(
          pick(dice, [context.hostileUrl, context.neighbourUrl]),
          hostileDomain(stage, undefined, at * 1_000 + place),
        ),
      ),
    ),
  );
  return { kind: 'many resources at once', writes };
};

/** Each as often as it stands here. */
const makers: readonly Maker[] = [
  ...Array.from({ length: 5 }, () => randomDocuments),
  ...Array.from({ length: 8 }, () => vendorExport),
  ...Array.from({ length: 6 }, () => oddSpec),
  ...[annotated, churn, deletions, flood, gitTarget, mirrored],
  ...[keys, outputs, forgedStatus, manyTargets].flatMap((maker) => [maker, maker]),
];
