// The command that reports what readers do not find: words, flags and texts. Refuses: importing its work, because `--help` of any
// command would load it.

import { listOf, readHttpUrl, text, toggle } from '#platform/runtime/flags/flag-kinds.ts';
import { clusterFlags, named } from '../cluster/commands.ts';
import { type Command, defineCommand } from '../command.ts';
import { credentialFlags, siteHost, sizeFlags } from '../common-flags.ts';

export const reportCommands: readonly Command[] = [
  defineCommand({
    words: 'report',
    summary: 'shows what readers look for and do not find',
    arguments: [
      { ...named, describe: 'The StaticExport whose servers are read; without --server', isRequired: false },
    ],
    flags: {
      server: listOf(
        'URL',
        ',',
        readHttpUrl,
        'Admin ports of servers to read, such as http://127.0.0.1:9090, instead of NAME',
      ),
      bundle: text.optional(
        'The site that is served, to name the pages that link to a missing address: an archive, a link to one, or sx/NAME',
      ),
      bundleVersion: text.optional('Name of the version in --bundle (default: what sx/NAME publishes)'),
      domain: siteHost.optional(
        'Host of the site; links that name it count too (default: spec.domain of NAME)',
      ),
      allowPrivateLinks: toggle('Allow a link of sx/NAME to loopback, private and cluster addresses'),
      ...credentialFlags('the mirror of sx/NAME'),
      ...clusterFlags,
      ...sizeFlags,
    },
    check: ({ bundle, bundleVersion }) =>
      bundleVersion !== undefined && bundle === undefined ? '--bundle-version needs --bundle' : undefined,
    examples: [
      'report docs',
      'report docs --bundle sx/docs',
      'report --server http://127.0.0.1:9090 \\\n    --bundle site.tar.gz -o json',
    ],
    run: async () => (await import('./report-command.ts')).reportInsights,
    documents: async () => (await import('./documents.ts')).insightDocuments,
  }),
];
