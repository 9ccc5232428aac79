// Writes the CRD from the schema in src/operator/staticexport, here and into the chart that installs it. `--check` writes
// nothing and fails on a difference, so that the manifest people apply and the schema the operator reads with are
// one thing.

import { readFile, writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { z } from 'zod';
import {
  apiVersionName,
  category,
  group,
  plural,
  resourceKind,
  shortName,
  singular,
} from '#operator/staticexport/names.ts';
import { specSchema } from '#operator/staticexport/schema.ts';
import { statusSchema } from '#operator/staticexport/status-schema.ts';

type Json = { readonly [key: string]: unknown };

const name = `${plural}.${group}.yaml`;
/** The manifest, and the copy that the chart carries (a chart is packed without what lies outside of it). */
const files = [`./${name}`, `../charts/static-export-operator/files/${name}`].map(
  (path) => new URL(path, import.meta.url),
);
const banner =
  '# Generated from src/operator/staticexport/schema.ts by "npm run generate"; change it there.\n';

/**
 * Printed by `kubectl get`, and those of priority 1 with `-o wide` only. A `date` column prints <invalid> for a time
 * to come, so times are strings. The default ones fit into a terminal of 120 columns, with the
 * longest usual reasons.
 */
const columns = [
  ['Ready', 'string', '.status.conditions[?(@.type=="Ready")].status', 0],
  ['Reason', 'string', '.status.conditions[?(@.type=="Ready")].reason', 0],
  ['Exported', 'string', '.status.conditions[?(@.type=="Exported")].reason', 0],
  ['Version', 'string', '.status.active.version', 0],
  ['Link-Expires', 'string', '.status.active.linkExpirationTime', 0],
  ['Age', 'date', '.metadata.creationTimestamp', 0],
  ['Job', 'string', '.status.job.state', 1],
  ['%', 'integer', '.status.job.progress', 1],
  ['Pages', 'integer', '.status.pages', 1],
  ['Link', 'string', '.status.conditions[?(@.type=="LinkFresh")].reason', 1],
  ['Candidate', 'string', '.status.candidate.version', 1],
  ['Job-Id', 'string', '.status.job.id', 1],
  ['Next-Refresh', 'string', '.status.nextRefreshTime', 1],
  ['Next-Export', 'string', '.status.nextExportTime', 1],
  ['Digest', 'string', '.status.active.digest', 1],
] as const;

/** The JSON schema of zod in the form that the API server calls structural. */
export function structuralSchema(schema: z.ZodType): Json {
  const json = z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' });
  const { $schema: _dialect, ...rest } = json;
  return structural(rest);
}

const kept = [
  'type',
  'description',
  'format',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'required',
  'properties',
  'items',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-validations',
];

function structural(schema: Json): Json {
  const unknown = Object.keys(schema).filter((key) => !kept.includes(key) && key !== 'additionalProperties');
  if (unknown.length > 0) throw new Error(`the API server would refuse ${unknown.join(', ')}`);
  const entries = kept
    .filter((key) => schema[key] !== undefined)
    .flatMap((key): [string, unknown][] => {
      const value = schema[key];
      if (key === 'properties' && isJson(value)) {
        return [
          [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, asStructural(one)]))],
        ];
      }
      if (key === 'items') return [[key, asStructural(value)]];
      if (key === 'maximum' && value === Number.MAX_SAFE_INTEGER) return [];
      if (key === 'minimum' && value === Number.MIN_SAFE_INTEGER) return [];
      return [[key, value]];
    });
  const isInteger = schema['type'] === 'integer';
  return Object.fromEntries(isInteger ? [...entries, ['format', 'int64']] : entries);
}

function asStructural(value: unknown): Json {
  if (!isJson(value)) throw new Error('a schema is an object');
  return structural(value);
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function statusStructural(): Json {
  const schema = structuralSchema(statusSchema);
  const properties = isJson(schema['properties']) ? schema['properties'] : {};
  const conditions = isJson(properties['conditions']) ? properties['conditions'] : {};
  return {
    ...schema,
    // The one default: a fresh object must not read as ready. Nested defaults keep Argo CD out of sync.
    default: { observedGeneration: -1 },
    properties: {
      ...properties,
      conditions: { ...conditions, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
    },
  };
}

/** Of the whole object, because the default output name is made of metadata.name. */
const outputNameOf = (self: string): string =>
  `(has(${self}.spec.output) && has(${self}.spec.output.name) ? ${self}.spec.output.name : self.metadata.name + '-bundle')`;
const outputNameRule = {
  rule: `${outputNameOf('self')} == ${outputNameOf('oldSelf')}`,
  message:
    'the resolved output name is immutable (spec.output.name, or <name>-bundle); delete the resource and create it again to publish elsewhere',
};

export function customResourceDefinition(): Json {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        kind: resourceKind,
        listKind: `${resourceKind}List`,
        plural,
        singular,
        shortNames: [shortName],
        categories: [category],
      },
      versions: [
        {
          name: apiVersionName,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns.map(([name, type, jsonPath, priority]) => ({
            name,
            type,
            jsonPath,
            ...(priority > 0 && { priority }),
          })),
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description:
                "Keeps a docs site's static export published: exports, checks, refreshes the link.",
              required: ['spec'],
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object' },
                spec: structuralSchema(specSchema),
                status: statusStructural(),
              },
              'x-kubernetes-validations': [outputNameRule],
            },
          },
        },
      ],
    },
  };
}

export function manifestText(): string {
  return banner + stringify(customResourceDefinition(), { lineWidth: 110, aliasDuplicateObjects: false });
}

async function main(isCheck: boolean): Promise<void> {
  const wanted = manifestText();
  for (const file of files) {
    if (!isCheck) {
      await writeFile(file, wanted);
    } else if ((await readFile(file, 'utf8').catch(() => '')) !== wanted) {
      process.stderr.write(`${file.pathname} differs from the schema; run "npm run generate"\n`);
      process.exitCode = 1;
    }
  }
}

if (import.meta.main) await main(process.argv.includes('--check'));
