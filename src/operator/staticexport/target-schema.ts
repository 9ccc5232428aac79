// The schema of one entry of `spec.targets`: a union by `type`, with the field of that type. Invariant: a link is written
// into a Secret only.

import * as z from 'zod';
import { gitTarget } from './git-target-schema.ts';
import { cel, dataKey, formed, namespaceName, objectName, shownText } from './schema-texts.ts';

const valuesTarget = z
  .object({
    kind: z.enum(['ConfigMap', 'Secret']).describe('Kind of the object that holds the document.'),
    namespace: namespaceName.describe('Default: the namespace of this resource.').optional(),
    name: objectName.describe('Name of the object.'),
    key: dataKey.describe('Key that holds the YAML document. Default: values.yaml.').optional(),
  })
  .describe('YAML document in a key of a ConfigMap or Secret. The operator edits its staticExport keys.');

const helmReleaseTarget = z
  .object({
    namespace: namespaceName.describe('Default: the namespace of this resource.').optional(),
    name: objectName.describe('Name of the HelmRelease.'),
  })
  .describe("Flux's HelmRelease. The operator applies the keys under spec.values.staticExport.");

const applicationTarget = z
  .object({
    namespace: namespaceName.describe('Default: the namespace of this resource.').optional(),
    name: objectName.describe('Name of the Application.'),
    source: z
      .object({
        chart: shownText(253).describe('Its chart.').optional(),
        repoURL: shownText(1024).describe('Its repoURL.').optional(),
        ref: shownText(253).describe('Its ref.').optional(),
      })
      .describe('Which of spec.sources has the values; every given field must match. Default: the only one.')
      .optional(),
    sync: z
      .enum(['Never', 'Request'])
      .describe('Request starts a sync where automated sync is off. Default: Never.')
      .optional(),
  })
  .describe("Argo CD's Application. The operator writes the keys under staticExport of its Helm values.");

const workloadTarget = z
  .object({
    kind: z.enum(['Deployment', 'StatefulSet', 'DaemonSet']).describe('Kind of the workload.'),
    namespace: namespaceName.describe('Default: the namespace of this resource.').optional(),
    name: objectName.describe('Name of the workload.'),
  })
  .describe('A workload whose pod template gets the version as an annotation, so that its pods restart.');

/** The member of each type; the first is also the shortest example. */
const targetMembers = {
  Values: 'values',
  HelmRelease: 'helmRelease',
  Application: 'application',
  Workload: 'workload',
  Git: 'git',
} as const;
export type TargetType = keyof typeof targetMembers;
/** What a target may be. */
export const targetTypes = z.enum(['Values', 'HelmRelease', 'Application', 'Workload', 'Git']);

/** True if the field of the type is there, and no field of another type. */
function hasOwnMember(target: { readonly type: TargetType } & Readonly<Record<string, unknown>>): boolean {
  return targetTypes.options.every(
    (type) => (target[targetMembers[type]] !== undefined) === (type === target.type),
  );
}

const typeRule =
  'type names the one field that the target needs: Values values, HelmRelease helmRelease, Application application, Workload workload, Git git';
const linkRule =
  'the link may be written into a Secret only; write version or digest, or use type Values with a Secret';
export const targetSchema = z
  .object({
    name: formed(
      63,
      '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      'must be a name for the target: lower-case letters, digits and "-", beginning and ending with a letter or digit',
    ).describe('Name of the target, unique within spec.targets. Status and metrics use it.'),
    type: targetTypes.describe('What the target is. The field of the same name has its details.'),
    mode: z
      .enum(['Write', 'DryRun'])
      .describe('DryRun only shows in status which keys would change. Default: Write.')
      .optional(),
    write: z
      .array(z.enum(['version', 'digest', 'ref', 'bundleUrl']).describe('A key under staticExport.'))
      .min(1)
      .max(4)
      .describe(
        'Keys to write. Default: [version]. ref is the reference of the copy in the mirror, and brings digest; it needs a mirror. bundleUrl needs type Values and a Secret.',
      )
      .optional(),
    values: valuesTarget.optional(),
    helmRelease: helmReleaseTarget.optional(),
    application: applicationTarget.optional(),
    workload: workloadTarget.optional(),
    git: gitTarget.optional(),
  })
  .refine(hasOwnMember, { error: typeRule })
  .refine((value) => !value.write?.includes('bundleUrl') || value.values?.kind === 'Secret', {
    error: linkRule,
  })
  .meta(
    cel(
      {
        rule: targetTypes.options
          .map((type) => `(self.type == '${type}') == has(self.${targetMembers[type]})`)
          .join(' && '),
        message: typeRule,
      },
      {
        rule: "!has(self.write) || !self.write.exists(key, key == 'bundleUrl') || (has(self.values) && self.values.kind == 'Secret')",
        message: linkRule,
      },
      {
        rule: '!has(self.write) || self.write.all(key, self.write.exists_one(other, other == key))',
        message: 'write names the same key twice',
      },
    ),
  );

export type SpecTarget = z.infer<typeof targetSchema>;
