// What commands print about a kit: fields of documents and lines for a person. Pure. Refuses text that no schema has
// admitted: names and versions of a list are printable.

import type { KitBundle, KitDocument, KitPart } from '#mirror/kit/kit-document.ts';
import type { KitHead } from '#mirror/kit/kit-reader.ts';
import { counted, sizeWords } from '../output/amounts.ts';

/** A bundle of a kit in a document. */
export function bundleFields({ kind, digest, version, pages, files, sizeBytes, ...rest }: KitBundle) {
  const base = 'baseDigest' in rest ? { baseDigest: rest.baseDigest } : {};
  return { kind, digest, ...(version !== undefined && { version }), pages, files, sizeBytes, ...base };
}

const partFields = ({ kind, name }: KitPart) => ({ kind, name });

type ShownKit = Pick<KitHead, 'document' | 'keyId' | 'frame'>;

/** What every document about a kit holds. */
export function kitFields({ document, keyId, frame }: ShownKit) {
  return {
    name: document.name,
    sequence: document.sequence,
    createdTime: document.createdTime,
    keyId,
    sizeBytes: frame.size,
    bundles: document.bundles.map(bundleFields),
    parts: document.parts.map(partFields),
  };
}

/** A pipeline reads these of a kit with one bundle. */
export function outputFields({ bundles }: Pick<KitDocument, 'bundles'>) {
  const [bundle, ...others] = bundles;
  if (bundle === undefined || others.length > 0) return {};
  const { digest, version, pages } = bundle;
  return { digest, ...(version !== undefined && { version }), pages };
}

export function kitLines({ document, keyId, frame }: ShownKit): readonly string[] {
  const { name, sequence, createdTime, bundles, parts } = document;
  return [
    `Kit:      ${name}, sequence ${sequence}`,
    `Created:  ${createdTime}`,
    `Key:      ${keyId}`,
    `Size:     ${sizeWords(frame.size)}`,
    ...bundles.flatMap(bundleLines),
    ...parts.map((part) => `${partWords[part.kind]}${part.name}`),
  ];
}

export function bundleLines(bundle: KitBundle): readonly string[] {
  const { digest, version, pages, sizeBytes } = bundle;
  const named = version === undefined ? '' : `, version ${version}`;
  return [
    `Bundle:   ${digest}${named}`,
    `          ${counted(pages, 'page')}, ${sizeWords(sizeBytes)}`,
    ...(bundle.kind === 'delta' ? [`          delta of ${bundle.baseDigest}`] : []),
  ];
}

export const partWords: Readonly<Record<KitPart['kind'], string>> = {
  image: 'Image:    ',
  chart: 'Chart:    ',
  sbom: 'SBOM:     ',
};
