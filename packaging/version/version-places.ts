// Where files of the project name its version, and in which forms. Pure. Invariant: `npm run release:prepare` changes and
// `npm run check` compares the same places, so that a form stands here once. Refuses to change a version in another form:
// history, such as "since 0.1.0", stays true.

import { minorOf, minorPattern, versionPattern } from './release-version.ts';

export interface NamedVersion {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  readonly version: string;
  /** True where the place names `X.Y` of the version. */
  readonly isMinor: boolean;
}

interface Form {
  readonly files: RegExp;
  /** Before and after the version; what stands there is kept. */
  readonly before: string;
  readonly after: string;
  /** Names `X.Y` alone. */
  readonly isMinor?: true;
}

const documents = /^(?!CHANGELOG\.md$).*(?:\.md|\.ya?ml|Dockerfile)$/;
const forms: readonly Form[] = [
  { files: /^package\.json$/, before: '^ {2}"version": "', after: '",$' },
  {
    files: /^package-lock\.json$/,
    before: '"name": "static-export-operator",\\n {2,6}"version": "',
    after: '",$',
  },
  { files: /^charts\/[^/]+\/Chart\.yaml$/, before: '^(?:version|appVersion): "?', after: '"?$' },
  { files: /^Dockerfile$/, before: '^ARG VERSION=', after: '$' },
  { files: /^CHANGELOG\.md$/, before: '^## Unreleased: ', after: '$' },
  { files: /^README\.md$/, before: '^\\| State \\| ', after: '(?=[.,] )' },
  // Images and charts of a registry, and files of a release.
  {
    files: documents,
    before: '(?:\\bstatic-export-(?:operator|site)|\\$IMAGE|\\$\\{IMAGE\\}):',
    after: '(?![\\w])',
  },
  { files: documents, before: '\\bstatic-export-(?:cli|operator|site)-', after: '(?=\\.tgz\\b)' },
  { files: documents, before: '\\bimage-', after: '(?=\\.oci\\.tar\\b)' },
  // Tags of the project's repository in GitOps objects, and charts by their flag.
  { files: documents, before: '\\b(?:tag|targetRevision): "?v', after: '(?![\\w])' },
  {
    files: documents,
    before: '\\bhelm (?:install|upgrade|pull|show)\\b[^\\n]* --version[ =]',
    after: '(?![\\w])',
  },
  // The further tag, as `npm run release -- --push` reports it.
  { files: documents, before: '; ', after: ' names it now$', isMinor: true },
];
/** The sections of versions, and the notes of upgrades, are history. */
const histories = /^charts\/[^/]+\/docs\/upgrade\.md$/;
/** What the first release removes. */
const notReleased = /^(\| State \| \S+), not released yet/m;

const formsOf = (file: string): readonly { readonly pattern: RegExp; readonly isMinor: boolean }[] =>
  histories.test(file)
    ? []
    : forms
        .filter(({ files }) => files.test(file))
        .map(({ before, after, isMinor = false }) => ({
          pattern: new RegExp(`(${before})(${isMinor ? minorPattern : versionPattern})(${after})`, 'gm'),
          isMinor,
        }));

/** Every place of a file, in the order of its lines. */
export function namedVersions(file: string, text: string): readonly NamedVersion[] {
  const found = formsOf(file).flatMap(({ pattern, isMinor }) =>
    [...text.matchAll(pattern)].map(({ index, 1: before = '', 2: version = '' }) => ({
      ...{ file, version, isMinor },
      line: lineAt(text, index + before.length),
    })),
  );
  return found.sort((one, other) => one.line - other.line);
}

/** The text with the version in every place. */
export function withVersion(file: string, text: string, version: string): string {
  const changed = formsOf(file).reduce((now, { pattern, isMinor }) => {
    const written = isMinor ? minorOf(version) : version;
    return now.replace(
      pattern,
      (_all, before: string, _old: string, after: string) => before + written + after,
    );
  }, text);
  return file === 'README.md' ? changed.replace(notReleased, '$1') : changed;
}

/** Lines that name the version in another form: a person decides about them. */
export function otherMentions(
  file: string,
  text: string,
  version: string,
): readonly Omit<NamedVersion, 'isMinor'>[] {
  const known = new Set(namedVersions(file, text).map(({ line }) => line));
  const mention = new RegExp(`(?<![\\w.])v?${version.replaceAll('.', '\\.')}(?![\\w-]|\\.\\d)`);
  return text
    .split('\n')
    .flatMap((row, at) => (mention.test(row) && !known.has(at + 1) ? [{ file, line: at + 1, version }] : []));
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length;
