// The custom resource definitions of Argo CD and Flux, as upstream ships them, in a test's control plane. They come from
// the Go modules of the controllers that the tests run, and are cached as files. HelmRelease is a file of this folder.
//
//   await applyDefinitions(controlPlane, 'argocd', 'flux');

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { TestCluster } from '../cluster.ts';
import { runGo } from '../go-program.ts';
import { cachedFolder } from '../tool-cache.ts';

interface Source {
  readonly module: string;
  /** Where the version is not the one that a module of this folder requires. */
  readonly version?: string;
  /** The module of this folder whose go.mod requires it. */
  readonly requiredBy?: string;
  /** Of the definitions inside the module. */
  readonly folder: string;
}

const sources = {
  argocd: [{ module: 'github.com/argoproj/argo-cd/v3', requiredBy: 'argocd', folder: 'manifests/crds' }],
  flux: [
    {
      module: 'github.com/fluxcd/kustomize-controller',
      requiredBy: 'kustomize-controller',
      folder: 'config/crd/bases',
    },
    // Only its definitions: the program itself cannot be built from Go modules.
    { module: 'github.com/fluxcd/source-controller', version: 'v1.9.4', folder: 'config/crd/bases' },
  ],
} as const satisfies Record<string, readonly Source[]>;

const downloadSchema = z.object({ Dir: z.string() });

/** Applies the definitions and resolves when the API server serves them. */
export async function applyDefinitions(
  controlPlane: Pick<TestCluster, 'kubectl' | 'awaitDefinitions'>,
  ...tools: readonly (keyof typeof sources)[]
): Promise<void> {
  const files = (await Promise.all(tools.flatMap((tool) => sources[tool].map(findDefinitions)))).flat();
  if (tools.includes('flux')) files.push(join(import.meta.dirname, 'helmreleases.yaml'));
  // Server-side: some are too large for the annotation of a client-side apply.
  const args = ['apply', '--server-side', '--force-conflicts', ...files.flatMap((file) => ['-f', file])];
  const { code, stderr } = await controlPlane.kubectl(args);
  assert.equal(code, 0, stderr);
  await controlPlane.awaitDefinitions();
}

/** Of both tools, downloaded where they are not cached. */
export async function findAllDefinitions(): Promise<void> {
  for (const source of Object.values(sources).flat()) await findDefinitions(source);
}

async function findDefinitions(source: Source): Promise<readonly string[]> {
  const module = `${source.module}@${source.version ?? (await requiredVersion(source))}`;
  const key = createHash('sha256').update(module).digest('hex').slice(0, 16);
  const folder = await cachedFolder(`definitions-${key}`, async (draft) => {
    const listed = await runGo(['mod', 'download', '-json', module], draft);
    const origin = join(downloadSchema.parse(JSON.parse(listed)).Dir, source.folder);
    await mkdir(draft, { recursive: true });
    for (const name of await readdir(origin)) {
      const isDefinition = name.endsWith('.yaml') && name !== 'kustomization.yaml';
      if (isDefinition) await copyFile(join(origin, name), join(draft, name));
    }
  });
  return (await readdir(folder)).map((name) => join(folder, name));
}

async function requiredVersion({ module, requiredBy = '' }: Source): Promise<string> {
  const text = await readFile(join(import.meta.dirname, requiredBy, 'go.mod'), 'utf8');
  const version = text
    .split('\n')
    .find((line) => line.includes(`${module} v`))
    ?.split(' ')
    .at(-1);
  assert.ok(version !== undefined, `${requiredBy}/go.mod requires ${module}`);
  return version;
}
