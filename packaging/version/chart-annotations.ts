// What a Chart.yaml says to Artifact Hub of one release: the changes that concern the chart, and, once it is published,
// where it is. Pure. Refuses to invent an address: without a publisher's there are no links, no full image and no key.

import { Document, isMap, parseDocument, stringify } from 'yaml';
import { z } from 'zod';
import type { ChangelogLine } from './changelog.ts';
import { isPrerelease } from './release-version.ts';

export interface ChartChange {
  readonly kind: string;
  readonly description: string;
}

/** What only a publisher knows. */
export interface ChartPublication {
  /** Where the image is, without a tag: `registry.example.com/docs/static-export-operator`. */
  readonly imageRepository?: string | undefined;
  /** Where people read the sources. */
  readonly sourceUrl?: string | undefined;
  readonly docsUrl?: string | undefined;
  /** The OpenPGP key that `helm package --sign` used, and where its public half is. */
  readonly signKey?: { readonly fingerprint: string; readonly url: string } | undefined;
}

/** Areas of the changelog that concern a chart. A line without an area concerns both, and so does a new area. */
const foreignAreas: Readonly<Record<string, ReadonlySet<string>>> = {
  'static-export-operator': new Set(['Bundle server', 'Command line']),
  'static-export-site': new Set(['Operator', 'Export service', 'Command line']),
};
const kinds: ReadonlySet<string> = new Set([
  'added',
  'changed',
  'deprecated',
  'removed',
  'fixed',
  'security',
]);
/** Artifact Hub shows them on one page. The first release alone has more. */
const mostChanges = 25;
const prefix = 'artifacthub.io/';
const imageShape = z.array(z.looseObject({ image: z.string() }));
const flowing = { lineWidth: 0, flowCollectionPadding: false };

/** The changes of a section for one chart: of each line its first sentence, in plain text. */
export function chartChanges(chart: string, lines: readonly ChangelogLine[]): readonly ChartChange[] {
  const changes = lines
    .filter(({ area }) => area === undefined || foreignAreas[chart]?.has(area) !== true)
    .map(({ heading, text }) => {
      const kind = heading.toLowerCase();
      return { kind: kinds.has(kind) ? kind : 'changed', description: firstSentence(text) };
    });
  const left = changes.length - mostChanges;
  const rest = { kind: 'changed', description: `${left} more changes: see CHANGELOG.md of the sources` };
  return left > 0
    ? [...changes.slice(0, mostChanges), { ...rest, kind: changes.at(-1)?.kind ?? 'changed' }]
    : changes;
}

function firstSentence(text: string): string {
  const plain = text.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1');
  const end = /(?<!\b[a-z]\.[a-z])\.(?=\s)/.exec(plain)?.index ?? plain.length;
  return plain.slice(0, end).replace(/\.$/, '');
}

/** Chart.yaml with what follows from the version and its section of the changelog. */
export function prepareChart(
  text: string,
  release: { readonly version: string; readonly chart: string; readonly lines: readonly ChangelogLine[] },
): string {
  const { version, chart, lines } = release;
  return changeAnnotations(text, {
    changes: stringify(chartChanges(chart, lines), flowing),
    // Of version 0, any release may change what users wrote.
    prerelease: String(isPrerelease(version) || version.startsWith('0.')),
    containsSecurityUpdates: String(lines.some(({ heading }) => heading === 'Security')),
  });
}

/**
 * Chart.yaml as a publisher packs it: `home`, `sources` and links where an address is given, and the image by its whole name.
 *
 * @throws {Error} of an address that is not https
 */
export function publishChart(text: string, publication: ChartPublication): string {
  const { imageRepository, sourceUrl, docsUrl, signKey } = publication;
  const urls = Object.entries({
    'the source URL': sourceUrl,
    'the docs URL': docsUrl,
    'the URL of the key': signKey?.url,
  });
  for (const [name, url] of urls) if (url !== undefined) requireHttps(name, url);
  const document = parseChart(text);
  if (sourceUrl !== undefined) {
    document.set('home', docsUrl ?? sourceUrl);
    document.set('sources', [sourceUrl]);
  }
  const links = [
    ...(sourceUrl === undefined ? [] : [{ name: 'source', url: sourceUrl }]),
    ...(docsUrl === undefined ? [] : [{ name: 'docs', url: docsUrl }]),
  ];
  const images = document.getIn(['annotations', `${prefix}images`]);
  return changeAnnotations(document.toString(flowing), {
    ...(links.length === 0 ? {} : { links: stringify(links, flowing) }),
    ...(imageRepository === undefined
      ? {}
      : { images: withRepository(String(images ?? ''), imageRepository) }),
    ...(signKey === undefined ? {} : { signKey: stringify(signKey, flowing) }),
  });
}

/** The same tags, at another place. */
function withRepository(images: string, repository: string): string {
  const moved = imageShape.parse(parseDocument(images).toJS()).map((one) => {
    const tag = /:[^:/]+$/.exec(one.image)?.[0] ?? '';
    return { ...one, image: repository + tag };
  });
  return stringify(moved, flowing);
}

function requireHttps(name: string, url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol === 'https:' && parsed.username === '' && parsed.password === '') return;
  throw new Error(
    `${name} must be an https address without a user, such as https://git.example.com/docs/exports`,
  );
}

function parseChart(text: string): Document.Parsed {
  const document = parseDocument(text);
  if (document.errors[0] !== undefined) throw document.errors[0];
  if (!isMap(document.get('annotations'))) throw new Error('Chart.yaml has no annotations');
  return document;
}

function changeAnnotations(text: string, values: Readonly<Record<string, string>>): string {
  const document = parseChart(text);
  for (const [name, value] of Object.entries(values)) {
    const path = ['annotations', prefix + name];
    if (document.getIn(path) === value) continue;
    const scalar = new Document(value).contents;
    document.setIn(path, scalar);
  }
  return document.toString(flowing);
}
