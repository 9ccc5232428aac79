// A bundle that was mirrored for GitOps controllers, compressed with gzip: Flux's own library pulls it by digest and unpacks
// every file. A bundle compressed with zstd, the default, is not for Flux.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { Compression } from '#mirror/image.ts';
import { type CommandResult, runCommand } from '../support/command.ts';
import { type DockerRegistry, noRegistry, startDockerRegistry } from '../support/docker-registry.ts';
import { assertMirroredSite, mirrorSite } from '../support/foreign-reader.ts';
import { findGitOpsProgram, noGitOps } from '../support/gitops/programs.ts';

suite("a mirrored bundle and Flux's own library", { skip: noGitOps || noRegistry }, () => {
  let registry: DockerRegistry;
  let folder: string;
  before(async () => {
    registry = await startDockerRegistry();
    folder = await mkdtemp(join(tmpdir(), 'flux-oci-'));
  });
  after(async () => {
    await registry?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function pull(
    compression: Compression,
  ): Promise<{ readonly result: CommandResult; into: string; readonly reference: string }> {
    const { manifestDigest } = await mirrorSite(
      registry.host,
      `docs/${compression.toLowerCase()}`,
      compression,
    );
    const reference = `${registry.host}/docs/${compression.toLowerCase()}@${manifestDigest}`;
    const into = join(folder, compression);
    await mkdir(into);
    return {
      result: await runCommand([await findGitOpsProgram('flux-oci'), reference, into]),
      into,
      reference,
    };
  }

  test('with gzip: pulled by digest, all files are equal', async () => {
    const { result, into, reference } = await pull('Gzip');
    assert.equal(result.code, 0, result.stderr);
    assert.equal(result.stdout.trim(), reference);
    await assertMirroredSite(into);
  });

  test('with zstd: the library unpacks no file of it', async () => {
    const { result, into } = await pull('Zstd');
    assert.equal(result.code, 1);
    assert.match(result.stderr, /gzip/);
    assert.deepEqual(await readdir(into), []);
  });
});
