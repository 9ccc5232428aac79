// Objects that the hostile tenant writes, and what it calls them.

import type { Dice } from '../mutation.ts';
import { stages } from './answer.ts';
import { isLucky, pick } from './choice.ts';
import type { TenantContext } from './context.ts';
import type { HostileText } from './documents.ts';
import { makeStatus } from './statuses.ts';

export interface Write {
  readonly verb: 'apply' | 'apply status' | 'delete';
  readonly object: KubeObject;
}

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: 'StaticExport' | 'ConfigMap' | 'Secret';
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  readonly [field: string]: unknown;
}

export interface TenantInput {
  readonly kind: string;
  readonly writes: readonly Write[];
}

/** Exports that an honest vendor makes, so that their targets are written at all. */
export const publishedCount = 4;
/** A published export has so many documents. */
export const documentsEach = 16;

export const apply = (object: KubeObject): Write => ({ verb: 'apply', object });
export const group = 'staticexport.dev';
type Metadata = Omit<KubeObject['metadata'], 'name'>;

export const staticExport = (name: string, spec: object, metadata: Metadata = {}): KubeObject => ({
  apiVersion: `${group}/v1alpha1`,
  kind: 'StaticExport',
  metadata: { ...metadata, name },
  spec,
});
export const configMap = (
  name: string,
  data: Readonly<Record<string, string>>,
  metadata: Metadata = {},
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...metadata, name },
  data,
});
export const secret = (
  name: string,
  data: Readonly<Record<string, string | Buffer>>,
  metadata: Metadata = {},
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { ...metadata, name },
  data: Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  ),
});

export const published = (at: number): string => `pub-${at}`;
export const publishedSpec = (at: number): object => ({
  domain: `${published(at)}.example.com`,
  api: { keySecretRef: { name: 'export-api' } },
  linkRefresh: { minInterval: '1s' },
});
export const publishedExport = (at: number): KubeObject => staticExport(published(at), publishedSpec(at));

/** Exports of an honest vendor, for hostile repositories and registries. */
/** In addition to one for each shape of repository. */
export const gitExportCount = 3;
export const mirrorExportCount = 3;

/** @param plan of the repository, and its serial; see `hostile-hosts.ts` */
export function gitInput(at: number, path: string, token: string, context: TenantContext): TenantInput {
  const name = `git-${at}`;
  // Without an inspection, which would wait behind its slow archives.
  const git = { url: `${context.gitOrigin}/${path}`, path: 'v.yaml', secretRef: { name: 'git' } };
  const spec = {
    ...publishedSpec(at),
    domain: `${name}.example.com`,
    promotion: { inspect: 'Never' },
    targets: [{ name: 'git', type: 'Git', git }],
  };
  const annotations = { 'example.com/token': token };
  return { kind: 'git target', writes: [apply(staticExport(name, spec, { annotations }))] };
}

export function mirrorInput(at: number, token: string, { registry }: TenantContext): TenantInput {
  const name = `mir-${at}`;
  const oci = { repository: `${registry}/mir/${name}`, secretRef: { name: 'mirror' } };
  const spec = { ...publishedSpec(at), domain: `${name}.example.com`, mirror: { policy: 'BestEffort', oci } };
  const annotations = { [`${group}/requestedAt`]: token };
  return { kind: 'mirror', writes: [apply(staticExport(name, spec, { annotations }))] };
}

/** Sixteen texts where one published export has its targets. */
export function documentsInput(
  texts: readonly HostileText[],
  at: number,
  token: string,
  context: TenantContext,
): TenantInput {
  const consent = { annotations: { [`${group}/allow-from`]: `${context.namespace}/${published(at)}` } };
  const objects = texts.map(({ text }, place) => {
    const name = `doc-${at}-${place}`;
    // A NUL is no character of a ConfigMap's text.
    return place % 4 === 3 || text.includes('\0')
      ? secret(name, { 'values.yaml': text }, consent)
      : configMap(name, { 'values.yaml': text }, consent);
  });
  const targets = objects.map(({ kind, metadata }) => ({
    name: metadata.name,
    type: 'Values',
    values: { kind, name: metadata.name },
  }));
  const annotations = { 'example.com/token': token };
  return {
    kind: `documents of ${published(at)}`,
    writes: [...objects, staticExport(published(at), { ...publishedSpec(at), targets }, { annotations })].map(
      apply,
    ),
  };
}

/** A base URL of its own: what one answer makes the operator wait for holds up none of the others. */
export const hostileSpec = (baseUrl: string, domain: string): object => ({
  domain,
  api: { baseUrl: `${baseUrl}/${domain.split('.')[0]}`, keySecretRef: { name: 'hostile-api' } },
  linkRefresh: { atPercent: 10, minInterval: '1s' },
});

/** An edit that the tenant's own permissions may allow. */
export function forgeStatus(dice: Dice): TenantInput {
  const name = isLucky(dice, 50)
    ? published(dice(publishedCount))
    : `worst-${pick(dice, stages)}-${dice(20)}`;
  const { spec: _none, ...bare } = staticExport(name, {});
  return {
    kind: 'forged status',
    writes: [{ verb: 'apply status', object: { ...bare, status: makeStatus(dice) } }],
  };
}
