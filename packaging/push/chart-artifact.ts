// A packed chart as the artifact that `helm push` writes, byte for byte: config, layer, and annotations of its Chart.yaml. Pure
// but for unpacking. Refuses an archive without Chart.yaml or values.yaml. Invariant: the time is that of the archive's
// entries, so that the same archive gives the same manifest on any day.

import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { parse } from 'yaml';
import { z } from 'zod';
import { digestOfBytes, manifestType } from '#mirror/image.ts';
import { type Artifact, type BlobPart, chartPathOf, PushRefusal } from './artifact.ts';

export const chartConfigType = 'application/vnd.cncf.helm.config.v1+json';
export const chartLayerType = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';

const text = z.string().optional();
const texts = z.array(z.string()).optional();
const maintainer = z.object({ name: text, email: text, url: text });
/** In the order of Helm's own type: the order of the config's fields. */
const chartShape = z.object({
  name: z.string(),
  home: text,
  sources: texts,
  version: z.string(),
  description: text,
  keywords: texts,
  maintainers: z.array(maintainer).optional(),
  icon: text,
  apiVersion: z.string(),
  appVersion: text,
  deprecated: z.boolean().optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  kubeVersion: text,
  type: text,
});
export type ChartMetadata = z.infer<typeof chartShape>;

export interface PackedChart {
  readonly metadata: ChartMetadata;
  /** Text of `values.yaml`. */
  readonly values: string;
  /** Of its entries, since 1970. */
  readonly seconds: number;
}

/** @throws PushRefusal with the file's name where it is not a chart */
export async function readPackedChart(file: string, bytes: Buffer): Promise<PackedChart> {
  const found = new Map<string, { readonly text: string; readonly seconds: number }>();
  const entries = extract();
  entries.end(gunzipSync(bytes));
  for await (const entry of entries) {
    const name = /^[^/]+\/(Chart\.yaml|values\.yaml)$/.exec(entry.header.name)?.[1];
    const content = await buffer(entry);
    const seconds = (entry.header.mtime?.getTime() ?? 0) / 1000;
    if (name !== undefined) found.set(name, { text: content.toString('utf8'), seconds });
  }
  const [chart, values] = [found.get('Chart.yaml'), found.get('values.yaml')];
  if (chart === undefined || values === undefined) {
    throw new PushRefusal(`${file} has no Chart.yaml or no values.yaml. Make the release again.`);
  }
  return { metadata: chartShape.parse(parse(chart.text)), values: values.text, seconds: chart.seconds };
}

export function chartArtifact(bytes: Buffer, { metadata, seconds }: PackedChart): Artifact {
  const configBytes = goJson(configOf(metadata));
  const config = blobOf(chartConfigType, configBytes);
  const layer = blobOf(chartLayerType, bytes);
  const manifest = goJson({
    schemaVersion: 2,
    config: descriptorOf(config),
    layers: [descriptorOf(layer)],
    annotations: sorted(annotationsOf(metadata, seconds)),
  });
  return {
    kind: 'chart',
    name: chartPathOf(metadata.name),
    version: metadata.version,
    blobs: [layer, config],
    children: [],
    root: { mediaType: manifestType, digest: digestOfBytes(manifest), bytes: manifest },
  };
}

/** Fields without a value are left out, as Go leaves them out. */
function configOf(metadata: ChartMetadata): unknown {
  const { annotations, ...rest } = metadata;
  const kept = Object.entries({ ...metadata, ...rest }).filter(
    ([, value]) => value !== '' && value !== false && !(Array.isArray(value) && value.length === 0),
  );
  return { ...Object.fromEntries(kept), ...(annotations && { annotations: sorted(annotations) }) };
}

function annotationsOf(metadata: ChartMetadata, seconds: number): Readonly<Record<string, string>> {
  const { name, version, description, home, sources, maintainers = [], annotations = {} } = metadata;
  const authors = maintainers.map(({ name: who = '', email }) => (email ? `${who} (${email})` : who));
  const own = {
    description,
    title: name,
    version,
    url: home,
    source: sources?.[0],
    authors: authors.join(', '),
    created: new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z'),
  };
  const named = Object.entries(own).flatMap(([key, value]) =>
    value === undefined || value.trim() === '' ? [] : [[`org.opencontainers.image.${key}`, value] as const],
  );
  // A chart may say more than these, and nothing else about its title and version.
  const fixed = /^org\.opencontainers\.image\.(?:title|version)$/;
  const further = Object.entries(annotations).filter(([key]) => !fixed.test(key));
  return Object.fromEntries([...named, ...further]);
}

function blobOf(mediaType: string, bytes: Buffer): BlobPart {
  const open = async function* (): AsyncGenerator<Buffer> {
    yield bytes;
  };
  return { mediaType, digest: digestOfBytes(bytes), size: bytes.length, open };
}

const descriptorOf = ({ mediaType, digest, size }: BlobPart): unknown => ({ mediaType, digest, size });
const sorted = (record: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1)));

/** JSON as Go writes it, which keeps these signs out of HTML. */
function goJson(value: unknown): Buffer {
  const escaped = JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return Buffer.from(escaped);
}
