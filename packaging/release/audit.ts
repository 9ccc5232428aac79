// What the registry of npm knows of the packages in the programs: advisories by severity. Pure. A release with a severe one is
// refused until the package is updated or a person accepts the advisory by its name.

import { z } from 'zod';

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

const isSevere = ({ severity }: AdvisoryOfPart): boolean => severity === 'high' || severity === 'critical';

export interface AuditVerdict {
  /** For people, each line with its end. */
  readonly text: string;
  /** A sentence, where the release is refused. */
  readonly refusal?: string;
}

/** @param accepted names of advisories */
export function judgeAudit(audit: Audit, accepted: readonly string[]): AuditVerdict {
  if ('why' in audit) return { text: `packages were not audited: ${audit.why}\n` };
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
