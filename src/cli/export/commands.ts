// The command that exports one site: words, flags and texts. Refuses: importing its work, because `--help` of any
// command would load it.

import type { ExportBasePath } from '#export-api/contract.ts';
import { startsPerHour } from '#operator/starts-flag.ts';
import { longestProjectId, projectIdPattern } from '#operator/staticexport/names.ts';
import {
  countUpTo,
  FlagValueError,
  httpUrl,
  kind,
  path,
  positiveDuration,
  toggle,
} from '#platform/runtime/flags/flag-kinds.ts';
import { archiveEndings } from '../bundle/archive-names.ts';
import { type Command, defineCommand } from '../command.ts';
import { keyFlags, linkFlags, ruleFlag, sizeFlags } from '../common-flags.ts';

/** As `spec.promotion.minPages`. */
const mostPages = 10_000_000;
const wholeNumber = kind('N', (text) => {
  if (!/^\d{1,8}$/.test(text) || Number(text) > mostPages)
    throw new FlagValueError(`must be a whole number of at most ${mostPages}`);
  return Number(text);
});
const percent = kind('PERCENT', (text) => {
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100) throw new FlagValueError('must be from 0 to 100');
  return Number(text);
});

const projectId = kind('ID', (text) => {
  if (text.length > longestProjectId || !new RegExp(projectIdPattern).test(text))
    throw new FlagValueError(
      'must be a project id as the dashboard shows it, such as 665f1c2e9b8f4a0001a1b2c3',
    );
  return text;
});
/** The root is `/` on other command lines. */
const exportBasePath = kind(
  '/docs|/documentation|/',
  (text): ExportBasePath => {
    const found = (['', '/docs', '/documentation'] as const).find(
      (one) => one === text || (one === '' && text === '/'),
    );
    if (found === undefined) throw new FlagValueError('must be /docs, /documentation or / for the root');
    return found;
  },
  ['/docs', '/documentation', '/'],
);

/** What a comparison, a pipeline or `diff` expects: 0 is the usual answer, errors begin at 2. */
const exitCode = countUpTo(255, 'CODE');

export const exportCommands: readonly Command[] = [
  defineCommand({
    words: 'export',
    summary: 'exports a site, checks the archive and writes it where you say',
    arguments: [
      {
        placeholder: 'DOMAIN',
        describe: 'The domain to export; optional with --project-id',
        isRequired: false,
      },
    ],
    flags: {
      apiBaseUrl: httpUrl.required('Export API; may include a path prefix'),
      projectId: projectId.optional(
        'Project id of the vendor: use the project-scoped form of the export API (default: by domain)',
      ),
      basePath: exportBasePath.optional(
        'Path below which the site is built (default: what the deployment has); only with --project-id',
      ),
      ...keyFlags,
      to: path.optional(`Folder to write the site to, or archive: ${archiveEndings}`),
      replace: toggle('Replace what --to names, whatever it holds'),
      values: path.optional('YAML file whose staticExport.version to set; never gets the link'),
      linkFile: path.optional('File to write bundle.json to, with the link; only its owner can read it'),
      minPages: wholeNumber.withDefault('1', 'Hold an export with fewer pages'),
      repair: toggle('Fix known defects before the export is compared and written, as bundle repair does'),
      rule: ruleFlag,
      allowMissingHomePage: toggle('Write an export whose home page does not answer'),
      maxShrink: percent.withDefault('50', 'Hold an export with more than this percentage fewer pages'),
      baseline: path.optional('Archive to compare with, instead of the last export by this state'),
      timeout: positiveDuration.withDefault('60m', 'Deadline of the whole command'),
      requestTimeout: positiveDuration.withDefault('30s', 'Deadline of one request to the export API'),
      startsPerHour,
      state: path.optional(
        'Folder of the unfinished export, for the next run (default: below $XDG_STATE_HOME or ~/.local/state)',
      ),
      new: toggle('Start a new export, also where an unfinished one could be continued'),
      unchangedExitCode: exitCode.optional('Exit code if the content is the same as before (default 0)'),
      ...linkFlags,
      ...sizeFlags,
    },
    check: ({ keyFile, keyStdin, values, linkFile, projectId, basePath, repair, rule }) => {
      if (rule.length > 0 && !repair) return '--rule needs --repair';
      if (repair && linkFile !== undefined)
        return '--repair and --link-file exclude each other, because a link leads to the archive before its repair';
      if (basePath !== undefined && projectId === undefined) return '--base-path needs --project-id';
      if (keyFile !== undefined && keyStdin) return '--key-file and --key-stdin exclude each other';
      const isOne = values !== undefined && values === linkFile;
      return isOne ? '--values and --link-file name the same file' : undefined;
    },
    examples: [
      'export docs.example.com --key-file key --to public \\\n    --api-base-url https://export.example.com',
      'export docs.example.com --key-file key --to site.tar.gz \\\n    --repair --api-base-url https://export.example.com',
    ],
    run: async () => (await import('./export-command.ts')).runExport,
    documents: async () => (await import('./documents.ts')).exportDocuments,
  }),
];
