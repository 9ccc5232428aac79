// What the charts' tests send to a real API server besides charts: the definitions of other projects' kinds, and the
// pods that workloads would make, for admission to judge. Beside it, what an API server added to what was sent.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import type { KubeObject } from '../../support/kube-api.ts';

const crds = join(import.meta.dirname, '../../fixtures/crds');

/** The definitions of other projects' kinds that charts render, as those projects publish them. */
export async function readForeignKinds(): Promise<readonly object[]> {
  const files = (await readdir(crds)).sort();
  const texts = files.map((file) => readFile(join(crds, file), 'utf8'));
  return (await Promise.all(texts)).map((text): object => parse(text));
}

const specShape = z.object({ kind: z.string(), spec: z.unknown() });

/** Where what is stored differs from what was rendered: a tool that compares both would want to undo it for ever. */
export function driftOf(kind: string, manifest: string, stored: string): object | undefined {
  const rendered = parseAllDocuments(manifest)
    .map((document) => specShape.safeParse(document.toJSON()).data)
    .find((object) => object?.kind === kind);
  const found = specShape.parse(parse(stored));
  return isDeepStrictEqual(rendered?.spec, found.spec)
    ? undefined
    : { rendered: rendered?.spec, stored: found.spec };
}

/** What `helm install --output=json` prints of a release. */
export const releaseShape = z.object({
  manifest: z.string(),
  hooks: z.array(z.object({ manifest: z.string() })).default([]),
});

const podShape = z.object({ metadata: z.object({}).loose(), spec: z.object({}).loose() });
export const templateShape = z.object({
  spec: z.object({
    template: podShape,
    volumeClaimTemplates: z.array(z.object({ metadata: z.object({ name: z.string() }) })).default([]),
  }),
});

/** The pod that a workload would make, with the volumes that a StatefulSet gives it. */
export function podOf(workload: unknown): KubeObject {
  const { template, volumeClaimTemplates } = templateShape.parse(workload).spec;
  const claims = volumeClaimTemplates.map(({ metadata: { name } }) => ({
    name,
    persistentVolumeClaim: { claimName: `${name}-0` },
  }));
  const own = z.array(z.unknown()).default([]).parse(template.spec['volumes']);
  const spec = { ...template.spec, volumes: [...own, ...claims] };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...template.metadata, name: 'admitted' }, spec };
  return pod;
}
