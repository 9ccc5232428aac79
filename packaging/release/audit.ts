// What the registry of npm knows of the packages in the programs: advisories by severity. Pure. A release with a severe one is
// refused until the package is updated or a person accepts the advisory by its name. So is a release whose packages could not
// be audited, where the order requires the audit.

import { z } from 'zod';
import { excerptOf } from '#platform/wire/foreign-words.ts';

const severities = ['info', 'low', 'moderate', 'high', 'critical'] as const;
const advisoryShape = z.looseObject({
  title: z.string(),
  url: z.string(),
  severity: z.enum(severities),
});
/** What `npm audit --json` writes, in the form of npm 7 and newer. Only advisories of the package itself are objects. */
const reportShape = z.looseObject({
  auditReportVersion: z.literal(2),
  vulnerabilities: z.record(
    z.string(),
    z.looseObject({ via: z.array(z.union([z.string(), advisoryShape])) }),
  ),
});

export const advisoryOfPartShape = z.object({
  packageName: z.string(),
  /** `GHSA-…`, the last part of its address. */
  id: z.string(),
  severity: z.enum(severities),
  title: z.string(),
});
export type AdvisoryOfPart = z.infer<typeof advisoryOfPartShape>;

export const auditShape = z.union([
  z.object({ advisories: z.array(advisoryOfPartShape), packages: z.number() }),
  /** A reason, without a period. */
  z.object({ why: z.string() }),
]);
export type Audit = z.infer<typeof auditShape>;

/**
 * @param report of `npm audit --json`
 * @param parts names of the packages in the programs
 */
export function readAudit(report: unknown, parts: ReadonlySet<string>): Audit {
  const read = reportShape.safeParse(report);
  if (!read.success) return { why: 'npm audit answered in an unknown form' };
  const advisories = Object.entries(read.data.vulnerabilities)
    .filter(([packageName]) => parts.has(packageName))
    .flatMap(([packageName, { via }]) =>
      via.flatMap((one) =>
        typeof one === 'string'
          ? []
          : [{ packageName, id: one.url.split('/').at(-1) ?? '', severity: one.severity, title: one.title }],
      ),
    )
    .sort((one, other) => severities.indexOf(other.severity) - severities.indexOf(one.severity));
  return { advisories, packages: parts.size };
}

/**
 * @param stderr of npm, which failed
 * @returns why, on one line, without the address of the registry, tokens and the registry's own words
 */
export function npmReason(stderr: string): string {
  const lines = stderr
    .split('\n')
    .flatMap((line) => /^npm (?:warn audit|error(?: audit)?) (.+)$/.exec(line)?.[1] ?? [])
    .filter((line) => !line.startsWith('A complete log'));
  const code = lines.find((line) => /^code [A-Z\d_]+$/.test(line))?.slice('code '.length);
  const words = lines.find((line) => !line.startsWith('code ')) ?? '';
  const plain = words
    // The body of the answer follows the address.
    .replace(/ - [A-Z]+ [a-z]+:\/\/.*$/, '')
    .replace(/[a-z]+:\/\/\S+/g, '…')
    .replace(/(?:[\w-]+\.)+[\w-]+(?::\d+)?/g, '…')
    .replace(/[.:;,\s…]+$/, '');
  const reason = [code, excerptOf(plain)].filter((one) => one !== undefined).join(': ');
  return `npm audit failed: ${reason || 'it gave no reason'}`;
}

const isSevere = ({ severity }: AdvisoryOfPart): boolean => severity === 'high' || severity === 'critical';

export interface AuditVerdict {
  /** For people, each line with its end. */
  readonly text: string;
  /** A sentence, where the release is refused. */
  readonly refusal?: string;
}

export interface AuditDemands {
  /** Names of advisories. */
  readonly accepted: readonly string[];
  /** Without an audit there is no release. */
  readonly isRequired: boolean;
}

const remedy = 'Set npm_config_registry to a registry that answers npm audit';

export function judgeAudit(audit: Audit, { accepted, isRequired }: AuditDemands): AuditVerdict {
  if ('why' in audit) {
    const text = `packages were not audited: ${audit.why}. ${remedy}.\n`;
    if (!isRequired) return { text };
    const refusal = `Packages in the programs could not be audited: ${audit.why}. ${remedy}, or release without --require-audit.`;
    return { text: '', refusal };
  }
  const { advisories, packages } = audit;
  if (advisories.length === 0)
    return { text: `npm knows no advisory for the ${packages} packages in the programs\n` };
  const rows = advisories.map(
    ({ packageName, id, severity, title }) =>
      `  ${severity} ${packageName}: ${title} (${id}${accepted.includes(id) ? ', accepted' : ''})\n`,
  );
  const open = advisories.filter((one) => isSevere(one) && !accepted.includes(one.id));
  const text = `advisories for packages in the programs:\n${rows.join('')}`;
  if (open.length === 0) return { text };
  const flags = open.map(({ id }) => `--accept-advisory ${id}`).join(' ');
  return {
    text,
    refusal: `Packages in the programs have severe advisories. Update them, or release with ${flags}.`,
  };
}
