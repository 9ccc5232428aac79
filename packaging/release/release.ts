// Makes a release from the commit that is checked out, and from nothing else: in a fresh folder with freshly installed
// packages. Owns the flags, the folder of results and what is said at the end. Refuses a working tree that differs from its
// commit. Ends with 0 only where every mandatory file was made.

import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { findOwnMirror } from '../base/base-root.ts';
import { pushRelease, requireRegistry } from '../push/push-release.ts';
import { readCommandLine } from '../version/command-line.ts';
import { madeShape, type ReleaseOrder } from './make-release.ts';
import { findReplaceable, ReleaseRefusal, readSignKey, requireTools } from './preconditions.ts';
import { chartNames, imageFiles, mandatoryFiles } from './release-files.ts';
import { releaseTable } from './release-table.ts';
import { refuseTree } from './release-tree.ts';
import { endWithMessage, releaseEnvironment, runTool } from './tool.ts';

const usage = `Usage: npm run release -- --out FOLDER [FLAGS]
       npm run release -- --from FOLDER --push HOST/PATH

Makes a release from the commit that is checked out. The working tree must not differ from it.

  --out FOLDER            gets the files (release)
  --registry HOST/PATH    charts and install.yaml name the image in this registry
  --push HOST/PATH        as --registry, and pushes the image and the charts there
  --from FOLDER           push the release in this folder, and make none
  --plain-http            the registry of --push is called without TLS
  --extra-ca-file FILE    CA certificates to trust in addition to the system's, for --push
  --debian-mirror URL     mirror of Debian, the folder that has pool; default: that of this machine's apt
  --require-image         fail where the image cannot be built
  --require-audit         fail where npm's registry cannot be asked for advisories
  --accept-advisory ID    release in spite of a severe advisory for a package in the programs; repeatable
  --download-url URL      where users download the files; the krew manifest names it
  --source-url URL        where the sources are; provenance, labels and charts name it
  --builder-id URI        who builds; the provenance names it
  --key FILE              secret key of minisign, which signs checksums.txt
  --key-password-file FILE  password of that key
`;

const options = {
  out: { type: 'string', default: 'release' },
  registry: { type: 'string' },
  push: { type: 'string' },
  from: { type: 'string' },
  'plain-http': { type: 'boolean', default: false },
  'extra-ca-file': { type: 'string' },
  'debian-mirror': { type: 'string' },
  'require-image': { type: 'boolean', default: false },
  'require-audit': { type: 'boolean', default: false },
  'accept-advisory': { type: 'string', multiple: true },
  'download-url': { type: 'string' },
  'source-url': { type: 'string' },
  'builder-id': { type: 'string', default: 'https://staticexport.dev/builders/unnamed' },
  key: { type: 'string' },
  'key-password-file': { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

type Made = z.infer<typeof madeShape>;
const manifestShape = z.object({ version: z.string() });
const withoutRegistry =
  'charts and install.yaml name the image without a registry, for nodes that have it; name one: --registry HOST/PATH\n';
const root = resolve(import.meta.dirname, '../..');

const readText = (name: string): Promise<string> => readFile(join(root, name), 'utf8');
const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }).trimEnd();
const versionOf = (manifest: string): string => manifestShape.parse(JSON.parse(manifest)).version;

async function requireCommit(): Promise<string> {
  const versions: Record<string, string> = { 'package.json': versionOf(await readText('package.json')) };
  for (const name of chartNames) {
    const chart = await readText(`charts/${name}/Chart.yaml`);
    for (const field of ['version', 'appVersion']) {
      const value = new RegExp(`^${field}: "?([^"\\s]+)"?$`, 'm').exec(chart)?.[1] ?? 'none';
      versions[`charts/${name}/Chart.yaml, ${field}`] = value;
    }
  }
  const changes = git('status', '--porcelain')
    .split('\n')
    .filter((line) => line !== '');
  const committedVersion = versionOf(git('show', 'HEAD:package.json'));
  const refusal = refuseTree({ changes, versions, committedVersion });
  if (refusal !== undefined) throw new ReleaseRefusal(refusal);
  return committedVersion;
}

async function makeInCleanCheckout(order: ReleaseOrder, checkout: string): Promise<Made> {
  const env = releaseEnvironment(process.env, order.seconds);
  const sources = `${checkout}.tar`;
  git('archive', '--format=tar', `--output=${sources}`, order.commit);
  await mkdir(checkout);
  const place = { cwd: checkout, env };
  await runTool(['tar', '-xf', sources], place);
  showProgress('installing packages');
  await runTool(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], place);
  const file = `${checkout}.json`;
  await writeFile(file, JSON.stringify(order));
  const command = [process.execPath, 'packaging/release/make-release.ts', file];
  const answer = await runTool(command, place, showProgress);
  return madeShape.parse(JSON.parse(answer));
}

/** Standard output is for the table. */
const showProgress = (step: string): void => void process.stderr.write(`${step} …\n`);

interface PushReach {
  readonly isPlainHttp: boolean;
  readonly extraCaFile: string | undefined;
}

async function push(
  folder: string,
  registry: string,
  { isPlainHttp, extraCaFile }: PushReach,
): Promise<void> {
  process.stdout.write(await pushRelease({ folder, registry, env: process.env, isPlainHttp, extraCaFile }));
}

const fileOf = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : resolve(name);

async function run(): Promise<number> {
  const { values } = readCommandLine('release', { options });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const registry = values.push ?? values.registry;
  if (registry !== undefined) requireRegistry(registry);
  const reach = { isPlainHttp: values['plain-http'], extraCaFile: values['extra-ca-file'] };
  if (values.from !== undefined) {
    if (values.push === undefined) throw new ReleaseRefusal('--from needs --push HOST/PATH.');
    if (values['require-audit'] || values['accept-advisory'] !== undefined)
      throw new ReleaseRefusal(
        '--from makes no release and audits nothing. Set --require-audit and --accept-advisory where the release is made.',
      );
    await push(resolve(values.from), values.push, reach);
    return 0;
  }
  const start = performance.now();
  // Archives keep the modes of files.
  process.umask(0o022);
  const version = await requireCommit();
  const out = resolve(values.out);
  const replaceable = await findReplaceable(out);
  const isImageWanted = values['require-image'] || values.push !== undefined;
  const place = { cwd: root, env: releaseEnvironment(process.env, 0) };
  await requireTools(isImageWanted, place);
  const keyFiles =
    values.key === undefined
      ? undefined
      : { key: resolve(values.key), passwordFile: fileOf(values['key-password-file']) };
  if (keyFiles !== undefined) await readSignKey(keyFiles);
  const mirror = values['debian-mirror'] || undefined;
  if (isImageWanted && mirror === undefined) await findOwnMirror(place);
  const scratch = await mkdtemp(join(tmpdir(), 'static-export-release-'));
  const [draft, work] = [join(scratch, 'out'), join(scratch, 'work')];
  const [commit = '', seconds = ''] = git('log', '-1', '--format=%H %ct').split(' ');
  try {
    for (const folder of [draft, work]) await mkdir(folder);
    const order = {
      ...{
        version,
        commit,
        seconds: Number(seconds),
        out: draft,
        scratch: work,
        registry,
        mirror,
      },
      ...{ source: values['source-url'], downloads: values['download-url'] },
      ...{
        builder: values['builder-id'],
        keyFiles,
      },
      ...{
        acceptedAdvisories: values['accept-advisory'] ?? [],
        requireAudit: values['require-audit'],
      },
    };
    const made = await makeInCleanCheckout(order, join(scratch, 'checkout'));
    process.stdout.write(made.auditText);
    // Before the first copy: a later --from would push what is in the folder.
    if (made.refusal !== undefined) throw new ReleaseRefusal(made.refusal);
    const names = (await readdir(draft)).sort();
    const wanted = [...mandatoryFiles(version), ...(isImageWanted ? imageFiles(version) : [])];
    const missing = wanted.filter((name) => !names.includes(name));
    if (missing.length > 0) {
      const reasons = new Set(
        made.leftOut.filter(({ name }) => missing.includes(name)).map(({ why }) => why),
      );
      throw new ReleaseRefusal(
        `The release is not complete, and ${out} stays as it is: ${missing.join(', ')}: ${[...reasons].join('; ')}`,
      );
    }
    // An earlier release stays until this one is whole.
    for (const name of replaceable) await rm(join(out, name));
    for (const name of names) await cp(join(draft, name), join(out, name));
    const sizes = await Promise.all(
      names.map(async (name) => ({ name, bytes: (await stat(join(out, name))).size })),
    );
    process.stdout.write(
      `release ${version} of commit ${commit}, in ${out}:\n${releaseTable(sizes, made.leftOut)}`,
    );
    if (registry === undefined) process.stdout.write(withoutRegistry);
    process.stdout.write(`made in ${Math.round((performance.now() - start) / 1000)} s\n`);
    if (values.push !== undefined) await push(out, values.push, reach);
    return 0;
  } finally {
    await removeScratch(scratch);
  }
}

/** What remains is said and is no failure: the release is made, or has failed for a better reason. */
async function removeScratch(scratch: string): Promise<void> {
  try {
    await rm(scratch, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    process.stderr.write(
      `${scratch} could not be removed: ${why}. Remove it by hand, without root with: buildah unshare rm -rf ${scratch}\n`,
    );
  }
}

await endWithMessage(async () => {
  process.exitCode = await run();
});
