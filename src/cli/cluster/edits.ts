// What each verb changes: a merge patch of one StaticExport, from the object as read. Pure. Refuses what cannot be meant:
// a version that the history does not have, a candidate that is not there, a change that changes nothing. Owns who else
// manages the object: a change of the spec belongs into git then.

import { annotations } from '../../staticexport/names.ts';
import { parseStaticExport } from '../../staticexport/parse.ts';
import type { Candidate } from '../../staticexport/status-schema.ts';
import type { StaticExportObject } from '../../wire/cluster.ts';
import { CliError } from '../cli-error.ts';

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
export type Verb = (typeof verbs)[number];

export interface Edit {
  /** JSON merge patch (RFC 7386). */
  readonly patch: object;
  /** What happens then, as a sentence. */
  readonly message: string;
  /** Readers may get other content at once. */
  readonly isRisky: boolean;
  /** Whether a git repository that holds the object would revert it. */
  readonly isOfSpec: boolean;
}

/**
 * @param version as given; `undefined`: the one that is meant
 * @param token of a request: names it in the status
 * @returns `undefined` where nothing would change
 * @throws {CliError} `NoCandidate`, `VersionUnknown`, `VersionMissing`, `NothingBefore`, `NothingPublished`
 */
export function planEdit(
  verb: Verb,
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
  const known = (wanted: string): string => {
    if (history.some((one) => one.version === wanted)) return wanted;
    throw new CliError('usage', 'VersionUnknown', 'the history does not have this version', {
      next: ['static-export history NAME lists the versions'],
    });
  };
  switch (verb) {
    case 'request':
      return annotate(annotations.requestedAt, token, 'An export is requested.', false);
    case 'refresh-link':
      if (active === undefined) {
        throw new CliError('usage', 'NothingPublished', 'nothing is published yet, so there is no link');
      }
      return annotate(annotations.refreshRequestedAt, token, 'A new link is requested.', false);
    case 'promote': {
      const held = candidateOf(candidate, version, verb);
      return annotate(annotations.promote, held, `Version ${held} is promoted.`, true);
    }
    case 'reject': {
      const held = candidateOf(candidate, version, verb);
      const message = `Version ${held} is rejected. Its content is held again after a change of the spec, or a request.`;
      return annotate(annotations.reject, held, message, false);
    }
    case 'pin': {
      if (version === undefined) throw new CliError('usage', 'VersionMissing', 'name the version to pin');
      if (spec?.pin?.version === version) return undefined;
      return of(
        { pin: { version: known(version), jobId: null } },
        `Version ${version} is pinned; no exports start.`,
        true,
      );
    }
    case 'rollback': {
      const at = history.findIndex((one) => one.version === active?.version);
      const before = version ?? history[at + 1]?.version;
      if (before === undefined) {
        throw new CliError('usage', 'NothingBefore', 'the history has no version before the published one');
      }
      if (spec?.pin?.version === before) return undefined;
      const message = `Version ${before} is pinned; no exports start until it is unpinned.`;
      return of({ pin: { version: known(before), jobId: null } }, message, true);
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

/** @throws {CliError} `NoCandidate`, `VersionUnknown` */
function candidateOf(candidate: Candidate | undefined, named: string | undefined, verb: Verb): string {
  if (candidate === undefined) {
    throw new CliError('usage', 'NoCandidate', `no candidate is held, so there is nothing to ${verb}`);
  }
  const { version } = candidate;
  if (named === undefined || named === version) return version;
  throw new CliError('usage', 'VersionUnknown', `the candidate is ${version}, not the version named`);
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
