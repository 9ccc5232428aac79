// The commands that add files to an archive, made from its pages: words, flags and texts. Refuses: importing their work, because
// `--help` of any command would load it.

import { path, toggle } from '#platform/runtime/flags/flag-kinds.ts';
import { archiveEndings } from '../bundle/archive-names.ts';
import { type Command, defineCommand } from '../command.ts';
import { basePath, siteHost, sizeFlags } from '../common-flags.ts';

export const madeFilesCommands: readonly Command[] = [
  defineCommand({
    words: 'bundle markdown',
    summary: 'adds Markdown of each page and llms.txt to an archive',
    arguments: [
      {
        placeholder: 'ARCHIVE',
        describe: 'An archive of a site: tar, tar.gz, tar.zst or zip',
        isRequired: true,
        candidates: 'files',
      },
    ],
    flags: {
      to: path.required(`The archive to write: ${archiveEndings}`),
      basePath: basePath.withDefault('/', 'Path under which the site is reached, for example /docs'),
      domain: siteHost.optional('Host of the site, for links with https. Without it they begin at the root'),
      replace: toggle('Replace the archive if it exists'),
      ...sizeFlags,
    },
    examples: [
      'bundle markdown site.tar.gz --to with-markdown.tar.gz',
      'bundle markdown site.zip --to new.tgz --domain docs.example.com',
    ],
    run: async () => (await import('./markdown.ts')).addMarkdown,
    documents: async () => (await import('../bundle/documents.ts')).archiveDocuments,
  }),
];
