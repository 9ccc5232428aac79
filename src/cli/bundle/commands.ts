// The commands about archives: words, flags and texts. Refuses: importing their work, because `--help` of any command
// would load it.

import { hostPort, toggle } from '#platform/runtime/flags/flag-kinds.ts';
import { type Command, defineCommand } from '../command.ts';
import { basePath, contentDigest, sizeFlags } from '../common-flags.ts';
import { archiveEndings } from './archive-names.ts';

const documents = async () => (await import('./documents.ts')).archiveDocuments;

const archive = {
  placeholder: 'ARCHIVE',
  describe: 'An archive of a site: tar, tar.gz, tar.zst or zip',
  isRequired: true,
  candidates: 'files',
} as const;

export const bundleCommands: readonly Command[] = [
  defineCommand({
    words: 'bundle inspect',
    summary: 'shows what an archive holds, as a server would see it',
    arguments: [archive],
    flags: { files: toggle('List the files, with their sizes and hashes'), ...sizeFlags },
    examples: ['bundle inspect site.tar.gz', 'bundle inspect site.zip --files -o json'],
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
];
