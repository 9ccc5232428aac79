// The details of a reason: the names and numbers that a user needs to act without a search.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adopt } from '#operator/reconcile/adopt.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import { describeDetails } from '#operator/reconcile/status/reason-details.ts';
import { at, calm, inputHash, published, publishedLink } from '../cases/observations.ts';

const wanted = {
  ...calm.wanted,
  baseUrl: 'https://user:s3cret@api.example.com:8443/prefix?sig=s3cret',
  keySecret: { name: 'export-api', key: 'apiKey' },
  schedule: '61 3 * * *',
  timeZone: 'Europe/Berlinn',
  outputName: 'docs-bundle',
  pin: { version: '20260101-000000-aaaaaaaa', jobId: undefined },
  promotion: { ...calm.wanted.promotion, minPages: 50, maxShrinkPercent: 30 },
};
const candidate = {
  version: '20260105-115900-cccccccc',
  jobId: 'se_2',
  inputHash,
  pages: 7,
  reason: 'TooFewPages',
} as const;
const held: Observation = {
  ...calm,
  wanted,
  allowedHosts: ['docs-api.example.com', 'other.example.com'],
  key: { kind: 'missing', isSecretThere: true },
  status: {
    ...calm.status,
    candidate,
  },
};

const startFailure = {
  ...{ count: 1, reason: 'ServerError' },
  ...{ lastFailureTime: '2026-01-05T12:19:00Z', retryTime: '2026-01-05T12:30:00Z' },
};

const rows: readonly (readonly [string, string, Observation, RegExp])[] = [
  [
    'a missing key names Secret and key, and when it is checked again',
    'KeyMissing',
    held,
    /^Secret export-api, key apiKey: the Secret exists, but not this key\. .* every minute\.$/,
  ],
  ['a refused key names its Secret', 'KeyRefused', held, /Secret export-api, key apiKey/],
  [
    'a host that is not allowed is named as the entry to add, and nothing else of the URL',
    'HostNotAllowed',
    { ...held, wanted: { ...wanted, baseUrl: 'https://api.example.com:8443/prefix?sig=s3cret' } },
    /^Add api\.example\.com:8443 to --allowed-api-hosts\. Allowed: docs-api\.example\.com, other\.example\.com\. The chart sets it with allowedApiHosts\.$/,
  ],
  [
    'a host in clear text is named with the risk and the alternative',
    'HostNotAllowed',
    { ...held, wanted: { ...wanted, baseUrl: 'http://API.example.com' } },
    /^Use https in spec\.api\.baseUrl, or add http:\/\/api\.example\.com to --allowed-api-hosts\. The key is then sent in clear text\. Allowed: /,
  ],
  [
    'a bad schedule is quoted with its time zone',
    'InvalidSchedule',
    held,
    /"61 3 \* \* \*".*"Europe\/Berlinn"/,
  ],
  ...(
    [
      ['99 99 * * *', 'UTC', 'minute 99 is not 0-59'],
      ['0 24 * * *', 'UTC', 'hour 24 is not 0-23'],
      ['0 0 1 13 *', 'UTC', 'month 13 is not 1-12'],
      ['0 3 * *', 'UTC', 'it has 4 of five fields (minute, hour, day, month, weekday)'],
      ['0 3 * * *', 'Europe/Berlinn', 'there is no time zone "Europe/Berlinn"'],
      ['0 0 30 2 *', 'UTC', undefined],
    ] as const
  ).map(([schedule, timeZone, problem]): readonly [string, string, Observation, RegExp] => [
    `a schedule that cannot be: ${schedule} ${timeZone}`,
    'InvalidSchedule',
    { ...held, wanted: { ...wanted, schedule, timeZone } },
    new RegExp(`^spec\\.schedule .*"${problem === undefined ? '' : `: ${RegExp.escape(problem)}`}\\.$`),
  ]),
  [
    'a foreign output is named with its kind and the two ways out',
    'OutputNotOwned',
    { ...held, output: { kind: 'foreign', objectKind: 'Secret' } },
    /^Secret docs-bundle: delete it, or .*spec\.output\.name/,
  ],
  [
    'an unknown pinned version is named with the known versions',
    'PinnedVersionUnknown',
    held,
    /Pinned: 20260101-000000-aaaaaaaa\. In status\.history: /,
  ],
  [
    'too few pages are counted, with the way to publish anyway',
    'TooFewPages',
    held,
    /has 7 pages \(minPages: 50\).*staticexport\.dev\/promote=20260105-115900-cccccccc/,
  ],
  [
    'one page is singular',
    'TooFewPages',
    { ...held, status: { ...held.status, candidate: { ...candidate, pages: 1 } } },
    /has 1 page \(minPages: 50\)/,
  ],
  [
    'a missing home page is named, with the way to publish anyway',
    'HomePageMissing',
    held,
    /has 7 pages, and none is its home page\. .*staticexport\.dev\/promote=20260105-115900-cccccccc/,
  ],
  [
    'a drop in pages is counted',
    'PageCountDropped',
    held,
    /has 7 pages, down from \d+ \(maxShrinkPercent: 30\)/,
  ],
  [
    'a promotion of another version is reported',
    'AwaitingPromotion',
    { ...held, promote: 'nonsense' },
    /names nonsense, which is not the candidate/,
  ],
];
const rejectedRows: typeof rows = [
  [
    'a rejected candidate is named',
    'Rejected',
    adopt({ ...held, reject: '20260105-115900-cccccccc' }),
    /^Rejected: 20260105-115900-cccccccc\.$/,
  ],
];
const job = { id: 'se_2', baseUrl: wanted.baseUrl, inputHash, startTime: at(-60), state: 'Reticulating' };
const after = (status: Observation['status']): Observation => ({
  ...held,
  status: { ...held.status, ...status },
});
const jobRows: typeof rows = [
  [
    'a failed job is named with the host of its export API',
    'JobFailed',
    after({ job }),
    /^Job se_2 at api\.example\.com:8443\.$/,
  ],
  ['a running job is named with the host of its export API', 'Exporting', after({ job }), /^Job se_2 at /],
  ['a job that timed out is quoted', 'TimedOut', after({ job }), /Job se_2 .*last status was "Reticulating"/],
  ['a lost job is replaced once', 'JobLost', after({ job }), /One new job replaces it/],
  [
    'a replacement job is not replaced',
    'JobLost',
    after({ job: { ...job, cause: 'JobLost' } }),
    /This job replaced a lost job and is not replaced at once\. Ask the owner of the export API\. Then .* staticexport\.dev\/requestedAt to a new token\.$/,
  ],
  [
    'a rejected archive shows the cause before its job',
    'BundleRejected',
    after({ job: { ...job, message: 'SymbolicLink: a symbolic link is in the archive' } }),
    /^SymbolicLink: a symbolic link is in the archive\. Job se_2/,
  ],
  [
    'a job id of any length is cut',
    'JobFailed',
    after({ job: { ...job, id: 'x'.repeat(500) } }),
    /^Job x{127}… at/,
  ],
  ['a pinned job that failed is named', 'PinnedJobFailed', after({ job }), /^Job se_2/],
  [
    'a pinned version that changed is named',
    'PinnedContentChanged',
    held,
    /^Pinned: 20260101-000000-aaaaaaaa\.$/,
  ],
  [
    'a lost pinned job is named',
    'PinnedJobGone',
    { ...held, wanted: { ...wanted, pin: { version: undefined, jobId: 'se_7' } } },
    /^Pinned: job se_7\.$/,
  ],
  [
    'an expired link shows when it expired',
    'LinkExpired',
    {
      ...held,
      output: {
        kind: 'ours',
        published: { ...published, link: { ...publishedLink, expiresAt: Date.parse(at(-60)) } },
      },
    },
    /^The link of version 20260105-113000-aaaaaaaa expired at 2026-01-05T11:59:00Z\.$/,
  ],
  [
    'a link due for refresh shows until when it is valid',
    'Due',
    held,
    /^Refresh was due at 2026-01-05T12:08:34Z\. Link is valid until 2026-01-05T12:14:00Z\.$/,
  ],
  [
    'a link that cannot be refreshed shows its job, what replaces it, and until when it is valid',
    'JobGone',
    held,
    /^Job se_1 at api\.example\.com:8443\. No export replaces it while spec\.pin is set\. Link is valid until 2026-01-05T12:14:00Z\.$/,
  ],
  [
    'a link that cannot be refreshed any more shows when it expired, and when the next export starts',
    'JobGone',
    {
      ...calm,
      wanted: { ...wanted, pin: undefined },
      now: Date.parse('2026-01-05T12:20:00Z'),
      status: { ...calm.status, failures: { export: startFailure } },
    },
    / The next export starts at 2026-01-05T12:30:00Z\. Link expired at 2026-01-05T12:14:00Z\.$/,
  ],
  [
    'a job that is gone is not replaced while exports are suspended',
    'JobGone',
    { ...calm, wanted: { ...wanted, isSuspended: true } },
    / No export replaces it while spec\.suspend is true\. /,
  ],
  [
    'a link whose Secret was deleted is reported as such',
    'LinkExpired',
    { ...held, output: { kind: 'absent' } },
    /^Secret docs-bundle was deleted\. It is written again for version 20260105-113000-aaaaaaaa/,
  ],
  [
    'a link whose Secret lost bundle.json is reported as such',
    'Expired',
    { ...held, output: { kind: 'ours', published: undefined } },
    /^Secret docs-bundle no longer holds bundle\.json/,
  ],
  [
    'a refused key shows the request id of the export API',
    'KeyRefused',
    after({
      refusedKey: { secretVersion: 'u/1', reason: 'Unauthorized', refusalTime: at(-1), requestId: 'req-7' },
    }),
    /key apiKey\. Export API: api\.example\.com:8443\. A new key is used within a minute\. A new requestedAt token causes one attempt\. Request id: req-7\.$/,
  ],
];
for (const [name, reason, observation, wantedText] of [...rows, ...rejectedRows, ...jobRows]) {
  test(name, () => {
    const facts = describeDetails(reason, observation) ?? '';
    assert.match(facts, wantedText);
    assert.doesNotMatch(facts, /s3cret/);
  });
}

test('a self-explanatory reason gets no details', () => {
  for (const reason of ['Published', 'Unchanged', 'Pending'])
    assert.equal(describeDetails(reason, held), undefined);
});
