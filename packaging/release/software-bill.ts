// Bills of materials as npm writes them, in both formats, cut down to what an artifact contains, and with what npm does not
// know: Node and the packages of Debian. Pure. Names no time but the commit's and no random identifier.

import { z } from 'zod';

/** Of a component of CycloneDX. */
export const referencesShape = z.array(z.looseObject({ url: z.string() })).optional();
const cdxPart = z.looseObject({ 'bom-ref': z.string(), externalReferences: referencesShape });
const cdxShape = z.looseObject({
  serialNumber: z.string().optional(),
  metadata: z.looseObject({
    timestamp: z.string().optional(),
    component: cdxPart,
  }),
  components: z.array(cdxPart.extend({ name: z.string(), version: z.string() })),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()).optional() })),
});
const spdxShape = z.looseObject({
  name: z.string(),
  documentNamespace: z.string(),
  creationInfo: z.looseObject({ created: z.string() }),
  documentDescribes: z.array(z.string()),
  packages: z.array(z.looseObject({ SPDXID: z.string(), name: z.string(), versionInfo: z.string() })),
  relationships: z.array(
    z.looseObject({
      spdxElementId: z.string(),
      relatedSpdxElement: z.string(),
      relationshipType: z.string(),
    }),
  ),
});

/** What the bill is of, and what it lists. */
export interface BillSubject {
  readonly name: string;
  readonly version: string;
  readonly commit: string;
  /** Of the commit, ISO 8601. */
  readonly time: string;
  readonly isPart: (packageName: string, version: string) => boolean;
  /** Not of npm: they follow npm's packages. */
  readonly more: readonly FurtherPart[];
}

export interface FurtherPart {
  readonly name: string;
  readonly version: string;
  readonly kind: 'application' | 'library';
  /** An identifier such as `pkg:deb/debian/libc6@2.41`. */
  readonly purl: string;
  readonly licence?: string;
  /** Where advisories name it by a platform enumeration, and not by its package. */
  readonly cpe?: string;
}

/** @param fromNpm what `npm sbom --sbom-format=cyclonedx` wrote */
export function cyclonedxBill(fromNpm: unknown, subject: BillSubject): string {
  const { serialNumber: _, metadata, components, dependencies, ...bill } = cdxShape.parse(fromNpm);
  const root = metadata.component['bom-ref'];
  const listed = components.filter(({ name, version }) => subject.isPart(name, version));
  const refs = new Set([root, ...listed.map((one) => one['bom-ref'])]);
  const more = subject.more.map(({ name, version, kind, purl, licence, cpe }) => ({
    'bom-ref': purl,
    type: kind,
    name,
    version,
    purl,
    ...(cpe !== undefined && { cpe }),
    ...(licence !== undefined && { licenses: [{ license: { name: licence } }] }),
  }));
  const ref = `pkg:generic/${subject.name}@${subject.version}`;
  const { properties: __, ...component } = withAddresses(metadata.component);
  const document = {
    ...bill,
    metadata: {
      ...metadata,
      timestamp: subject.time,
      component: {
        ...component,
        'bom-ref': root,
        type: 'application',
        name: subject.name,
        version: subject.version,
        purl: ref,
      },
    },
    components: [...listed.map(withAddresses), ...more],
    dependencies: [
      ...dependencies
        .filter((one) => refs.has(one.ref))
        .map((one) => ({ ...one, dependsOn: (one.dependsOn ?? []).filter((other) => refs.has(other)) })),
      ...more.map((one) => ({ ref: one['bom-ref'], dependsOn: [] })),
    ],
  };
  return `${JSON.stringify(document, undefined, 1)}\n`;
}

/** As git takes it for SSH: `git@github.com:owner/name.git`. */
const scpAddress = /^([\w.-]+@[\w.-]+):(?!\/)(.+)$/;

/** npm copies such addresses as they are. They are not URLs, and a reader that validates refuses the whole bill. */
export function withAddresses<Part extends { readonly externalReferences?: z.infer<typeof referencesShape> }>(
  part: Part,
): Part {
  const { externalReferences: all } = part;
  if (all === undefined) return part;
  const written = all.map((one) => ({ ...one, url: one.url.replace(scpAddress, 'git+ssh://$1/$2') }));
  return { ...part, externalReferences: written };
}

/** @param fromNpm what `npm sbom --sbom-format=spdx` wrote */
export function spdxBill(fromNpm: unknown, subject: BillSubject): string {
  const bill = spdxShape.parse(fromNpm);
  const [root = ''] = bill.documentDescribes;
  const listed = bill.packages.filter(
    ({ SPDXID, name, versionInfo }) => SPDXID === root || subject.isPart(name, versionInfo),
  );
  const ids = new Set(['SPDXRef-DOCUMENT', ...listed.map(({ SPDXID }) => SPDXID)]);
  const more = subject.more.map(({ name, version, purl, licence, cpe }) => ({
    name,
    SPDXID: `SPDXRef-Part-${purl.replace('pkg:', '').replaceAll(/[^A-Za-z0-9.-]+/g, '-')}`,
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    ...(licence !== undefined && { licenseComments: licence }),
    externalRefs: [
      { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl },
      ...(cpe === undefined
        ? []
        : [{ referenceCategory: 'SECURITY', referenceType: 'cpe23Type', referenceLocator: cpe }]),
    ],
  }));
  const document = {
    ...bill,
    name: `${subject.name}@${subject.version}`,
    documentNamespace: `https://staticexport.dev/spdx/${subject.name}-${subject.version}-${subject.commit}`,
    creationInfo: { ...bill.creationInfo, created: subject.time.replace(/\.\d+Z$/, 'Z') },
    packages: [
      ...listed.map((one) => (one.SPDXID === root ? { ...one, ...subjectOfSpdx(subject) } : one)),
      ...more,
    ],
    relationships: [
      ...bill.relationships.filter((one) => ids.has(one.spdxElementId) && ids.has(one.relatedSpdxElement)),
      ...more.map(({ SPDXID }) => ({
        spdxElementId: root,
        relatedSpdxElement: SPDXID,
        relationshipType: 'CONTAINS',
      })),
    ],
  };
  return `${JSON.stringify(document, undefined, 1)}\n`;
}

const subjectOfSpdx = ({ name, version }: BillSubject): object => ({
  name,
  versionInfo: version,
  primaryPackagePurpose: 'APPLICATION',
  externalRefs: [
    {
      referenceCategory: 'PACKAGE-MANAGER',
      referenceType: 'purl',
      referenceLocator: `pkg:generic/${name}@${version}`,
    },
  ],
});
