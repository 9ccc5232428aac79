// The spec with its defaults applied: the only form that decisions read. Only this file has defaults. Invariant:
// the result depends on the spec and the operator's settings only, never on status or time.

import type { ExportProject } from '#export-api/answers.ts';
import type { MirrorLocation } from '#platform/wire/mirror-location.ts';
import { parseDurationMs } from './duration.ts';
import type { SpecGitTarget } from './git-target-schema.ts';
import { defaultOutputName, defaultSecretKey, fieldManager } from './names.ts';
import type { Spec } from './schema.ts';
import { parseSizeBytes } from './size.ts';
import type { SpecTarget } from './target-schema.ts';
import { type WantedMirror, wantMirror } from './wanted-mirror.ts';
import { wantTransform } from './wanted-transform.ts';

/** What every target has. */
interface TargetCommon {
  /** As in `spec.targets`. */
  readonly targetName: string;
  /** `ConfigMap/apps/docs-values/values.yaml`: a target that names another object gets a new status entry. */
  readonly object: string;
  readonly isDryRun: boolean;
  readonly writesVersion: boolean;
  readonly writesDigest: boolean;
  /** The reference of the copy in the mirror, in addition to the digest. */
  readonly writesRef: boolean;
}

/** An object of the cluster. */
interface ObjectTarget extends TargetCommon {
  readonly namespace: string;
  readonly name: string;
}

/** A target whose YAML document is edited. */
export interface WantedValuesTarget extends ObjectTarget {
  readonly type: 'Values';
  readonly objectKind: 'ConfigMap' | 'Secret';
  readonly dataKey: string;
  readonly writesLink: boolean;
}

export interface WantedHelmReleaseTarget extends ObjectTarget {
  readonly type: 'HelmRelease';
}

export interface WantedApplicationTarget extends ObjectTarget {
  readonly type: 'Application';
  /** Which of several sources. */
  readonly source: {
    readonly chart?: string | undefined;
    readonly repoURL?: string | undefined;
    readonly ref?: string | undefined;
  };
  /** Starts a sync where the Application has none of its own. */
  readonly requestsSync: boolean;
}

export interface WantedWorkloadTarget extends ObjectTarget {
  readonly type: 'Workload';
  readonly objectKind: 'Deployment' | 'StatefulSet' | 'DaemonSet';
}

/** A file of a git repository, with every default applied. */
export interface WantedGitTarget extends TargetCommon {
  readonly type: 'Git';
  readonly url: string;
  readonly branch: string;
  readonly pullRequestBranch: string | undefined;
  readonly path: string;
  readonly keyPath: readonly string[];
  /** In the namespace of the resource. */
  readonly secretName: string;
  readonly author: { readonly name: string; readonly email: string };
  /** Subject of a commit, with {namespace}, {name} and {version}. */
  readonly message: string;
}

export type WantedObjectTarget =
  | WantedValuesTarget
  | WantedHelmReleaseTarget
  | WantedApplicationTarget
  | WantedWorkloadTarget;

export type WantedTarget = WantedObjectTarget | WantedGitTarget;

export function isObjectTarget(target: WantedTarget): target is WantedObjectTarget {
  return target.type !== 'Git';
}

/** The kind of the object that a target names. */
export function targetKindOf(target: WantedObjectTarget) {
  return 'objectKind' in target ? target.objectKind : target.type;
}

export interface Pin {
  readonly version: string | undefined;
  readonly jobId: string | undefined;
}

export interface Wanted {
  /** The name of the site; `undefined` only with a project. */
  readonly domain: string | undefined;
  /** `undefined`: the export API is asked by domain. */
  readonly project: ExportProject | undefined;
  /** `undefined` when neither the spec nor the operator names one. No trailing slash. */
  readonly baseUrl: string | undefined;
  readonly keySecret: { readonly name: string; readonly key: string };
  readonly schedule: string | undefined;
  readonly timeZone: string;
  readonly jobTimeoutMs: number;
  readonly refreshAtPercent: number;
  readonly minIntervalMs: number;
  readonly promotion: {
    readonly isInspected: boolean;
    readonly minPages: number;
    /** Whether an export is held whose home page does not answer. */
    readonly needsHomePage: boolean;
    readonly maxShrinkPercent: number;
    /** Of the archive, packed and unpacked; `undefined`: only the operator's own limits. */
    readonly maxBundleBytes: number | undefined;
    readonly isManual: boolean;
  };
  readonly pin: Pin | undefined;
  readonly historyLimit: number;
  readonly isSuspended: boolean;
  /** How long no hook must come before one starts an export. `undefined`: hooks start none. */
  readonly quietPeriodMs: number | undefined;
  readonly outputName: string;
  /** False: a version that lies in the mirror is published without a link. */
  readonly publishesLink: boolean;
  /** Steps as `readTransform` reads them; `undefined`: archives are published as they are. */
  readonly repair: string | undefined;
  readonly mirror: WantedMirror | undefined;
  readonly targets: readonly WantedTarget[];
}

const minuteMs = 60_000;
const shortestJobTimeoutMs = 10_000;
const shortestMinIntervalMs = 1000;
/** The domain is reserved (RFC 2606), so that no person gets mail about commits. */
const defaultAuthor = { name: fieldManager, email: `${fieldManager}@noreply.invalid` };
const defaultMessage = 'docs: publish {namespace}/{name} {version}';

/** @param settings the operator's flags, used for fields that the spec omits */
export function applyDefaults(
  identity: { readonly namespace: string; readonly name: string },
  spec: Spec,
  settings: { readonly apiBaseUrl: string | undefined; readonly defaultMirror?: MirrorLocation | undefined },
): Wanted {
  const mirror = wantMirror(identity, spec, settings.defaultMirror);
  const repair = wantTransform(spec.transform);
  return {
    domain: spec.domain?.toLowerCase(),
    project: projectOf(spec.api),
    baseUrl: (spec.api.baseUrl ?? settings.apiBaseUrl)?.replace(/\/+$/, ''),
    keySecret: { name: spec.api.keySecretRef.name, key: spec.api.keySecretRef.key ?? defaultSecretKey },
    schedule: spec.schedule?.trim(),
    timeZone: spec.timeZone ?? 'UTC',
    jobTimeoutMs: Math.max(shortestJobTimeoutMs, parseDurationMs(spec.jobTimeout ?? '') ?? 60 * minuteMs),
    refreshAtPercent: spec.linkRefresh?.atPercent ?? 66,
    minIntervalMs: Math.max(
      shortestMinIntervalMs,
      parseDurationMs(spec.linkRefresh?.minInterval ?? '') ?? minuteMs / 2,
    ),
    promotion: {
      isInspected: spec.promotion?.inspect !== 'Never',
      minPages: spec.promotion?.minPages ?? 1,
      needsHomePage: spec.promotion?.requireHomePage ?? true,
      maxShrinkPercent: spec.promotion?.maxShrinkPercent ?? 50,
      maxBundleBytes: parseSizeBytes(spec.promotion?.maxBundleSize ?? ''),
      isManual: spec.promotion?.mode === 'Manual',
    },
    pin: spec.pin && { version: spec.pin.version, jobId: spec.pin.jobId },
    historyLimit: spec.historyLimit ?? 5,
    isSuspended: spec.suspend ?? false,
    quietPeriodMs: spec.trigger && (parseDurationMs(spec.trigger.quietPeriod ?? '') ?? minuteMs),
    outputName: spec.output?.name ?? defaultOutputName(identity.name),
    // A link leads to the archive before its steps, whose digest no server accepts.
    publishesLink: (spec.output?.link !== 'Never' && repair === undefined) || mirror === undefined,
    repair,
    mirror,
    targets: (spec.targets ?? []).flatMap((target) => wantTarget(identity.namespace, target)),
  };
}

/** @returns `undefined` where the export API is asked by domain */
export function projectOf(
  api: Pick<Spec['api'], 'projectId' | 'basePath'> | undefined,
): ExportProject | undefined {
  return api?.projectId === undefined ? undefined : { id: api.projectId, basePath: api.basePath };
}

/** @returns nothing where the stored spec lacks the field of its type */
function wantTarget(ownNamespace: string, spec: SpecTarget): readonly WantedTarget[] {
  const { values, helmRelease, application, workload, git } = spec;
  const leaves = spec.write ?? ['version'];
  const common = {
    targetName: spec.name,
    isDryRun: spec.mode === 'DryRun',
    writesVersion: leaves.includes('version'),
    // A reference is used with its digest only.
    writesDigest: leaves.includes('digest') || leaves.includes('ref'),
    writesRef: leaves.includes('ref'),
  };
  const objectOf = (
    kind: string,
    { namespace = ownNamespace, name }: { readonly namespace?: string | undefined; readonly name: string },
  ) => ({ ...common, namespace, name, object: `${kind}/${namespace}/${name}` });
  switch (spec.type) {
    case 'Values': {
      if (values === undefined) return [];
      const { kind: objectKind, key: dataKey = 'values.yaml' } = values;
      const object = objectOf(objectKind, values);
      const writesLink = leaves.includes('bundleUrl');
      return [
        {
          ...{ type: spec.type, ...object, object: `${object.object}/${dataKey}` },
          ...{ objectKind, dataKey, writesLink },
        },
      ];
    }
    case 'HelmRelease':
      return helmRelease === undefined ? [] : [{ type: spec.type, ...objectOf(spec.type, helmRelease) }];
    case 'Application':
      return application === undefined
        ? []
        : [
            {
              ...{ type: spec.type, ...objectOf(spec.type, application) },
              ...{ source: application.source ?? {}, requestsSync: application.sync === 'Request' },
            },
          ];
    case 'Workload':
      return workload === undefined
        ? []
        : [{ type: spec.type, ...objectOf(workload.kind, workload), objectKind: workload.kind }];
    case 'Git':
      return git === undefined ? [] : [{ ...common, ...wantGit(git) }];
    default:
      return spec.type satisfies never;
  }
}

function wantGit(git: SpecGitTarget): Omit<WantedGitTarget, Exclude<keyof TargetCommon, 'object'>> {
  const { url, branch = 'main', path, pullRequestBranch, keyPath = ['staticExport'] } = git;
  const { author = defaultAuthor, message = defaultMessage } = git;
  const object = `Git/${url.replace(/^https:\/\//i, '')}@${branch}:${path}`;
  const secretName = git.secretRef.name;
  return { type: 'Git', object, url, branch, pullRequestBranch, path, keyPath, secretName, author, message };
}
