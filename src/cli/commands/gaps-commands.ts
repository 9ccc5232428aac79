// The commands that read exported conversations: words, flags and texts. Refuses: importing their work, because `--help` of
// any command would load it.

import { oneOf, path, positiveCount, text, toggle } from '#platform/runtime/flags/flag-kinds.ts';
import { type Command, defineCommand } from '../command.ts';
import { clusterFlags } from './cluster-commands.ts';
import { credentialFlags } from './mirror-flags.ts';
import { basePath, sizeFlags } from './size-flags.ts';

export const gapsCommands: readonly Command[] = [
  defineCommand({
    words: 'conversations gaps',
    summary: 'reports what the docs leave unanswered, and since when',
    flags: {
      from: path.required('What "conversations export" wrote with --format ndjson or sqlite'),
      bundle: text.optional(
        'The site that is served: an archive, a link to one, or sx/NAME for a StaticExport of the cluster',
      ),
      previous: path.optional('Report of the run before, of --format json: what is new, closed or reopened'),
      to: path.optional(
        'Folder that gets gaps.html and gaps.json, instead of a report on standard output; its gaps.json of the run before is the --previous',
      ),
      format: oneOf(['md', 'html', 'csv', 'json']).withDefault(
        'md',
        'Format of the report on standard output',
      ),
      failOnNew: positiveCount.optional(
        'Exit with 11 at this many new or reopened gaps; needs --previous or --to',
      ),
      project: text.optional('Only turns of this project; required where --from has several'),
      bundleVersion: text.optional(
        'Name of the version in --bundle, as "export" printed it (default: the start of its digest)',
      ),
      basePath: basePath.withDefault('/', 'Path under which the site is served, for example /docs'),
      allowPrivateLinks: toggle('Allow a link of sx/NAME to loopback, private and cluster addresses'),
      ...credentialFlags('the mirror of sx/NAME'),
      ...clusterFlags,
      ...sizeFlags,
    },
    check: ({ failOnNew, previous, to, format, bundle, bundleVersion }) => {
      if (to !== undefined && format !== 'md')
        return '--to writes gaps.html and gaps.json; leave out --format';
      if (to !== undefined && previous !== undefined)
        return '--to reads gaps.json of its own folder; leave out --previous';
      if (failOnNew !== undefined && previous === undefined && to === undefined)
        return '--fail-on-new needs --previous or --to';
      return bundleVersion !== undefined && bundle === undefined
        ? '--bundle-version needs --bundle'
        : undefined;
    },
    examples: [
      'conversations gaps --from turns --bundle site.tar.gz',
      'conversations gaps --from turns --bundle sx/docs \\\n    --previous gaps.json --format html',
      'conversations gaps --from turns --to reports',
    ],
    run: async () => (await import('../conversations/gaps-command.ts')).findGaps,
    documents: async () => (await import('../conversations/documents.ts')).conversationDocuments,
  }),
];
