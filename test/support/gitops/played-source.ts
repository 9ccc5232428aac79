// Plays Flux's source-controller for one GitRepository: packs files, serves the archive on loopback, and writes the
// artifact into the object's status, which is all that kustomize-controller reads of it.
//
//   const fleet = await playSource(controlPlane, { namespace: 'docs', name: 'fleet' });
//   await fleet.publish({ 'apps/site.yaml': '…' });   // all files of the new revision
//   …
//   await fleet.close();

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { makeArchive } from '../../integration/server/archive.ts';
import type { TestCluster } from '../cluster.ts';
import { startStorage } from '../storage-server.ts';

export interface PlayedSource {
  /** Makes these files the newest revision. @returns its name, as `status.lastAppliedRevision` shows it */
  publish(files: Readonly<Record<string, string>>): Promise<string>;
  close(): Promise<void>;
}

/** Creates the GitRepository too. Its namespace and the definitions of Flux must be there. */
export async function playSource(
  controlPlane: Pick<TestCluster, 'kubectl'>,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<PlayedSource> {
  const kubectl = async (args: readonly string[], input = ''): Promise<void> => {
    const { code, stderr } = await controlPlane.kubectl(args, { input });
    assert.equal(code, 0, stderr);
  };
  const archives = new Map<string, Buffer>();
  const storage = await startStorage((request, response) => {
    const archive = archives.get(request.url ?? '');
    if (archive === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-length': archive.length }).end(archive);
  });
  await kubectl(
    ['apply', '--server-side', '-f', '-'],
    JSON.stringify({
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'GitRepository',
      metadata: { name, namespace },
      spec: { interval: '10m', url: `${storage.origin}/${name}.git`, ref: { branch: 'main' } },
    }),
  );
  return {
    publish: async (files) => {
      const archive = await makeArchive(files);
      const sum = createHash('sha256').update(archive).digest('hex');
      const path = `/${sum}.tar.gz`;
      archives.set(path, archive);
      const revision = `main@sha1:${sum.slice(0, 40)}`;
      const status = playedStatus(`${storage.origin}${path}`, revision, sum, archive.length);
      await kubectl([
        'patch',
        'gitrepository',
        name,
        `--namespace=${namespace}`,
        '--subresource=status',
        '--type=merge',
        `--patch=${JSON.stringify({ status })}`,
      ]);
      return revision;
    },
    close: storage.close,
  };
}

function playedStatus(url: string, revision: string, sum: string, size: number): object {
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    observedGeneration: 1,
    artifact: {
      url,
      path: `${sum}.tar.gz`,
      revision,
      digest: `sha256:${sum}`,
      size,
      lastUpdateTime: now,
    },
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Succeeded',
        message: 'played',
        lastTransitionTime: now,
        observedGeneration: 1,
      },
    ],
  };
}
