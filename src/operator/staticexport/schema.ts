// The spec of a StaticExport: one zod schema that generates the CRD and reads objects. All strings and lists are
// bounded, so that the CEL rules stay within the Kubernetes API server's cost limit. Refuses: defaults. `wanted.ts`
// applies them, because nested CRD defaults keep Argo CD out of sync.

import * as z from 'zod';
import { basePaths } from '#export-api/contract.ts';
import { mirrorSchema } from './mirror-schema.ts';
import { longestProjectId, projectIdPattern } from './names.ts';
import { notifyWebhook } from './notify-schema.ts';
import {
  cel,
  dataKey,
  durationText,
  formed,
  hostNamePattern,
  namedList,
  objectName,
  shownText,
  size,
} from './schema-texts.ts';
import { targetSchema } from './target-schema.ts';
import { transformSchema } from './transform-schema.ts';
import { wantTransform } from './wanted-transform.ts';

/** The maximum of `historyLimit`. */
export const longestHistory = 50;

const basePathRule = 'basePath needs projectId';

const api = z
  .object({
    baseUrl: shownText(2048, {
      // User, password, query and fragment may hold secrets, and status shows this URL.
      rule: "isURL(self) && (url(self).getScheme() == 'https' || url(self).getScheme() == 'http') && !self.matches('[?#]|^[A-Za-z]+://[^/]*@')",
      message:
        'baseUrl must be an absolute http:// or https:// URL, without user, password, query and fragment',
    })
      .describe(
        'Base URL of the export API, with an optional path prefix. Default: --api-base-url of the operator. --allowed-api-hosts must allow its scheme, host and port.',
      )
      .optional(),
    keySecretRef: z
      .object({
        name: objectName.describe('Name of a Secret in the same namespace.'),
        key: dataKey.describe('Key within the Secret. Default: apiKey.').optional(),
      })
      .describe('Secret that holds the admin API key.'),
    projectId: formed(
      longestProjectId,
      projectIdPattern,
      'must be a project id as the dashboard shows it: letters, digits and . _ ~ : @ + = -, not only dots',
    )
      .describe(
        'Project id of the vendor. If set, the operator uses the project-scoped form of the export API. If absent, it sends spec.domain.',
      )
      .optional(),
    basePath: z
      .enum(basePaths)
      .describe('Path below which the site is built. Default: what the deployment has. Only with projectId.')
      .optional(),
  })
  .describe('The export API and its key.')
  .refine((value) => value.basePath === undefined || value.projectId !== undefined, { error: basePathRule })
  .meta(cel({ rule: '!has(self.basePath) || has(self.projectId)', message: basePathRule }));

const linkRefresh = z
  .object({
    atPercent: z
      .int()
      .min(10)
      .max(90)
      .describe('Refresh the link when this percentage of its lifetime has passed. Default: 66.')
      .optional(),
    minInterval: durationText.describe('Shortest time between two refreshes. Default: 30s.').optional(),
  })
  .describe('When the operator refreshes the published link.');

const promotion = z
  .object({
    inspect: z
      .enum(['Always', 'Never'])
      .describe(
        'Whether the operator downloads and inspects an archive before it publishes the version. Default: Always.',
      )
      .optional(),
    minPages: z
      .int()
      .min(0)
      .max(10_000_000)
      .describe('Fewest pages that an export must have. Default: 1.')
      .optional(),
    requireHomePage: z
      .boolean()
      .describe('Hold an export whose home page does not answer. Default: true.')
      .optional(),
    maxShrinkPercent: z
      .int()
      .min(0)
      .max(100)
      .describe(
        'Largest percentage of pages that an export may lose against the published version. Default: 50.',
      )
      .optional(),
    maxBundleSize: size
      .describe(
        "Largest archive, packed and unpacked, that the site's bundle servers accept. Larger archives are rejected. Default and upper bound: the operator's limits.",
      )
      .optional(),
    mode: z
      .enum(['Auto', 'Manual'])
      .describe(
        'Manual holds every new version until the annotation staticexport.dev/promote names it. Default: Auto.',
      )
      .optional(),
  })
  .describe('Conditions that an export must meet before it is published.')
  .meta(
    cel({
      rule: "!has(self.inspect) || self.inspect != 'Never' || (!has(self.minPages) && !has(self.requireHomePage) && !has(self.maxShrinkPercent) && !has(self.maxBundleSize))",
      message:
        'minPages, requireHomePage, maxShrinkPercent and maxBundleSize need an inspected archive; remove them or set inspect to Always',
    }),
  );

const pinRule = 'pin needs exactly one of version and jobId; to end a pin, remove spec.pin';
const pin = z
  .object({
    version: shownText(63).describe('A version from status.history.').optional(),
    jobId: shownText(512).describe('Id of a completed job at the export API.').optional(),
  })
  .refine((value) => (value.version === undefined) !== (value.jobId === undefined), { error: pinRule })
  .describe('Publish exactly this version or job, refresh its link, and start no exports.')
  .meta(
    cel({
      rule: 'has(self.version) != has(self.jobId)',
      message: pinRule,
    }),
  );

const trigger = z
  .object({
    webhook: z
      .object({
        secretRef: z
          .object({
            name: objectName.describe('Name of a Secret in the same namespace.'),
            key: dataKey.describe('Key within the Secret. Default: secret.').optional(),
          })
          .describe('Secret that holds the shared secret of the webhook.'),
      })
      .describe('Requests of the program webhook-receiver, whose signature this secret proves.')
      .optional(),
    quietPeriod: durationText
      .describe(
        'An export starts when this time has passed since the last hook, and at the latest ten times this time after the first hook. Default: 1m.',
      )
      .optional(),
  })
  .describe('Exports on request of other systems, by the annotation staticexport.dev/hookRequestedAt.');

const output = z
  .object({
    name: objectName
      .describe(
        'Name of the output Secret and ConfigMap. Default: <name>-bundle. The resolved name is immutable.',
      )
      .optional(),
    link: z
      .enum(['Always', 'Never'])
      .describe(
        'Never publishes no link: servers read the mirror, and the export API is called for exports only. It needs a mirror with policy Required, and no target with bundleUrl. Default: Always.',
      )
      .optional(),
  })
  .describe('Objects that receive the published version and link.');

const domainRule = 'domain is required without api.projectId';
const inspectedRule = 'mirror needs an inspected archive; remove mirror or set promotion.inspect to Always';
const transformRule =
  'transform needs a mirror with policy Required and promotion.inspect Always; remove output.link Always and bundleUrl in targets, because a link leads to the archive as the export API made it';
const linklessRule =
  'output.link Never needs a mirror with policy Required and no target that writes bundleUrl';

export const specSchema = z
  .object({
    domain: formed(
      253,
      hostNamePattern,
      'must be a bare host name such as docs.example.com: no scheme, no port, no path, no dot at the end',
    )
      .describe(
        'The domain to export: a bare host name, without scheme, port or path. With api.projectId it only names the site, and is not sent.',
      )
      .optional(),
    api,
    // Tabs and line ends are allowed around the fields, so this is not `shownText`.
    schedule: z
      .string()
      .min(1)
      .max(100)
      .describe(
        'Cron expression for new exports: five fields, or @hourly, @daily, @weekly, @monthly, @yearly. Absent: no scheduled exports.',
      )
      .meta(
        cel({
          rule: "self.matches('^@(yearly|annually|monthly|weekly|daily|hourly)$') || self.trim().matches('^[^ \\t\\n]+([ \\t]+[^ \\t\\n]+){4}$')",
          message: 'schedule must be a cron expression of five fields, for example "0 3 * * *", or @daily',
        }),
      )
      .optional(),
    timeZone: formed(64, '^[A-Za-z0-9_+/-]+$', 'must be an IANA time zone such as Europe/Berlin or UTC')
      .describe('IANA time zone of the schedule, such as Europe/Berlin. Default: UTC.')
      .optional(),
    jobTimeout: durationText
      .describe('Longest time that a job may run before it counts as failed. Default: 1h.')
      .optional(),
    linkRefresh: linkRefresh.optional(),
    promotion: promotion.optional(),
    pin: pin.optional(),
    historyLimit: z
      .int()
      .min(1)
      .max(longestHistory)
      .describe('Number of versions kept for pin and rollback. Default: 5.')
      .optional(),
    suspend: z
      .boolean()
      .describe('Stops exports, promotions and target writes. The published link is still refreshed.')
      .optional(),
    output: output.optional(),
    transform: transformSchema.optional(),
    mirror: mirrorSchema.optional(),
    trigger: trigger.optional(),
    notify: z
      .array(notifyWebhook)
      .max(4)
      .refine((webhooks) => new Set(webhooks.map(({ name }) => name)).size === webhooks.length, {
        error: 'two webhooks have the same name',
      })
      .describe('Webhooks that the operator calls when a version is published or held, and on failures.')
      .meta(namedList)
      .optional(),
    targets: z
      .array(targetSchema.describe('One object, and what the operator writes into it.'))
      .max(16)
      .refine((targets) => new Set(targets.map(({ name }) => name)).size === targets.length, {
        error: 'two targets have the same name',
      })
      .describe('Objects of other owners that receive the version, and the link where asked.')
      .meta(namedList)
      .optional(),
  })
  .refine(({ domain, api: { projectId } }) => domain !== undefined || projectId !== undefined, {
    error: domainRule,
    path: ['domain'],
  })
  .refine(({ mirror, promotion: gates }) => mirror === undefined || gates?.inspect !== 'Never', {
    error: inspectedRule,
  })
  .refine(
    ({ output: outputs, mirror, targets = [] }) =>
      outputs?.link !== 'Never' ||
      (mirror?.policy !== 'BestEffort' && !targets.some(({ write }) => write?.includes('bundleUrl'))),
    { error: linklessRule },
  )
  .refine(
    ({ transform, output: outputs, mirror, promotion: gates, targets = [] }) =>
      wantTransform(transform) === undefined ||
      (mirror?.policy !== 'BestEffort' &&
        gates?.inspect !== 'Never' &&
        outputs?.link !== 'Always' &&
        !targets.some(({ write }) => write?.includes('bundleUrl'))),
    { error: transformRule },
  )
  .meta(
    cel(
      { rule: 'has(self.domain) || has(self.api.projectId)', message: domainRule },
      {
        rule: 'has(self.timeZone) ? has(self.schedule) : true',
        message: 'timeZone has no meaning without schedule; add a schedule or remove it',
      },
      {
        rule: "!has(self.mirror) || !has(self.promotion) || !has(self.promotion.inspect) || self.promotion.inspect != 'Never'",
        message: inspectedRule,
      },
      {
        rule: "!has(self.output) || !has(self.output.link) || self.output.link != 'Never' || ((!has(self.mirror) || !has(self.mirror.policy) || self.mirror.policy != 'BestEffort') && (!has(self.targets) || !self.targets.exists(target, has(target.write) && target.write.exists(key, key == 'bundleUrl'))))",
        message: linklessRule,
      },
      {
        rule: "!has(self.transform) || (!has(self.transform.repair) && (!has(self.transform.search) || self.transform.search != 'Enabled')) || ((!has(self.mirror) || !has(self.mirror.policy) || self.mirror.policy != 'BestEffort') && (!has(self.promotion) || !has(self.promotion.inspect) || self.promotion.inspect != 'Never') && (!has(self.output) || !has(self.output.link) || self.output.link != 'Always') && (!has(self.targets) || !self.targets.exists(target, has(target.write) && target.write.exists(key, key == 'bundleUrl'))))",
        message: transformRule,
      },
    ),
  )
  .describe('What to export, and how to publish it.');

/** The spec as written by the user: nothing defaulted, unknown fields dropped. */
export type Spec = z.infer<typeof specSchema>;
