// Pushes a release folder into a registry: the image of both platforms, and both charts in Helm's form. Owns the order: all
// refusals before the first write, and minor versions after all versions. Refuses files that differ from checksums.txt, and
// charts that name the image of another registry. A second push of the same release writes nothing.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { readRepository } from '#mirror/registry/repository.ts';
import { readCaFile } from '#platform/http/ca-certificates.ts';
import { requireProxySettings } from '#platform/http/proxy-settings.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { userAgent } from '#platform/runtime/version.ts';
import * as files from '../release/release-files.ts';
import { type Artifact, PushRefusal } from './artifact.ts';
import { chartArtifact, type PackedChart, readPackedChart } from './chart-artifact.ts';
import { readImageArtifact } from './image-artifact.ts';
import { readLoginFiles } from './login-files.ts';
import { explainPushFault, type PushReach } from './push-fault.ts';
import { conflictText, isConflict, type PlannedTags, planTags, type TagConflict } from './push-plan.ts';
import { type Pushed, pushReport } from './push-report.ts';
import { registryLogin } from './registry-login.ts';
import { openReleaseRepository, type ReleaseRepository } from './release-repository.ts';

export interface PushOptions {
  /** Made by `npm run release`, for this registry. */
  readonly folder: string;
  /** `HOST/PATH`, without a scheme. */
  readonly registry: string;
  /** Credentials and proxies. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isPlainHttp?: boolean | undefined;
  /** CA certificates to trust in addition to the system's. */
  readonly extraCaFile?: string | undefined;
}

/** @throws PushRefusal where it is not `HOST/PATH` */
export function requireRegistry(text: string): string {
  try {
    readRepository(`oci://${files.imageRepositoryOf(text)}`);
  } catch (cause) {
    throw new PushRefusal(
      `${text} does not name a place in a registry. Write HOST/PATH in lower case, without a scheme.`,
      { cause },
    );
  }
  return text;
}

/**
 * @returns what was pushed and what was there already, as lines for the user
 * @throws PushRefusal {MirrorError}
 */
export async function pushRelease(options: PushOptions): Promise<string> {
  const registry = requireRegistry(options.registry);
  const scratch = await mkdtemp(join(tmpdir(), 'static-export-push-'));
  const opened: ReleaseRepository[] = [];
  try {
    const artifacts = await readArtifacts(options.folder, registry, scratch);
    const { open, reach } = await opener(options, registry);
    const repositories = artifacts.map((artifact) => ({ artifact, repository: open(artifact.name) }));
    opened.push(...repositories.map(({ repository }) => repository));
    const plans: (PlannedTags | TagConflict)[] = [];
    for (const { artifact, repository } of repositories) {
      const present = await repository.readTags(artifact.version).catch((error: unknown) => {
        throw explainPushFault(error, reach);
      });
      plans.push(planTags(artifact, present));
    }
    const conflicts = plans.filter(isConflict);
    if (conflicts.length > 0) throw new PushRefusal(conflictText(registry, conflicts));
    const pushes = repositories.flatMap((one, at) => {
      const plan = plans[at];
      return plan === undefined || isConflict(plan) ? [] : [{ ...one, plan }];
    });
    return pushReport(registry, await writeAll(pushes));
  } finally {
    for (const repository of opened) await repository.close();
    await rm(scratch, { recursive: true, force: true, maxRetries: 3 });
  }
}

interface Push {
  readonly artifact: Artifact;
  readonly repository: ReleaseRepository;
  readonly plan: PlannedTags;
}

/** A registry with immutable tags refuses a minor version that moves: by then all versions are complete. */
async function writeAll(pushes: readonly Push[]): Promise<readonly Pushed[]> {
  const pushed: Pushed[] = [];
  for (const { artifact, repository, plan } of pushes) {
    const sent = plan.version.isWritten ? await repository.writeArtifact(artifact) : undefined;
    pushed.push({ artifact, plan, sent });
  }
  for (const { artifact, repository, plan } of pushes) {
    if (plan.minor?.step === 'write') await repository.moveTag(plan.minor.tag, artifact.root);
  }
  return pushed;
}

interface Opener {
  readonly open: (name: string) => ReleaseRepository;
  readonly reach: PushReach;
}

async function opener(
  { env, isPlainHttp = false, extraCaFile }: PushOptions,
  registry: string,
): Promise<Opener> {
  const place = readRepository(`oci://${files.imageRepositoryOf(registry)}`);
  const logins = await readLoginFiles(env, process.getuid?.());
  const isWithout = registryLogin(env, logins, place) === undefined;
  const [extraCaPem, proxy] = [await readCaFile(extraCaFile), requireProxySettings(env)];
  const { signal } = new AbortController();
  return {
    open: (path) => {
      const name = `oci://${registry}/${path}`;
      const credentials = registryLogin(env, logins, readRepository(name));
      const reach = { allowPrivateAddresses: true, isHttpAllowed: isPlainHttp, extraCaPem, proxy, userAgent };
      return openReleaseRepository(name, { ...reach, credentials, clock: systemClock }, signal);
    },
    reach: { host: place.host, isPlainHttp, filesWithout: isWithout ? logins : undefined },
  };
}

async function readArtifacts(
  folder: string,
  registry: string,
  scratch: string,
): Promise<readonly Artifact[]> {
  const names = await readdir(folder);
  const sums = new Map(
    (await readFile(join(folder, files.checksumsFile), 'utf8').catch(() => ''))
      .split('\n')
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );
  const version = /^static-export-operator-(.+)\.tgz$/m.exec(names.join('\n'))?.[1];
  if (version === undefined) throw new PushRefusal(`${folder} has no release. Make one: npm run release.`);
  const require = async (name: string): Promise<string> => {
    if (!names.includes(name)) {
      throw new PushRefusal(`${folder} has no ${name}. Make the release again, with --require-image.`);
    }
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(folder, name)), hash);
    if (hash.digest('hex') === sums.get(name)) return join(folder, name);
    throw new PushRefusal(`${name} differs from ${files.checksumsFile}. Make the release again.`);
  };
  const image = files.imageRepositoryOf(registry);
  const archive = await require(files.imageFile(version));
  const name = image.slice(registry.length + 1);
  const charts: Artifact[] = [];
  for (const chart of files.chartNames) {
    const file = files.chartFile(chart, version);
    const bytes = await readFile(await require(file));
    const packed = await readPackedChart(file, bytes);
    requireImage(file, packed, image, registry);
    charts.push(chartArtifact(bytes, packed));
  }
  return [await readImageArtifact(archive, scratch, { name, version }), ...charts];
}

const imageShape = z.object({ repository: z.string() });
const valuesShape = z.union([
  z.object({ image: imageShape }).transform(({ image }) => image),
  z.object({ server: z.object({ image: imageShape }) }).transform(({ server }) => server.image),
]);

/** A chart that is installed from the registry pulls the image from there, without a value. */
function requireImage(file: string, { values }: PackedChart, image: string, registry: string): void {
  const { repository } = valuesShape.parse(parse(values));
  if (repository === image) return;
  throw new PushRefusal(
    `${file} names the image ${repository}, and the push is for ${image}. Make the release with --registry ${registry}.`,
  );
}
