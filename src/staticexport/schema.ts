// The spec of a StaticExport: one zod schema from which the CRD is generated and with which objects are read.
// Bounded strings and lists throughout, so that the CEL rules stay within the API server's cost limit.
// Refuses: defaults. They are applied in code (`wanted.ts`): nested CRD defaults keep Argo CD out of sync.

import { z } from 'zod';
import { durationPattern } from './duration.ts';

/** A CEL rule of the CRD, carried in the schema's metadata. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
  readonly optionalOldSelf?: boolean;
}

/** Metadata that `crds/generate.ts` finds in the JSON schema under this name. */
export const celKey = 'x-kubernetes-validations';
const cel = (...rules: readonly CelRule[]) => ({ [celKey]: rules });

export const hostNamePattern =
  '^([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\\.)*[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$';
/** The most that `historyLimit` may ask for. */
export const longestHistory = 50;
const objectNamePattern = '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$';
const namespacePattern = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';
const dataKeyPattern = '^[-._a-zA-Z0-9]+$';

const objectName = z.string().min(1).max(253).regex(new RegExp(objectNamePattern));
const dataKey = z.string().min(1).max(253).regex(new RegExp(dataKeyPattern));
const duration = z.string().max(40).regex(new RegExp(durationPattern));

const api = z
  .object({
    baseUrl: z
      .string()
      .min(1)
      .max(2048)
      .meta(
        cel({
          rule: "isURL(self) && (url(self).getScheme() == 'https' || url(self).getScheme() == 'http')",
          message: 'baseUrl must be an absolute http:// or https:// URL',
        }),
      )
      .describe(
        "Base URL of the export API; may carry a path prefix. Default: the operator's. Its host must be on the operator's allow-list.",
      )
      .optional(),
    keySecretRef: z
      .object({
        name: objectName.describe('Name of a Secret in the same namespace.'),
        key: dataKey.describe('Key within the Secret. Default: apiKey.').optional(),
      })
      .describe('The Secret that holds the admin API key.'),
  })
  .describe('The export API and the key for it.');

const linkRefresh = z
  .object({
    atPercent: z
      .int()
      .min(10)
      .max(90)
      .describe('Refresh when this share of the lifetime is gone. Default: 66.')
      .optional(),
    minInterval: duration.describe('Floor between two links of this resource. Default: 30s.').optional(),
  })
  .describe('When the published link is replaced.');

const promotion = z
  .object({
    inspect: z
      .enum(['Always', 'Never'])
      .describe('Whether an archive is downloaded and read before it is published. Default: Always.')
      .optional(),
    minPages: z
      .int()
      .min(0)
      .max(10_000_000)
      .describe('Fewer pages are not published. Default: 1.')
      .optional(),
    maxShrinkPercent: z
      .int()
      .min(0)
      .max(100)
      .describe('An export that lost a larger share of the pages is held back. Default: 50.')
      .optional(),
    mode: z
      .enum(['Auto', 'Manual'])
      .describe('Manual holds every new version until it is released by annotation. Default: Auto.')
      .optional(),
  })
  .describe('What must be true of an export before it replaces the published one.')
  .meta(
    cel({
      rule: "!has(self.inspect) || self.inspect != 'Never' || (!has(self.minPages) && !has(self.maxShrinkPercent))",
      message:
        'minPages and maxShrinkPercent need an inspected archive; remove them or set inspect to Always',
    }),
  );

const pin = z
  .object({
    version: z.string().min(1).max(63).describe('A version of status.history.').optional(),
    jobId: z.string().min(1).max(512).describe('A completed job of the export API.').optional(),
  })
  .refine((value) => (value.version === undefined) !== (value.jobId === undefined))
  .describe('Publish exactly this; keep its link alive; start no exports.')
  .meta(
    cel({
      rule: 'has(self.version) != has(self.jobId)',
      message: 'pin needs exactly one of version and jobId',
    }),
  );

const output = z
  .object({ name: objectName.describe('Name of the output Secret and ConfigMap. Immutable.') })
  .describe('Where the published version and link are written.');

const valuesTarget = z
  .object({
    kind: z.enum(['ConfigMap', 'Secret']).describe('Kind of the object that holds the document.'),
    namespace: z
      .string()
      .min(1)
      .max(63)
      .regex(new RegExp(namespacePattern))
      .describe('Default: the namespace of this resource.')
      .optional(),
    name: objectName.describe('Name of the object.'),
    key: dataKey.describe('Key that holds the YAML document. Default: values.yaml.').optional(),
  })
  .describe('A YAML document in a key of a ConfigMap or Secret, whose staticExport leaves are edited.');

const target = z
  .object({
    kind: z.enum(['values']).describe('What is written; the field of the same name says where.'),
    write: z
      .array(z.enum(['version', 'bundleUrl']))
      .min(1)
      .max(2)
      .describe('Which leaves are written. Default: [version]. The link may go into a Secret only.')
      .optional(),
    values: valuesTarget.optional(),
  })
  .refine((value) => value.values !== undefined)
  .refine((value) => !(value.write?.includes('bundleUrl') && value.values?.kind === 'ConfigMap'))
  .meta(
    cel(
      {
        rule: "self.kind == 'values' ? has(self.values) : !has(self.values)",
        message: 'kind values needs the field values, and only that kind may have it',
      },
      {
        rule: "!has(self.write) || !self.write.exists(leaf, leaf == 'bundleUrl') || !has(self.values) || self.values.kind == 'Secret'",
        message: 'the link may be written into a Secret only; write version alone or name a Secret',
      },
      {
        rule: '!has(self.write) || self.write.all(leaf, self.write.exists_one(other, other == leaf))',
        message: 'write names the same leaf twice',
      },
    ),
  );

export const specSchema = z
  .object({
    domain: z
      .string()
      .min(1)
      .max(253)
      .regex(new RegExp(hostNamePattern))
      .describe('The domain to export: a bare host name, without scheme, port or path.'),
    api,
    schedule: z
      .string()
      .min(1)
      .max(100)
      .describe(
        'Cron expression (five fields, or @daily and its kin) of new exports. Absent: no timed exports.',
      )
      .meta(
        cel({
          rule: "self.matches('^@(yearly|annually|monthly|weekly|daily|hourly)$') || self.trim().matches('^[^ \\t\\n]+([ \\t]+[^ \\t\\n]+){4}$')",
          message: 'schedule must be a cron expression of five fields, for example "0 3 * * *", or @daily',
        }),
      )
      .optional(),
    timeZone: z
      .string()
      .min(1)
      .max(64)
      .regex(/^[A-Za-z0-9_+/-]+$/)
      .describe('IANA time zone of the schedule, for example Europe/Berlin. Default: UTC.')
      .optional(),
    jobTimeout: duration.describe('After this a job counts as failed. Default: 1h.').optional(),
    linkRefresh: linkRefresh.optional(),
    promotion: promotion.optional(),
    pin: pin.optional(),
    historyLimit: z
      .int()
      .min(1)
      .max(longestHistory)
      .describe('Versions kept for pin and rollback. Default: 5.')
      .optional(),
    suspend: z
      .boolean()
      .describe('No new exports, promotions or target writes. The published link is still refreshed.')
      .optional(),
    output: output.optional(),
    targets: z
      .array(target)
      .max(16)
      .describe('Further places where the version, and when asked the link, are written.')
      .optional(),
  })
  .meta(
    cel(
      {
        rule: 'has(self.timeZone) ? has(self.schedule) : true',
        message: 'timeZone has no meaning without schedule',
      },
      {
        rule: 'has(self.output) == has(oldSelf.output) && (!has(self.output) || self.output.name == oldSelf.output.name)',
        message: 'output.name is immutable; delete the resource and create it again to publish elsewhere',
      },
    ),
  )
  .describe('What shall be exported and published.');

/** The spec as written by the user: nothing defaulted, unknown fields dropped. */
export type Spec = z.infer<typeof specSchema>;
export type SpecTarget = NonNullable<Spec['targets']>[number];
