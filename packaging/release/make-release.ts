// Makes the files of a release, in a clean checkout whose packages are installed. `release.ts` starts it there. Owns which file
// is made of what. Refuses packages with severe advisories before it writes a file; a missing tool leaves its files out, with
// the reason.
//
//   node packaging/release/make-release.ts ORDER.json     prints what it left out and what it refused, as JSON

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { readThirdParty } from '../../.ci/third-party.ts';
import { readBaseLock } from '../base/base-lock.ts';
import { type BasePart, baseParts } from '../base/base-parts.ts';
import { bundledPackages, isPackagePart } from '../bundled-packages.ts';
import { publishChart } from '../version/chart-annotations.ts';
import { judgeAudit } from './audit.ts';
import { publishReadme, withRepository } from './chart-text.ts';
import { type FileSum, formatChecksums, signChecksums } from './checksums.ts';
import { packGzip, unpackGzip } from './fixed-tar.ts';
import { buildImageArchive } from './image-archive.ts';
import { installManifest, installName, installNamespace } from './install-manifest.ts';
import { askNpm } from './npm-audit.ts';
import { readSignKey } from './preconditions.ts';
import { provenanceLine, releaseParameters } from './provenance.ts';
import * as files from './release-files.ts';
import { releaseNotes } from './release-notes.ts';
import type { LeftOut } from './release-table.ts';
import { type BillSubject, cyclonedxBill, spdxBill } from './software-bill.ts';
import {
  endWithMessage,
  progressMark,
  releaseEnvironment,
  runTool,
  type ToolPlace,
  toolVersion,
} from './tool.ts';

export const orderShape = z.object({
  version: z.string(),
  commit: z.string(),
  /** Of the commit, since 1970. */
  seconds: z.number(),
  /** Absolute, existing and empty. */
  out: z.string(),
  /** Absolute, existing and empty. */
  scratch: z.string(),
  registry: z.string().optional(),
  /** Of Debian. */
  mirror: z.string().optional(),
  source: z.string().optional(),
  downloads: z.string().optional(),
  builder: z.string(),
  keyFiles: z.object({ key: z.string(), passwordFile: z.string().optional() }).optional(),
  acceptedAdvisories: z.array(z.string()),
  requireAudit: z.boolean(),
});
export type ReleaseOrder = z.infer<typeof orderShape>;

const show = (step: string): void => void process.stderr.write(`${progressMark}${step}\n`);
const root = resolve(import.meta.dirname, '../..');
const readText = (name: string): Promise<string> => readFile(join(root, name), 'utf8');

/** What `release.ts` says at the end. */
export const madeShape = z.object({
  leftOut: z.array(z.object({ name: z.string(), why: z.string() })),
  /** For people, each line with its end. */
  auditText: z.string(),
  /** A sentence. No file is made. */
  refusal: z.string().optional(),
});

async function makeRelease(order: ReleaseOrder): Promise<z.infer<typeof madeShape>> {
  const { version, out, seconds } = order;
  const env = releaseEnvironment(process.env, seconds);
  const PATH = [join(root, 'node_modules/.bin'), env['PATH'] ?? ''].join(delimiter);
  const place: ToolPlace = { cwd: root, env: { ...env, PATH } };
  const [npm = '', helm, buildah] = await Promise.all([
    toolVersion(['npm', '--version'], place),
    toolVersion(['helm', 'version', '--short'], place),
    toolVersion(['buildah', '--version'], place),
  ]);
  const programs = join(order.scratch, 'programs');
  show('building programs');
  await runTool(['npm', 'run', '-s', 'build'], { ...place, env: { ...place.env, OUT: programs } });
  const inImage = await bundledPackages(root, programs, () => true);
  const { text: auditText, refusal } = judgeAudit(await askNpm(inImage, place), {
    accepted: order.acceptedAdvisories,
    isRequired: order.requireAudit,
  });
  if (refusal !== undefined) return { leftOut: [], auditText, refusal };

  const notes = releaseNotes(await readText('CHANGELOG.md'), version, order.source);
  await writeFile(join(out, files.notesFile), notes);
  const leftOut: LeftOut[] = [];
  show('packing charts');
  await makeCharts(order, place);
  await makePackage(order, programs, place);
  show('building the image of both platforms');
  const image = await makeImage(order, programs, place, buildah);
  if ('why' in image) leftOut.push(...files.imageFiles(version).map((name) => ({ name, why: image.why })));
  const base = 'why' in image ? [] : await readBaseParts();
  await makeBills(order, programs, place, 'why' in image ? undefined : { inImage, base });

  const tools = {
    node: process.version,
    npm,
    ...(helm && { helm }),
    ...(!('why' in image) && { buildah: buildah ?? '' }),
  };
  const sums = await sumsOf(out);
  const { commit, source, builder } = order;
  const parameters = releaseParameters(order);
  const line = provenanceLine({ commit, source, builder, parameters, tools, base }, sums);
  await writeFile(join(out, files.provenanceFile), line);
  const checksums = formatChecksums(await sumsOf(out));
  await writeFile(join(out, files.checksumsFile), checksums);
  if (order.keyFiles === undefined) {
    leftOut.push({
      name: files.signatureFile,
      why: 'no key is given; name a secret key of minisign: --key FILE',
    });
  } else {
    const { key: file, passwordFile } = order.keyFiles;
    const key = await readSignKey({ key: file, passwordFile });
    await writeFile(join(out, files.signatureFile), signChecksums(checksums, version, key));
  }
  return { leftOut, auditText };
}

async function makeCharts(
  { version, out, scratch, seconds, registry, source }: ReleaseOrder,
  place: ToolPlace,
): Promise<void> {
  const imageRepository = registry === undefined ? undefined : files.imageRepositoryOf(registry);
  for (const name of files.chartNames) {
    const [values, chart] = [`charts/${name}/values.yaml`, `charts/${name}/Chart.yaml`];
    if (imageRepository !== undefined)
      await writeFile(join(root, values), withRepository(await readText(values), imageRepository));
    const published = publishChart(await readText(chart), { imageRepository, sourceUrl: source });
    await writeFile(join(root, chart), published);
  }
  // Defaults and tables of values follow from values.yaml.
  if (imageRepository !== undefined) await runTool(['node', 'charts/generate-readme.ts'], place);
  for (const name of files.chartNames) {
    const readme = `charts/${name}/README.md`;
    const release = { chart: name, version, registry, source };
    await writeFile(join(root, readme), publishReadme(await readText(readme), release));
    await runTool(['helm', 'package', `charts/${name}`, '--destination', scratch], place);
    const archive = files.chartFile(name, version);
    const packed = await unpackGzip(await readFile(join(scratch, archive)));
    await writeFile(join(out, archive), await packGzip(packed, seconds));
  }
  const chart = join(out, files.chartFile('static-export-operator', version));
  const rendering = ['helm', 'template', installName, chart, '--namespace', installNamespace, '--skip-tests'];
  await writeFile(join(out, files.installFile), installManifest(await runTool(rendering, place), version));
}

async function makePackage(
  { version, out, downloads }: ReleaseOrder,
  programs: string,
  place: ToolPlace,
): Promise<void> {
  const archive = files.packageFile(version);
  const uri = downloads === undefined ? [] : ['--archive-uri', `${downloads.replace(/\/$/, '')}/${archive}`];
  await runTool(['node', 'packaging/build-package.ts', programs, ...uri], place);
  for (const name of [archive, files.krewFile]) await cp(join(programs, name), join(out, name));
}

async function makeImage(
  order: ReleaseOrder,
  programs: string,
  place: ToolPlace,
  buildah: string | undefined,
): Promise<{ readonly digest: string } | { readonly why: string }> {
  if (buildah === undefined) return { why: 'buildah is not installed; install it and run again' };
  if ((await toolVersion(['dpkg-deb', '--version'], place)) === undefined)
    return { why: 'dpkg-deb is not installed; install dpkg and run again' };
  const [folder, documents] = [join(order.scratch, 'image'), join(order.scratch, 'documents')];
  await mkdir(folder);
  await runTool(['node', '.ci/third-party.ts', documents], place);
  // As the Dockerfile's own stage: neither maps nor what the bundler says of its work.
  const inImage = join(order.scratch, 'programs-of-image');
  await mkdir(inImage);
  for (const name of await readdir(programs)) {
    if (/\.mjs(?:\.LEGAL\.txt)?$/.test(name)) await cp(join(programs, name), join(inImage, name));
  }
  for (const name of ['static-export', 'bundle-server']) {
    await cp(join(programs, name), join(inImage, name), { recursive: true });
  }
  const { version, commit, source, seconds, out, mirror } = order;
  const to = join(out, files.imageFile(version));
  try {
    const digest = await buildImageArchive({
      ...{ place, folder, programs: inImage, documents, mirror, version, commit, source, seconds, to },
    });
    return { digest };
  } catch (error) {
    await rm(to, { force: true });
    return { why: `the build failed: ${error instanceof Error ? error.message : String(error)}` };
  }
}

async function makeBills(
  order: ReleaseOrder,
  programs: string,
  place: ToolPlace,
  image: { readonly inImage: ReadonlySet<string>; readonly base: readonly BasePart[] } | undefined,
): Promise<void> {
  const { version, commit, out } = order;
  const time = new Date(order.seconds * 1000).toISOString();
  const npm = async (format: string): Promise<unknown> =>
    JSON.parse(await runTool(['npm', 'sbom', `--sbom-format=${format}`], place));
  const { bill } = readThirdParty();
  const production = new Set(bill.components.map((one) => `${one.name}@${one.version}`));
  const partOf =
    (bundled: ReadonlySet<string>) =>
    (name: string, of: string): boolean =>
      bundled.has(name) && production.has(`${name}@${of}`);
  const [cdx, spdx] = [await npm('cyclonedx'), await npm('spdx')];
  const write = async (of: 'image' | 'package', subject: BillSubject): Promise<void> => {
    await writeFile(join(out, files.billFile(of, 'cdx')), cyclonedxBill(cdx, subject));
    await writeFile(join(out, files.billFile(of, 'spdx')), spdxBill(spdx, subject));
  };
  const subject = { version, commit, time };
  const inPackage = await bundledPackages(root, programs, isPackagePart);
  await write('package', {
    ...subject,
    name: 'static-export-cli',
    isPart: partOf(inPackage),
    more: [],
  });
  if (image === undefined) return;
  const { inImage, base } = image;
  await write('image', {
    ...{ ...subject, name: 'static-export-operator', isPart: partOf(inImage), more: base },
  });
}

async function readBaseParts(): Promise<readonly BasePart[]> {
  const lock = readBaseLock(await readText('packaging/base/base-lock.json'));
  return baseParts(lock, await readText('package-lock.json'));
}

async function sumsOf(folder: string): Promise<readonly FileSum[]> {
  const sums: FileSum[] = [];
  for (const name of (await readdir(folder)).sort()) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(folder, name)), hash);
    sums.push({ name, sha256: hash.digest('hex') });
  }
  return sums;
}

if (import.meta.main) {
  const [file = ''] = process.argv.slice(2);
  await endWithMessage(async () => {
    const made = await makeRelease(orderShape.parse(JSON.parse(await readFile(file, 'utf8'))));
    process.stdout.write(`${JSON.stringify(made)}\n`);
  });
}
