// A release folder for a registry without the minutes that a real one takes: the real charts with the registry's image, packed
// as a release packs them, and a small image of both platforms. Owns its checksums. The image holds no program.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Platform, platforms } from '../../packaging/base/base-lock.ts';
import { publishReadme, withRepository } from '../../packaging/release/chart-text.ts';
import { formatChecksums } from '../../packaging/release/checksums.ts';
import { packFolder, packGzip, unpackGzip } from '../../packaging/release/fixed-tar.ts';
import { type StoredBlob, sortIndex } from '../../packaging/release/image-layout.ts';
import * as files from '../../packaging/release/release-files.ts';
import { publishChart } from '../../packaging/version/chart-annotations.ts';
import { findClusterTools } from './cluster-tools.ts';
import { mustRun } from './command.ts';
import { noise } from './noise.ts';

const project = resolve(import.meta.dirname, '../..');

export interface SmallRelease {
  /** The charts and the image name it. */
  readonly registry: string;
  readonly version: string;
  /** Other content under the same names. */
  readonly variant?: string;
  /** Archive of an image to take in place of the small one. */
  readonly image?: string;
}

/** Since 1970, of every entry. */
export const releaseSeconds = 1_767_323_045;

/** @param folder existing and empty; gets `release` and what it is made of. @returns the release folder */
export async function makeSmallRelease(folder: string, release: SmallRelease): Promise<string> {
  const { version } = release;
  const out = join(folder, 'release');
  await mkdir(out);
  for (const name of files.chartNames) await packChart(folder, out, name, release);
  const archive = join(out, files.imageFile(version));
  if (release.image === undefined) await packImage(folder, archive, release);
  else await copyFile(release.image, archive);
  const names = [...files.chartNames.map((name) => files.chartFile(name, version)), files.imageFile(version)];
  const sums = await Promise.all(
    names.map(async (name) => ({ name, sha256: hash('sha256', await readFile(join(out, name)), 'hex') })),
  );
  await writeFile(join(out, files.checksumsFile), formatChecksums(sums));
  return out;
}

async function packChart(
  folder: string,
  out: string,
  name: files.ChartName,
  { registry, version, variant = '' }: SmallRelease,
): Promise<void> {
  const { helm } = await findClusterTools();
  const copy = join(folder, name);
  await mustRun(['cp', '-R', join(project, 'charts', name), copy]);
  const change = async (file: string, by: (text: string) => string): Promise<void> =>
    writeFile(join(copy, file), by(await readFile(join(copy, file), 'utf8')));
  const repository = files.imageRepositoryOf(registry);
  await change('values.yaml', (text) => withRepository(text, repository));
  await change('README.md', (text) =>
    publishReadme(text, { chart: name, version, registry, source: undefined }),
  );
  await change('Chart.yaml', (text) => publishChart(text, { imageRepository: repository }) + variant);
  await mustRun([
    ...[helm, 'package', copy, '--destination', folder],
    ...[`--version=${version}`, `--app-version=${version}`],
  ]);
  const archive = files.chartFile(name, version);
  const packed = await unpackGzip(await readFile(join(folder, archive)));
  await writeFile(join(out, archive), await packGzip(packed, releaseSeconds));
}

async function packImage(folder: string, to: string, release: SmallRelease): Promise<void> {
  const layout = join(folder, 'layout');
  await mkdir(join(layout, 'blobs/sha256'), { recursive: true });
  const names: string[] = [];
  const put = async (bytes: Buffer): Promise<{ readonly digest: string; readonly size: number }> => {
    const hex = hash('sha256', bytes, 'hex');
    const name = `blobs/sha256/${hex}`;
    await writeFile(join(layout, name), bytes);
    names.push(name);
    return { digest: `sha256:${hex}`, size: bytes.length };
  };
  const packed = async (name: string, bytes: Buffer): Promise<Buffer> =>
    packGzip([{ name, bytes }], releaseSeconds);
  const layerType = 'application/vnd.oci.image.layer.v1.tar+gzip';
  // Of both platforms, as the programs of the real image are.
  const shared = {
    mediaType: layerType,
    ...(await put(await packed('programs', noise(300_000, 'programs')))),
  };
  const manifests: Partial<Record<Platform, StoredBlob>> = {};
  for (const platform of platforms) {
    const [os = '', architecture = ''] = platform.split('/');
    const own = {
      mediaType: layerType,
      ...(await put(await packed('node', Buffer.from(platform + (release.variant ?? ''))))),
    };
    const config = { architecture, os, config: {}, rootfs: { type: 'layers', diff_ids: [] } };
    const manifest = {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: {
        mediaType: 'application/vnd.oci.image.config.v1+json',
        ...(await put(Buffer.from(JSON.stringify(config)))),
      },
      layers: [own, shared],
    };
    manifests[platform] = await put(Buffer.from(JSON.stringify(manifest)));
  }
  const { 'linux/amd64': amd64, 'linux/arm64': arm64 } = manifests;
  assert.ok(amd64 !== undefined && arm64 !== undefined);
  const index = sortIndex({ 'linux/amd64': amd64, 'linux/arm64': arm64 }, release.version);
  await put(index.bytes);
  await writeFile(join(layout, 'index.json'), index.top);
  await writeFile(join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  await packFolder(layout, ['oci-layout', 'index.json', ...new Set(names.sort())], releaseSeconds, to);
}
