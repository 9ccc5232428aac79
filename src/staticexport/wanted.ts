// The spec with its defaults applied: the only form that decisions read. Only this file has defaults. Invariant:
// the result depends on the spec and the operator's settings only, never on status or time.

import { parseDurationMs } from './duration.ts';
import { defaultOutputName, defaultSecretKey } from './names.ts';
import type { Spec, SpecTarget } from './schema.ts';
import { parseSizeBytes } from './size.ts';

/** A target whose YAML document is edited. */
export interface WantedTarget {
  readonly type: 'Values';
  /** As in `spec.targets`. */
  readonly targetName: string;
  /** `ConfigMap/apps/docs-values/values.yaml`: a target that names another object gets a new status entry. */
  readonly object: string;
  readonly objectKind: 'ConfigMap' | 'Secret';
  readonly namespace: string;
  readonly name: string;
  readonly dataKey: string;
  readonly writesVersion: boolean;
  readonly writesLink: boolean;
}

export interface Pin {
  readonly version: string | undefined;
  readonly jobId: string | undefined;
}

export interface Wanted {
  readonly domain: string;
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
    readonly maxShrinkPercent: number;
    /** Of the archive, packed and unpacked; `undefined`: only the operator's own limits. */
    readonly maxBundleBytes: number | undefined;
    readonly isManual: boolean;
  };
  readonly pin: Pin | undefined;
  readonly historyLimit: number;
  readonly isSuspended: boolean;
  readonly outputName: string;
  readonly targets: readonly WantedTarget[];
}

const minuteMs = 60_000;
const shortestJobTimeoutMs = 10_000;
const shortestMinIntervalMs = 1000;

/** @param settings the operator's flags, used for fields that the spec omits */
export function applyDefaults(
  identity: { readonly namespace: string; readonly name: string },
  spec: Spec,
  settings: { readonly apiBaseUrl: string | undefined },
): Wanted {
  return {
    domain: spec.domain.toLowerCase(),
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
      maxShrinkPercent: spec.promotion?.maxShrinkPercent ?? 50,
      maxBundleBytes: parseSizeBytes(spec.promotion?.maxBundleSize ?? ''),
      isManual: spec.promotion?.mode === 'Manual',
    },
    pin: spec.pin && { version: spec.pin.version, jobId: spec.pin.jobId },
    historyLimit: spec.historyLimit ?? 5,
    isSuspended: spec.suspend ?? false,
    outputName: spec.output?.name ?? defaultOutputName(identity.name),
    targets: (spec.targets ?? []).flatMap((target) => wantTarget(identity.namespace, target)),
  };
}

function wantTarget(
  ownNamespace: string,
  { name: targetName, type, values, write }: SpecTarget,
): readonly WantedTarget[] {
  if (values === undefined) return [];
  const namespace = values.namespace ?? ownNamespace;
  const dataKey = values.key ?? 'values.yaml';
  const leaves = write ?? ['version'];
  return [
    {
      type,
      targetName,
      object: `${values.kind}/${namespace}/${values.name}/${dataKey}`,
      objectKind: values.kind,
      namespace,
      name: values.name,
      dataKey,
      writesVersion: leaves.includes('version'),
      writesLink: leaves.includes('bundleUrl'),
    },
  ];
}
