// What a reason's sentence is about, in names and numbers: a message that names nothing sends people searching.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFailure, factsOf } from '../../../src/reconcile/facts.ts';
import type { Observation } from '../../../src/reconcile/observation.ts';
import { at, calm, inputHash } from './cases/observations.ts';

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
const held: Observation = {
  ...calm,
  wanted,
  status: {
    ...calm.status,
    candidate: {
      version: '20260105-115900-cccccccc',
      jobId: 'se_2',
      inputHash,
      pages: 7,
      reason: 'TooFewPages',
    },
  },
};

const rows: readonly (readonly [string, string, Observation, RegExp])[] = [
  [
    'a missing key names Secret and key, and when it is looked for again',
    'KeyMissing',
    held,
    /Secret export-api, key apiKey\..* within a minute/,
  ],
  ['a refused key names its Secret', 'KeyRefused', held, /Secret export-api, key apiKey/],
  [
    'a host that is not allowed is named, and nothing else of the URL',
    'HostNotAllowed',
    held,
    /^Host api\.example\.com\.$/,
  ],
  [
    'a bad schedule is quoted with its time zone',
    'InvalidSchedule',
    held,
    /"61 3 \* \* \*".*"Europe\/Berlinn"/,
  ],
  [
    'a foreign output is named with its kind and the two ways out',
    'OutputNotOwned',
    { ...held, output: { kind: 'foreign', objectKind: 'Secret' } },
    /^Secret docs-bundle: delete it, or .*output\.name/,
  ],
  [
    'an unknown pin is named beside what is known',
    'PinnedVersionUnknown',
    held,
    /Pinned: 20260101-000000-aaaaaaaa\. Known: /,
  ],
  [
    'too few pages are counted, with the way to publish all the same',
    'TooFewPages',
    held,
    /has 7 of at least 50 pages.*staticexport\.dev\/promote=20260105-115900-cccccccc/,
  ],
  ['a drop in pages is counted', 'PageCountDropped', held, /has 7 pages after \d+, more than 30 % fewer/],
  [
    'a promotion that names another version is told so',
    'AwaitingPromotion',
    { ...held, promote: 'nonsense' },
    /names nonsense, which is not the candidate/,
  ],
];
for (const [name, reason, observation, wantedText] of rows) {
  test(name, () => {
    const facts = factsOf(reason, observation) ?? '';
    assert.match(facts, wantedText);
    assert.doesNotMatch(facts, /s3cret/);
  });
}

test('a reason that says all by itself gets no facts', () => {
  for (const reason of ['Published', 'Unchanged', 'JobFailed', 'Pending'])
    assert.equal(factsOf(reason, held), undefined);
});

const failure = { count: 1, at: at(-1), retryAt: at(60), about: inputHash };
const failures: readonly (readonly [string, RegExp])[] = [
  ['NetworkError', /^The API at api\.example\.com:8443 could not be reached\. \(NetworkError\)$/],
  ['RequestTimeout', /did not answer in time/],
  ['BadRequest', /is the domain one that it exports\?/],
  ['UnexpectedAnswer', /is the base URL right\?/],
  ['DeadOnArrival', /^DeadOnArrival\.$/],
];
for (const [reason, words] of failures) {
  test(`a failed call in words: ${reason}`, () => {
    const text = describeFailure({ ...failure, reason }, { wanted });
    assert.match(text, words);
    assert.doesNotMatch(text, /s3cret|prefix/);
  });
}
