// The commands about archives: words, flags and texts. Refuses: importing their work, because `--help` of any command
// would load it.

import { FlagValueError, hostPort, listOf, path, toggle } from '#platform/runtime/flags/flag-kinds.ts';
import { readAllowedHost } from '#site/allowed-hosts.ts';
import { type Command, defineCommand } from '../command.ts';
import { basePath, contentDigest, ruleFlag, siteHost, sizeFlags } from '../common-flags.ts';
import { archiveEndings } from './archive-names.ts';

const documents = async () => (await import('./documents.ts')).archiveDocuments;

const archive = {
  placeholder: 'ARCHIVE',
  describe: 'An archive of a site: tar, tar.gz, tar.zst or zip',
  isRequired: true,
  candidates: 'files',
} as const;

const allowedHost = (text: string): string => {
  const host = readAllowedHost(text);
  if (host === undefined) throw new FlagValueError('must be a host such as cdn.example.com or *.example.com');
  return host;
};

export const bundleCommands: readonly Command[] = [
  defineCommand({
    words: 'bundle inspect',
    summary: 'shows what an archive holds, as a server would see it',
    arguments: [archive],
    flags: {
      files: toggle('List the files, with their sizes and hashes'),
      report: toggle('Show what the export says is missing, left out, or from other hosts'),
      ...sizeFlags,
    },
    examples: [
      'bundle inspect site.tar.gz',
      'bundle inspect site.tar.gz --report',
      'bundle inspect site.zip --files -o json',
    ],
    run: async () => (await import('./inspect.ts')).inspectBundle,
    documents,
  }),
  defineCommand({
    words: 'bundle verify',
    summary: 'says whether an archive is whole and has your digest',
    arguments: [archive],
    flags: { digest: contentDigest.optional('Digest that the content must have'), ...sizeFlags },
    examples: ['bundle verify site.tar.gz --digest "$DIGEST"'],
    run: async () => (await import('./verify.ts')).verifyBundle,
    documents,
  }),
  defineCommand({
    words: 'bundle check',
    summary: 'says whether a site needs other hosts or files that it lacks',
    arguments: [archive],
    flags: {
      allowExternal: listOf(
        'HOST',
        ',',
        allowedHost,
        'Host from which the site may load, such as cdn.example.com or *.example.com',
      ),
      allowMissing: toggle('Succeed where the site loads files that the archive does not have'),
      verifyInBrowser: path.optional(
        'Chromium that opens every page and reports what it does. Needs the package playwright-core',
      ),
      basePath: basePath.withDefault('/', 'Path under which the site is reached, for example /docs'),
      ...sizeFlags,
    },
    examples: ['bundle check site.tar.gz', 'bundle check site.tar.gz --allow-external cdn.example.com'],
    run: async () => (await import('./check.ts')).checkArchive,
    documents,
  }),
  defineCommand({
    words: 'bundle diff',
    summary: 'lists the files in which two archives or folders differ',
    arguments: [
      { ...archive, placeholder: 'OLD', describe: 'An archive, or a folder' },
      { ...archive, placeholder: 'NEW', describe: 'An archive, or a folder' },
    ],
    flags: sizeFlags,
    examples: ['bundle diff yesterday.tar.gz today.tar.gz', 'bundle diff site.tar.gz public'],
    run: async () => (await import('./diff.ts')).diffBundles,
    documents,
  }),
  defineCommand({
    words: 'bundle serve',
    summary: 'serves an archive for your browser',
    arguments: [archive],
    flags: {
      listen: hostPort.withDefault('127.0.0.1:8080', 'Address of the site; port 0 takes a free one'),
      basePath: basePath.withDefault('/', 'Path under which the site is reached, for example /docs'),
      ...sizeFlags,
    },
    examples: ['bundle serve site.tar.gz --listen 127.0.0.1:8000'],
    run: async () => (await import('./serve.ts')).serveBundle,
    documents,
  }),
  defineCommand({
    words: 'bundle pack',
    summary: 'packs a folder or an archive: same files, same bytes',
    arguments: [
      {
        placeholder: 'SOURCE',
        describe: 'A folder, or an archive of a site',
        isRequired: true,
        candidates: 'files',
      },
      {
        placeholder: 'ARCHIVE',
        describe: `The archive to write: ${archiveEndings}`,
        isRequired: true,
        candidates: 'files',
      },
    ],
    flags: { replace: toggle('Replace the archive if it exists'), ...sizeFlags },
    examples: ['bundle pack public site.tar.gz'],
    run: async () => (await import('./pack.ts')).packBundle,
    documents,
  }),
  defineCommand({
    words: 'bundle repair',
    summary: 'fixes known defects of exports in an archive',
    arguments: [archive],
    flags: {
      to: path.optional(`The archive to write: ${archiveEndings}`),
      rule: ruleFlag,
      dryRun: toggle('Report what the rules would change, and write nothing'),
      replace: toggle('Replace the archive if it exists'),
      ...sizeFlags,
    },
    check: ({ to, dryRun }) =>
      to === undefined && !dryRun ? '--to is missing; add it, or add --dry-run' : undefined,
    examples: [
      'bundle repair site.tar.gz --to repaired.tar.gz',
      'bundle repair site.tar.gz --dry-run',
      'bundle repair site.zip --to new.tgz --rule canonical=strip',
    ],
    run: async () => (await import('./repair.ts')).repairBundle,
    documents,
  }),
  defineCommand({
    words: 'bundle portable',
    summary: 'makes an archive whose site works from a disk',
    arguments: [archive],
    flags: {
      to: path.required(`The archive to write: ${archiveEndings}`),
      basePath: basePath.withDefault('/', 'Path below which the links of the archive expect the site'),
      domain: siteHost.optional('Host of the site: links that name it lead to files of the archive'),
      replace: toggle('Replace the archive if it exists'),
      ...sizeFlags,
    },
    examples: [
      'bundle portable site.tar.gz --to portable.tar.gz',
      'bundle portable site.zip --to new.tgz --domain docs.example.com',
    ],
    run: async () => (await import('./portable.ts')).makePortable,
    documents,
  }),
  defineCommand({
    words: 'bundle search',
    summary: 'adds a search to a site that needs no server for it',
    arguments: [archive],
    flags: {
      to: path.required(`The archive to write: ${archiveEndings}`),
      replace: toggle('Replace the archive if it exists'),
      ...sizeFlags,
    },
    examples: ['bundle search site.tar.gz --to searchable.tar.gz'],
    run: async () => (await import('./search.ts')).addSearch,
    documents,
  }),
];
