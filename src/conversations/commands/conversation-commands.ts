// The commands about assistant conversations: words, flags and texts. Refuses: importing their work, because `--help` of any
// command would load it.

import { clusterFlags } from '#cli/cluster/commands.ts';
import { type CommandSection, defineCommand } from '#cli/command.ts';
import { basePath, credentialFlags, keyFlags, sizeFlags } from '#cli/common-flags.ts';
import {
  countUpTo,
  duration,
  FlagValueError,
  httpUrl,
  kind,
  listOf,
  oneOf,
  path,
  positiveCount,
  positiveDuration,
  text,
  toggle,
} from '#platform/runtime/flags/flag-kinds.ts';
import { readInstant } from '#platform/wire/instant.ts';
import type { TimeBound } from './time-bound.ts';

/** JavaScript reads 2026-02-30 as the second of March. */
const documents = async () => (await import('./documents.ts')).conversationDocuments;

const isOnCalendar = (date: string): boolean => {
  const at = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date);
};

const timeBound = kind<TimeBound>('60d|DATE', (value) => {
  const age = /^(\d{1,5})(h|d|w)$/.exec(value);
  if (age !== null) {
    const unitMs = { h: 3_600_000, d: 86_400_000, w: 604_800_000 }[age[2] ?? ''] ?? 0;
    return { ageMs: Number(age[1]) * unitMs };
  }
  const isDate = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d))?$/.test(value);
  const at = isDate && isOnCalendar(value.slice(0, 10)) ? readInstant(value) : undefined;
  if (at === undefined || at < 0)
    throw new FlagValueError(
      'must be an age such as 60d, or a date such as 2026-01-31 or 2026-01-31T12:00:00Z',
    );
  return { at };
});

const periods = new Map([
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);
const rate = kind('N/h', (value) => {
  const [, count = '', unit = ''] = /^([1-9]\d{0,6})\/([mhd])$/.exec(value) ?? [];
  const periodMs = periods.get(unit);
  if (periodMs === undefined)
    throw new FlagValueError('must be a number of requests such as 100/h, 5/m or 1000/d');
  return { requests: Number(count), periodMs };
});
const wholeNumber = kind('N', (value) => {
  if (!/^\d{1,6}$/.test(value)) throw new FlagValueError('must be a whole number');
  return Number(value);
});

const place = kind(
  'DIR|FILE|-|URL',
  (value) => {
    if (value === '') throw new FlagValueError('must not be empty');
    if (/^[a-z][a-z0-9+.-]*:\/\/[^/]*@/i.test(value) || /^https?:.*[?#]/i.test(value))
      throw new FlagValueError('must be an address without user, password, query and fragment');
    return value;
  },
  'files',
);
const formats = oneOf(['ndjson', 'csv', 'parquet', 'sqlite', 'singer']);
const redactionKinds = ['email', 'ip', 'token'] as const;
function readRedactionKind(item: string): (typeof redactionKinds)[number] {
  const found = redactionKinds.find((one) => one === item);
  if (found === undefined) throw new FlagValueError(`must be one of ${redactionKinds.join(', ')}`);
  return found;
}

export const conversationSection: CommandSection = {
  title: 'Conversations',
  commands: [
    defineCommand({
      words: 'conversations export',
      summary: 'exports new and changed turns of conversations',
      flags: {
        apiBaseUrl: httpUrl.required('Export API; may include a path prefix'),
        ...keyFlags,
        project: text.required('Project whose conversations to export'),
        to: place.required('Folder, file, - for standard output, s3://BUCKET/PREFIX, or https://HOST/PATH'),
        format: formats.withDefault('ndjson', 'Format of the turns'),
        since: timeBound.withDefault('60d', 'First time to export'),
        until: timeBound.optional('End of the time to export, exclusive (default: now)'),
        lag: duration.withDefault('15m', 'Turns younger than this are left to the next run'),
        lookBack: duration.withDefault(
          '7d',
          'How long a turn is read again, because its category may come late',
        ),
        limit: countUpTo(1000).withDefault('1000', 'Turns in one request'),
        budget: rate.withDefault(
          '100/h',
          'Requests of this key, all projects and runs of this user together',
        ),
        reserve: wholeNumber.withDefault('0', 'Requests of the budget to leave to other programs'),
        maxWait: duration.withDefault(
          '15m',
          'Longest wait for the budget; longer: exit code 5, and the time',
        ),
        requestTimeout: positiveDuration.withDefault('30s', 'Deadline of one request to the export API'),
        redact: listOf(
          'email,ip,token',
          ',',
          readRedactionKind,
          'Replace these with a keyed hash, in each text of a turn',
        ),
        redactKeyFile: path.optional(
          'File with the key of --redact (default: one that is made below $XDG_STATE_HOME or ~/.local/state)',
        ),
        dropResponse: toggle('Leave out the answers of the assistant'),
        state: path.optional(
          'Folder of what was exported, for the next run (default: below $XDG_STATE_HOME or ~/.local/state). With --format singer: file with the STATE of the last run',
        ),
        catalog: path.optional('With --format singer: catalog with the fields that are selected'),
        s3Credentials: path.optional(
          'Folder with the files accessKeyId and secretAccessKey of a bucket (default: AWS_* variables)',
        ),
        s3Endpoint: text.optional(
          'Address of the S3 service, if it is not AWS, for example https://s3.example.com',
        ),
        s3Region: text.withDefault('us-east-1', 'Region of the bucket'),
        s3PathStyle: toggle('Write the bucket into the path of S3 addresses instead of the host name'),
        webhookSecretFile: path.optional('File with the secret that signs each request to https://'),
        extraCaFile: path.optional('PEM file of CA certificates to trust in addition to the system’s'),
      },
      check: ({ keyFile, keyStdin, budget, reserve, redact, redactKeyFile, catalog, format }) => {
        if (catalog !== undefined && format !== 'singer') return '--catalog needs --format singer';
        if (keyFile !== undefined && keyStdin) return '--key-file and --key-stdin exclude each other';
        if (redactKeyFile !== undefined && redact.length === 0) return '--redact-key-file needs --redact';
        return reserve >= budget.requests
          ? '--reserve must be less than the requests of --budget'
          : undefined;
      },
      examples: [
        'conversations export --project docs --to turns --key-file key \\\n    --api-base-url https://export.example.com',
        'conversations export --project docs --to s3://talks/docs \\\n    --format parquet --s3-credentials creds --key-file key \\\n    --api-base-url https://export.example.com',
      ],
      run: async () => (await import('./export-command.ts')).exportConversations,
      documents,
    }),
    defineCommand({
      words: 'conversations prune',
      summary: 'removes old turns from a destination and its state',
      flags: {
        apiBaseUrl: httpUrl.required('Export API that the turns came from'),
        project: text.required('Project whose turns to remove'),
        to: path.required('Folder or SQLite file of the export'),
        format: formats.withDefault('ndjson', 'Format of the export'),
        olderThan: timeBound.required('Age or date before which turns are removed, by whole days in UTC'),
        state: path.optional('State folder of the export, if it has one of its own'),
        yes: toggle('Remove without a question'),
      },
      examples: [
        'conversations prune --project docs --to turns \\\n    --older-than 400d --api-base-url https://export.example.com',
      ],
      run: async () => (await import('./prune-command.ts')).pruneConversations,
      documents,
    }),
    defineCommand({
      words: 'conversations gaps',
      summary: 'reports what the docs leave unanswered, and since when',
      flags: {
        from: path.required('What "conversations export" wrote with --format ndjson or sqlite'),
        bundle: text.optional(
          'The site that is served: an archive, a link to one, or sx/NAME for a StaticExport of the cluster',
        ),
        previous: path.optional(
          'Report of the run before, of --format json: what is new, closed or reopened',
        ),
        insights: path.optional(
          'What "report -o json" printed: searches without a result, and addresses that readers did not find',
        ),
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
      run: async () => (await import('./gaps-command.ts')).findGaps,
      documents,
    }),
  ],
};
