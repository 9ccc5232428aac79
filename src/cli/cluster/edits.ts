// What each verb changes: a merge patch of one StaticExport, from the object as read. Pure. Refuses what cannot be meant:
// a version that the history does not have, a candidate that is not there, a change that changes nothing. Owns how a risky
// change is asked for, and who else manages the object: a change of the spec belongs into git then.

import { annotations, apiVersion, resourceKind } from '#operator/staticexport/names.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import type { Candidate } from '#operator/staticexport/status-schema.ts';
import { wantTransform } from '#operator/staticexport/wanted-transform.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { CliError } from '../cli-error.ts';
import { counted } from '../output/amounts.ts';
import { stepOf } from './next-steps.ts';

export const verbs = [
  'request',
  'promote',
  'reject',
  'pin',
  'unpin',
  'rollback',
  'suspend',
  'resume',
  'refresh-link',
] as const;
export type EditVerb = (typeof verbs)[number];

export interface Edit {
  /** JSON merge patch (RFC 7386). */
  readonly patch: Readonly<Record<string, unknown>>;
  /** What is stored then, as a sentence: a request of what the operator does next. */
  readonly message: string;
  /** The version that readers get then. */
  readonly requestedVersion?: string;
  readonly rejectedVersion?: string;
  /** Readers may get other content at once. */
  readonly isRisky: boolean;
  /** Whether a git repository that holds the object would revert it. */
  readonly isOfSpec: boolean;
}

/**
 * @param version as given; `undefined`: the one that is meant
 * @param token of a request: names it in the status
 * @returns `undefined` where nothing would change
 * @throws {CliError} `NoCandidate`, `VersionUnknown`, `VersionInvalid`, `VersionMissing`, `NothingBefore`,
 *   `NothingPublished`
 */
export function planEdit(
  verb: EditVerb,
  object: StaticExportObject,
  version: string | undefined,
  token: string,
): Edit | undefined {
  const { spec, status } = parseStaticExport(object);
  const { active, candidate, history = [] } = status;
  const of = (patch: object, message: string, isRisky: boolean): Edit => ({
    patch: { spec: patch },
    message,
    isRisky,
    isOfSpec: true,
  });
  const annotate = (name: string, value: string, message: string, isRisky: boolean): Edit => ({
    patch: { metadata: { annotations: { [name]: value } } },
    message,
    isRisky,
    isOfSpec: false,
  });
  const pinOf = (wanted: string): Edit => {
    if (!history.some((one) => one.version === wanted)) {
      throw unknownVersion(wanted, 'the history does not have this version', [
        stepOf(object.metadata, 'history', 'lists the versions'),
      ]);
    }
    const message = `Version ${wanted} is requested as the pinned version; no exports start until it is unpinned.`;
    return { ...of({ pin: { version: wanted, jobId: null } }, message, true), requestedVersion: wanted };
  };
  switch (verb) {
    case 'request':
      return annotate(annotations.requestedAt, token, 'An export is requested.', false);
    case 'refresh-link':
      if (active === undefined) {
        throw new CliError('usage', 'NothingPublished', 'nothing is published yet, so there is no link');
      }
      if (spec?.output?.link === 'Never' || wantTransform(spec?.transform) !== undefined) {
        const cause = spec?.output?.link === 'Never' ? 'spec.output.link is Never' : 'spec.transform is set';
        const message = `${cause}, so no link is published; servers read the mirror`;
        throw new CliError('usage', 'NoLinkWanted', message);
      }
      return annotate(annotations.refreshRequestedAt, token, 'A new link is requested.', false);
    case 'promote': {
      const held = candidateOf(candidate, version, verb);
      const message = `Version ${held} is requested as the published version.`;
      return { ...annotate(annotations.promote, held, message, true), requestedVersion: held };
    }
    case 'reject': {
      const held = candidateOf(candidate, version, verb);
      const message = `Version ${held} is rejected. Its content is held again after a change of the spec, or a request.`;
      return { ...annotate(annotations.reject, held, message, false), rejectedVersion: held };
    }
    case 'pin': {
      if (version === undefined) throw new CliError('usage', 'VersionMissing', 'name the version to pin');
      if (spec?.pin?.version === version) return undefined;
      return pinOf(version);
    }
    case 'rollback': {
      const at = history.findIndex((one) => one.version === active?.version);
      const before = version ?? history[at + 1]?.version;
      if (before === undefined) {
        throw new CliError('usage', 'NothingBefore', 'the history has no version before the published one');
      }
      if (spec?.pin?.version === before) return undefined;
      return pinOf(before);
    }
    case 'unpin':
      if (spec?.pin === undefined) return undefined;
      return of({ pin: null }, 'The pin is removed. The version stays until the next export.', false);
    case 'suspend':
      if (spec?.suspend === true) return undefined;
      return of({ suspend: true }, 'Exports and promotions are paused. The link is still refreshed.', false);
    case 'resume':
      if (spec?.suspend !== true) return undefined;
      return of({ suspend: false }, 'Exports and promotions resume.', false);
    default:
      return verb satisfies never;
  }
}

/** @throws {CliError} `NoCandidate`, `VersionUnknown`, `VersionInvalid` */
function candidateOf(candidate: Candidate | undefined, named: string | undefined, verb: EditVerb): string {
  if (candidate === undefined) {
    throw new CliError('cluster', 'NoCandidate', `no candidate is held, so there is nothing to ${verb}`);
  }
  const { version } = candidate;
  if (named === undefined || named === version) return version;
  throw unknownVersion(named, `the candidate is ${version}, not the version named`);
}

/** A text without a version's form is wrong usage. A version that is absent may have existed before. */
function unknownVersion(named: string, message: string, next: readonly string[] = []): CliError {
  return /^\d{8}-\d{6}-[0-9a-f]{8}$/.test(named)
    ? new CliError('cluster', 'VersionUnknown', message, { next })
    : new CliError('usage', 'VersionInvalid', 'a version has the form 20260107-030000-0123abcd', { next });
}

/** Asks for a change that readers may notice: what they get, and in place of what. */
export function questionOf(verb: EditVerb, requested: string, object: StaticExportObject): string {
  const { active, candidate, history = [] } = parseStaticExport(object).status;
  const known = [active, candidate, ...history];
  const shown = (version: string): string => {
    const pages = known.find((one) => one?.version === version)?.pages;
    return pages === undefined ? version : `${version} (${counted(pages, 'page')})`;
  };
  const does = verb === 'promote' ? 'publishes' : 'pins';
  const { namespace, name } = object.metadata;
  const change = `${namespace}/${name}: This ${does} ${shown(requested)}`;
  if (active === undefined) return `${change} for readers. Continue?`;
  if (active.version === requested) return `${change}, which readers get already. Continue?`;
  return `${change} in place of ${shown(active.version)} for readers. Continue?`;
}

/** A change of the spec as a repository holds it. */
export interface GitChange {
  /** The object with the fields to set; absent: there are none. */
  readonly manifest?: object;
  /** Paths of the fields to remove: `spec.pin`. */
  readonly removals: readonly string[];
}

/** @param patch a merge patch of the spec; its `null` is a removal */
export function gitChangeOf({ metadata, spec }: StaticExportObject, patch: object): GitChange {
  const { set, removals } = splitPatch({ ...patch }, { spec }, '');
  const { name, namespace } = metadata;
  const manifest = { apiVersion, kind: resourceKind, metadata: { name, namespace }, ...set };
  return { ...(set !== undefined && { manifest }), removals };
}

/** A removal of a field that the object does not have is left out. */
function splitPatch(
  patch: Readonly<Record<string, unknown>>,
  present: unknown,
  path: string,
): { readonly set: Readonly<Record<string, unknown>> | undefined; readonly removals: readonly string[] } {
  const set: Record<string, unknown> = {};
  const removals: string[] = [];
  for (const [field, value] of Object.entries(patch)) {
    const there = isRecord(present) ? present[field] : undefined;
    if (value === null) {
      if (there !== undefined) removals.push(`${path}${field}`);
    } else if (isRecord(value)) {
      const inner = splitPatch(value, there, `${path}${field}.`);
      if (inner.set !== undefined) set[field] = inner.set;
      removals.push(...inner.removals);
    } else {
      set[field] = value;
    }
  }
  return { set: Object.keys(set).length === 0 ? undefined : set, removals };
}

const managerMarks: readonly (readonly [string, 'labels' | 'annotations', string])[] = [
  ['Flux', 'labels', 'kustomize.toolkit.fluxcd.io/name'],
  ['Flux', 'labels', 'helm.toolkit.fluxcd.io/name'],
  ['Argo CD', 'annotations', 'argocd.argoproj.io/tracking-id'],
  ['Argo CD', 'labels', 'argocd.argoproj.io/instance'],
];

/** @returns the tool that would revert a change of the spec */
export function managerOf({ metadata }: Pick<StaticExportObject, 'metadata'>): string | undefined {
  return managerMarks.find(([, field, name]) => metadata[field][name] !== undefined)?.[0];
}
