// How a release was made, as one statement of in-toto with SLSA's predicate: which commit and base, with which parameters and
// tools, gave which bytes. Pure. Names no time and no machine: the same commit, parameters and tools give the same bytes.

import type { BasePart } from '../base/base-parts.ts';
import type { FileSum } from './checksums.ts';

type Parameters = Readonly<Record<string, string | boolean | readonly string[]>>;

export interface ReleaseBuild {
  readonly commit: string;
  /** Where the sources are, if the release names it. */
  readonly source: string | undefined;
  /** A URI that says who builds. */
  readonly builder: string;
  /** What the caller chose, by flag. */
  readonly parameters: Parameters;
  /** Versions by name. */
  readonly tools: Readonly<Record<string, string>>;
  /** What the image stands on. */
  readonly base: readonly BasePart[];
}

const buildType = 'https://staticexport.dev/build-types/release/v1';

export interface ChosenParameters {
  readonly version: string;
  readonly registry?: string | undefined;
  readonly downloads?: string | undefined;
  readonly acceptedAdvisories: readonly string[];
  readonly requireAudit: boolean;
}

/**
 * What the caller chose, without what is absent. It never names what the audit found: that depends on the day. `requireAudit`
 * says that there was an audit, and that each severe advisory in it was accepted.
 */
export function releaseParameters(chosen: ChosenParameters): Parameters {
  const { version, registry, downloads, acceptedAdvisories, requireAudit } = chosen;
  return {
    ...{ version, ...(registry && { registry }), ...(downloads && { downloads }) },
    ...(acceptedAdvisories.length > 0 && { acceptedAdvisories: [...new Set(acceptedAdvisories)].sort() }),
    ...(requireAudit && { requireAudit }),
  };
}

/** One line, as JSON Lines. */
export function provenanceLine(build: ReleaseBuild, sums: readonly FileSum[]): string {
  const { commit, source, builder, parameters, tools, base } = build;
  const from = source === undefined ? `git:${commit}` : `git+${source}@${commit}`;
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...sums]
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType,
        externalParameters: parameters,
        internalParameters: { tools },
        resolvedDependencies: [
          { uri: from, digest: { gitCommit: commit } },
          ...base.map(({ purl, digest }) => ({ uri: purl, digest })),
        ],
      },
      runDetails: { builder: { id: builder } },
    },
  };
  return `${JSON.stringify(statement)}\n`;
}
