// The files of a release folder: their names, and which a release must have. Pure. Owns the names that programs and people
// look for; the push, the workflows and the tests take them from here.

/** The two formats of a bill of materials. */
export const billFormats = ['spdx', 'cdx'] as const;
export type BillFormat = (typeof billFormats)[number];

export const chartNames = ['static-export-operator', 'static-export-site'] as const;
export type ChartName = (typeof chartNames)[number];

export const checksumsFile = 'checksums.txt';
export const signatureFile = `${checksumsFile}.minisig`;
export const provenanceFile = 'provenance.intoto.jsonl';
export const installFile = 'install.yaml';
export const krewFile = 'static-export.yaml';
export const notesFile = 'RELEASE-NOTES.md';

export const packageFile = (version: string): string => `static-export-cli-${version}.tgz`;
export const chartFile = (name: ChartName, version: string): string => `${name}-${version}.tgz`;
export const imageFile = (version: string): string => `image-${version}.oci.tar`;
export const billFile = (of: 'image' | 'package', format: BillFormat): string => `sbom-${of}.${format}.json`;

/** Without one of these there is no release. */
export const mandatoryFiles = (version: string): readonly string[] => [
  packageFile(version),
  ...chartNames.map((name) => chartFile(name, version)),
  installFile,
  krewFile,
  ...billFormats.map((format) => billFile('package', format)),
  notesFile,
  provenanceFile,
  checksumsFile,
];

/** Left out where a tool is missing, unless `--require-image` asks for them. */
export const imageFiles = (version: string): readonly string[] => [
  imageFile(version),
  ...billFormats.map((format) => billFile('image', format)),
];

/** Where a registry holds the image. Charts are below `charts`, because the operator's has the same name. */
export const imageRepositoryOf = (registry: string): string => `${registry}/static-export-operator`;

/** Whether a release of any version writes a file of this name, so that a folder may be written again. */
export function isReleaseFile(name: string): boolean {
  const version = /-\d+\.\d+\.\d+[0-9A-Za-z.+-]*(?=\.(?:tgz|oci\.tar)$)/.exec(name)?.[0]?.slice(1) ?? '\0';
  return [...mandatoryFiles(version), ...imageFiles(version), signatureFile].includes(name);
}
