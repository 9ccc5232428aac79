// The message of a failure: the export API, its answer, the code to search for, and the request id for its support.
// Of a base URL only the host is shown.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classify } from '#operator/reconcile/classify.ts';
import { describeFailure, describeLinkFailure } from '#operator/reconcile/status/failure-words.ts';
import { at, calm, inputHash } from '../cases/observations.ts';

const baseUrl = 'https://user:s3cret@api.example.com:8443/prefix?sig=s3cret';
const wanted = { ...calm.wanted, baseUrl };
const failure = { count: 1, lastFailureTime: at(-1), retryTime: at(60), subject: inputHash };

const failures: readonly (readonly [string, RegExp])[] = [
  ['NetworkError', /^The export API at api\.example\.com:8443 could not be reached \(NetworkError\)\.$/],
  ['ServerError', /returned a server error \(ServerError\)\.$/],
  ['RequestTimeout', /did not answer in time/],
  ['BadRequest', /returned 400 or 422; check that it exports docs\.example\.com \(BadRequest\)\.$/],
  ['Forbidden', /returned 403 for this key; check the key's permissions, .*spec\.domain/],
  ['UnexpectedAnswer', /check the base URL \(spec\.api\.baseUrl or --api-base-url\) \(UnexpectedAnswer\)\.$/],
  [
    'NotFound',
    /check the base URL \(spec\.api\.baseUrl or --api-base-url\), and that it exports docs\.example\.com\. This API may be project-scoped: then set spec\.api\.projectId/,
  ],
  [
    'ExpiredOnArrival',
    /^Every link that the export API at .* issued had expired on first use \(ExpiredOnArrival\)\.$/,
  ],
  ['LifetimeTooShort', /expire before an archive can be read/],
  ['OddAndNew', /^OddAndNew\.$/],
];
for (const [reason, words] of failures) {
  test(`the message of a failed call: ${reason}`, () => {
    const text = describeFailure({ ...failure, reason }, { wanted });
    assert.match(text, words);
    assert.doesNotMatch(text, /s3cret|prefix/);
  });
}

const ofProject = { ...wanted, domain: undefined, project: { id: '5f0c9a7e', basePath: undefined } };
for (const [reason, words] of [
  ['AnotherExportRuns', /^The export API at .* returned 409, because another job of project 5f0c9a7e runs/],
  [
    'NotFound',
    /returned 404 for project 5f0c9a7e; check the project id \(spec\.api\.projectId or --project-id\), the base URL/,
  ],
  ['Forbidden', /static export is on for project 5f0c9a7e, the key's permission to write, .*IP allow-list/],
  ['BadRequest', /for project 5f0c9a7e; check the base path \(spec\.api\.basePath or --base-path\)/],
  ['RateLimited', /returned 429; wait\. The vendor allows ten starts in an hour/],
  ['ServerError', /returned a server error/],
] as const) {
  test(`the message of a failed call by project: ${reason}`, () => {
    const text = describeFailure({ ...failure, reason }, { wanted: ofProject });
    assert.match(text, words);
    assert.doesNotMatch(text, /s3cret|undefined|spec\.domain/);
  });
}

test('a job at an export API that is no longer allowed names the entry to add', () => {
  const text = describeFailure(
    { ...failure, reason: 'HostNotAllowed', message: 'http://a.example:8080' },
    { wanted },
  );
  assert.match(text, /^--allowed-api-hosts no longer allows .* Add http:\/\/a\.example:8080 there, or /);
});

test('a failure with a message of its own shows that message as a sentence', () => {
  const why = 'the operator\'s role does not allow "patch" on secrets "x"; add the verb';
  assert.equal(
    describeFailure({ ...failure, reason: 'OutputWriteFailed', message: why }, { wanted }),
    'The operator\'s role does not allow "patch" on secrets "x"; add the verb (OutputWriteFailed).',
  );
});

for (const [why, words] of [
  [
    'ECONNREFUSED',
    /:8443 refused the connection \(ECONNREFUSED\)\. Check the port, .* service runs \(NetworkError\)\.$/,
  ],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    /not trusted \(UNABLE_TO_.*\)\. If its CA is private, add .* extraCa of the chart \(NetworkError\)\.$/,
  ],
] as const) {
  test(`an export API that cannot be reached is reported with the cause: ${why}`, () => {
    assert.match(describeFailure({ ...failure, reason: 'NetworkError', message: why }, { wanted }), words);
  });
}

test('a server error is reported with its status', () => {
  const failed = { ...failure, reason: 'ServerError', message: 'HTTP 502' };
  assert.match(describeFailure(failed, { wanted }), /returned a server error: HTTP 502 \(ServerError\)\.$/);
});

test('the request id of the export API comes last', () => {
  assert.match(
    describeFailure({ ...failure, reason: 'ServerError', requestId: 'req-7' }, { wanted }),
    /\(ServerError\)\. Request id: req-7\.$/,
  );
});

test('without a base URL the message names no host', () => {
  const nowhere = { wanted: { ...wanted, baseUrl: undefined } };
  assert.match(describeFailure({ ...failure, reason: 'ServerError' }, nowhere), /^The export API returned/);
});

test("a link's failure names the project that made its job, whatever the spec names now", () => {
  const { active } = calm.status;
  const made = { baseUrl: 'https://older.example.com', projectId: 'p-older' };
  const status = { ...calm.status, active: active && { ...active, ...made } };
  const seen = { ...calm, wanted, status };
  const text = describeLinkFailure({ ...failure, reason: 'Forbidden' }, seen, classify(seen));
  assert.match(
    text,
    /older\.example\.com returned 403; check whether static export is on for project p-older/,
  );
});
