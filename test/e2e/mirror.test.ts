// A mirrored bundle is an image that containerd, the runtime of nodes, pulls by digest from a registry over plain HTTP,
// unpacks and mounts, as for an image volume. All files are equal to the site's, with zstd and with gzip, and on a node of
// another architecture than the one that the image names.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { digestOfBytes } from '#mirror/image.ts';
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

  const assertMounts = async (repository: string, digest: string): Promise<void> => {
    const reference = `${registry.host}/${repository}@${digest}`;
    const ctr = ['ctr', '--address', runtime.endpoint.replace('unix://', '')];
    await mustRun([...ctr, 'images', 'pull', '--plain-http', reference]);
    const [mounted, copied] = [join(folder, `${repository}-mounted`), join(folder, `${repository}-copied`)];
    for (const each of [mounted, copied]) await mkdir(each, { recursive: true });
    // The mount ends with the shell, whose namespace holds it.
    const script = '"$@" && cp -a "$MOUNTED/." "$COPIED"';
    const mount = [...ctr, 'images', 'mount', reference, mounted];
    const env = { MOUNTED: mounted, COPIED: copied };
    const output = await mustRun(['unshare', '--mount', 'sh', '-c', script, 'sh', ...mount], { env });
    assert.match(output, /sha256:/);
    await assertMirroredSite(copied);
  };

  for (const compression of ['Zstd', 'Gzip'] as const) {
    test(`with ${compression}: pulled by digest and mounted, all files are equal`, async () => {
      const repository = `docs/${compression.toLowerCase()}`;
      const { manifestDigest } = await mirrorSite(registry.host, repository, compression);
      await assertMounts(repository, manifestDigest);
    });
  }

  test('an image that names another architecture than that of the node is mounted, too', async () => {
    const { manifestDigest } = await mirrorSite(registry.host, 'docs/other', 'Zstd');
    await assertMounts('docs/other', await nameArchitecture(registry.host, 'docs/other', manifestDigest));
  });
});

/** Writes the image once more, with another architecture than this machine has. @returns the digest of its manifest */
async function nameArchitecture(host: string, repository: string, digest: string): Promise<string> {
  const base = `http://${host}/v2/${repository}`;
  const type = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = JSON.parse(
    await textOf(await fetch(`${base}/manifests/${digest}`, { headers: { accept: type } })),
  );
  const config = JSON.parse(await textOf(await fetch(`${base}/blobs/${manifest.config.digest}`)));
  const architecture = process.arch === 'arm64' ? 'amd64' : 'arm64';
  const bytes = Buffer.from(JSON.stringify({ ...config, architecture }));
  const changed = { ...manifest.config, digest: digestOfBytes(bytes), size: bytes.length };
  const upload = await fetch(`${base}/blobs/uploads/`, { method: 'POST' });
  const place = `${upload.headers.get('location')}&digest=${changed.digest}`;
  await textOf(await fetch(new URL(place, base), { method: 'PUT', body: bytes }));
  const body = JSON.stringify({ ...manifest, config: changed });
  const written = digestOfBytes(Buffer.from(body));
  const headers = { 'content-type': type };
  await textOf(await fetch(`${base}/manifests/${written}`, { method: 'PUT', headers, body }));
  return written;
}

async function textOf(answer: Response): Promise<string> {
  assert.ok(answer.ok, `${answer.url} answered ${answer.status}`);
  return answer.text();
}
