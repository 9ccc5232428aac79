// A mirrored bundle is an image that containerd, the runtime of nodes, pulls by digest from a registry over plain HTTP,
// unpacks and mounts, as for an image volume. All files are equal to the site's, with zstd and with gzip.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { mustRun } from '../support/command.ts';
import { type DockerRegistry, noRegistry, startDockerRegistry } from '../support/docker-registry.ts';
import { assertMirroredSite, mirrorSite } from '../support/foreign-reader.ts';
import { type ContainerRuntime, startContainerRuntime } from '../support/node/container-runtime.ts';

suite('a mirrored bundle and containerd', { skip: noRegistry }, () => {
  let folder: string;
  let registry: DockerRegistry;
  let runtime: ContainerRuntime;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mirror-containerd-'));
    registry = await startDockerRegistry();
    runtime = await startContainerRuntime([], folder, '10.244.0.0/24');
  });
  after(async () => {
    await runtime?.program.stop();
    await registry?.close();
    await rm(folder, { recursive: true, force: true });
  });

  for (const compression of ['Zstd', 'Gzip'] as const) {
    test(`with ${compression}: pulled by digest and mounted, all files are equal`, async () => {
      const repository = `docs/${compression.toLowerCase()}`;
      const { manifestDigest } = await mirrorSite(registry.host, repository, compression);
      const reference = `${registry.host}/${repository}@${manifestDigest}`;
      const ctr = ['ctr', '--address', runtime.endpoint.replace('unix://', '')];
      await mustRun([...ctr, 'images', 'pull', '--plain-http', reference]);
      const [mounted, copied] = [
        join(folder, `${compression}-mounted`),
        join(folder, `${compression}-copied`),
      ];
      for (const each of [mounted, copied]) await mkdir(each);
      // The mount ends with the shell, whose namespace holds it.
      const script = '"$@" && cp -a "$MOUNTED/." "$COPIED"';
      const mount = [...ctr, 'images', 'mount', reference, mounted];
      const env = { MOUNTED: mounted, COPIED: copied };
      const output = await mustRun(['unshare', '--mount', 'sh', '-c', script, 'sh', ...mount], { env });
      assert.match(output, /sha256:/);
      await assertMirroredSite(copied);
    });
  }
});
