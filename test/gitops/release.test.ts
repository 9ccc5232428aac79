// A released chart for GitOps controllers: Flux's own library pulls it from a registry by digest and by its minor version, and
// unpacks every file of the chart.

import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { pushRelease } from '../../packaging/push/push-release.ts';
import { unpackGzip } from '../../packaging/release/fixed-tar.ts';
import { chartFile, chartNames } from '../../packaging/release/release-files.ts';
import { mustRun } from '../support/command.ts';
import { type DockerRegistry, noRegistry, startDockerRegistry } from '../support/docker-registry.ts';
import { findGitOpsProgram, noGitOps } from '../support/gitops/programs.ts';
import { makeSmallRelease } from '../support/small-release.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

suite("a released chart and Flux's own library", { skip: noGitOps || noRegistry }, () => {
  const folder = temporaryFolder();
  let server: DockerRegistry;
  let registry: string;
  let release: string;
  before(async () => {
    server = await startDockerRegistry();
    registry = `${server.host}/docs/exports`;
    release = await makeSmallRelease(folder, { registry, version: '0.1.0' });
    await pushRelease({ folder: release, registry, env: { DOCKER_CONFIG: folder }, isPlainHttp: true });
  });
  after(() => server?.close());

  for (const name of chartNames) {
    for (const tag of ['0.1.0', '0.1']) {
      test(`${name}:${tag} is pulled, and all files are equal`, async () => {
        const into = join(folder, `${name}-${tag}`);
        await mkdir(into);
        const reference = `${registry}/charts/${name}`;
        const printed = await mustRun([await findGitOpsProgram('flux-oci'), `${reference}:${tag}`, into]);
        assert.match(printed, new RegExp(`^${reference}@sha256:[0-9a-f]{64}\n$`));
        const packed = await unpackGzip(await readFile(join(release, chartFile(name, '0.1.0'))));
        assert.ok(packed.length > 5);
        for (const file of packed)
          assert.ok(file.bytes.equals(await readFile(join(into, file.name))), file.name);
      });
    }
  }
});
