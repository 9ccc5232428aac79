// The commands about air-gap kits: words, flags and texts. Refuses: importing their work, because `--help` of any command would
// load it.

import {
  FlagValueError,
  kind,
  listOf,
  path,
  positiveBytes,
  text,
  toggle,
} from '#platform/runtime/flags/flag-kinds.ts';
import { readInstant } from '#platform/wire/instant.ts';
import { type Command, defineCommand } from '../command.ts';
import { contentDigest, credentialFlags, sizeFlags } from '../common-flags.ts';

const documents = async () => (await import('./documents.ts')).kitDocuments;

const kit = {
  placeholder: 'KIT',
  describe: 'A kit, its first part (.sxkit.001), or all of its parts',
  isRequired: true,
  isRepeatable: true,
  candidates: 'files',
} as const;

const paths = (placeholder: string, describe: string) => ({
  ...listOf(placeholder, '\n', (item) => item, describe),
  candidates: 'files' as const,
});

const series = kind('NAME', (value) => {
  if (/^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/.test(value)) return value;
  throw new FlagValueError('must be 1 to 63 letters in lower case, digits, points and hyphens');
});
const sequence = kind('N', (value) => {
  if (!/^[1-9]\d{0,14}$/.test(value))
    throw new FlagValueError('must be a whole number of at least 1, of at most 15 digits');
  return Number(value);
});
const instant = kind('INSTANT', (value) => {
  const at = readInstant(value);
  if (at === undefined || at < 1000)
    throw new FlagValueError('must be an instant such as 2026-01-31T12:00:00Z');
  return at;
});
const bundleVersion = (item: string): string => {
  if (!/^[\x21-\x7e]{1,63}$/.test(item))
    throw new FlagValueError('must be 1 to 63 printable characters without blanks');
  return item;
};
const mirror = kind('REFERENCE', (value) => {
  if (!/^(?:oci|s3):\/\/[^/]/.test(value)) throw new FlagValueError('must begin with oci:// or s3://');
  return value;
});

const keyFlags = {
  key: path.optional('Public key file of the kit’s maker, as minisign writes it'),
  keyText: text.optional('The same key as text: the second line of that file, RW...'),
};

function checkKey({
  key,
  keyText,
}: {
  readonly key: string | undefined;
  readonly keyText: string | undefined;
}) {
  if (key !== undefined && keyText !== undefined) return '--key and --key-text exclude each other';
  return key === undefined && keyText === undefined
    ? '--key or --key-text is required: the public key of the kit’s maker'
    : undefined;
}

export const kitCommands: readonly Command[] = [
  defineCommand({
    words: 'kit create',
    summary: 'packs bundles into one signed file for an air gap',
    flags: {
      to: path.required('Kit to write: NAME.sxkit'),
      signKey: path.required('Secret key file of minisign: minisign -G -W, or with --sign-password-file'),
      signPasswordFile: path.optional('File with the password of an encrypted secret key'),
      bundle: paths('ARCHIVE', 'Archive of a site; a store serves the first one'),
      bundleVersion: listOf('VERSION', '\n', bundleVersion, 'Version of each --bundle, in their order'),
      base: paths(
        'ARCHIVE|KIT',
        'What the receiver has already: each --bundle becomes a delta against the most similar base',
      ),
      image: path.optional('Image as an OCI archive (tar)'),
      chart: paths('FILE.tgz', 'Packed Helm chart'),
      sbom: path.optional('SBOM: SPDX or CycloneDX'),
      name: series.withDefault('site', 'Series of kits; within it, an older kit is not imported'),
      sequence: sequence.optional('Number of this kit in its series (default: the creation time in seconds)'),
      createdTime: instant.optional(
        'Creation time (default: now); the same inputs and time give the same bytes',
      ),
      partSize: positiveBytes.optional('Write parts of at most this size: NAME.sxkit.001, ...'),
      replace: toggle('Replace the kit if it exists'),
      ...sizeFlags,
    },
    check: ({ bundle, bundleVersion: versions, base, image, chart, sbom, partSize }) => {
      const hasPart = image !== undefined || chart.length > 0 || sbom !== undefined;
      if (bundle.length === 0 && !hasPart) return 'nothing to pack: name an archive with --bundle';
      if (base.length > 0 && bundle.length === 0) return '--base needs --bundle';
      if (versions.length > bundle.length) return '--bundle-version is given more often than --bundle';
      return partSize !== undefined && partSize < 4096 ? '--part-size must be at least 4KiB' : undefined;
    },
    examples: [
      'kit create --to docs.sxkit --sign-key kit.key \\\n    --bundle site.tar.gz',
      'kit create --to docs-2.sxkit --sign-key kit.key \\\n    --bundle new.tar.gz --base site.tar.gz',
    ],
    run: async () => (await import('./create.ts')).createKit,
    documents,
  }),
  defineCommand({
    words: 'kit inspect',
    summary: 'shows what a kit holds, without checking its signature',
    arguments: [kit],
    flags: {},
    examples: ['kit inspect docs.sxkit'],
    run: async () => (await import('./inspect.ts')).inspectKit,
    documents,
  }),
  defineCommand({
    words: 'kit verify',
    summary: 'checks the signature and every byte of a kit',
    arguments: [kit],
    flags: keyFlags,
    check: checkKey,
    examples: ['kit verify docs.sxkit --key kit.pub', 'kit verify docs.sxkit.001 --key-text "$KEY"'],
    run: async () => (await import('./verify.ts')).verifyKit,
    documents,
  }),
  defineCommand({
    words: 'kit import',
    summary: 'checks a kit and puts its bundles where you say',
    arguments: [kit],
    flags: {
      ...keyFlags,
      toFolder: path.optional('Folder to write the site to'),
      toStore: path.optional('Store of a bundle server that does not run now; it serves the first bundle'),
      to: mirror.optional(
        'Registry or bucket to copy the bundles to: oci://HOST/REPOSITORY or s3://BUCKET/PREFIX; needs --state',
      ),
      partsTo: path.optional('Folder for image, charts and SBOM'),
      digest: contentDigest.optional('Import this bundle alone'),
      base: paths(
        'ARCHIVE|KIT|STORE',
        'Where the base of a delta is, in addition to the target of the import',
      ),
      allowOlder: toggle('Import a kit that is older than the last one of its series'),
      allowOtherSeries: toggle('Import a kit of another series (--name) than the target holds'),
      state: path.optional('File that remembers imports (default: in the store, or next to the folder)'),
      replace: toggle('Replace the folder, or files of --parts-to'),
      ...credentialFlags('--to'),
      ...sizeFlags,
    },
    check: ({ key, keyText, toFolder, toStore, to, partsTo, state, allowOlder }) => {
      const wrong = checkKey({ key, keyText });
      if (wrong !== undefined) return wrong;
      const targets = [toFolder, toStore, to].filter((target) => target !== undefined).length;
      if (targets > 1) return '--to-folder, --to-store and --to exclude each other';
      if (targets === 0 && partsTo === undefined)
        return 'no target: name one with --to-folder, --to-store or --to';
      return to !== undefined && state === undefined && !allowOlder
        ? '--to needs --state: a file that remembers imports, so that an older kit is refused'
        : undefined;
    },
    examples: [
      'kit import docs.sxkit --key kit.pub --to-folder public',
      'kit import docs.sxkit --key kit.pub --state imports.json \\\n    --to oci://registry.example.com/docs --mirror-credentials creds',
      'kit import docs-2.sxkit --key kit.pub --to-store store \\\n    --base site.tar.gz',
    ],
    run: async () => {
      const { importKitWith } = await import('./import.ts');
      const { openMirror } = await import('./open-mirror.ts');
      return importKitWith(openMirror);
    },
    documents,
  }),
];
