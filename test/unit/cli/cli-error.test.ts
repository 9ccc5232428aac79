// Which exit code each failure has. The codes are API: pipelines branch on them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CliError, failureOf } from '#cli/cli-error.ts';
import { exitCodes } from '#cli/exit-code.ts';
import { formatFailure } from '#cli/output/format.ts';
import { ExportApiError } from '#export-api/answers.ts';
import { kitDamaged } from '#mirror/kit/kit-error.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

const api = (code: ConstructorParameters<typeof ExportApiError>[0]) => new ExportApiError(code, 'said');
const rows: readonly (readonly [string, unknown, number, boolean])[] = [
  ['a key that the export API does not know', api('Unauthorized'), 3, false],
  ['a key without permission', api('Forbidden'), 3, false],
  ['a request that the export API refuses', api('BadRequest'), 4, false],
  ['a job that does not exist', api('NotFound'), 4, false],
  ['a rate limit', api('RateLimited'), 5, true],
  ['a failure of the export API', api('ServerError'), 5, true],
  ['an export API that does not answer in time', api('RequestTimeout'), 5, true],
  ['an export API that cannot be reached', api('NetworkError'), 5, true],
  ['an archive that is rejected', new PublishableError('NoEndMark', 'said', { kind: 'refused' }), 6, false],
  [
    'a download that broke off',
    new PublishableError('DownloadInterrupted', 'said', { kind: 'retry' }),
    5,
    true,
  ],
  ['a link that has expired', new PublishableError('LinkExpired', 'said', { kind: 'wait' }), 5, true],
  ['a kit that is refused', kitDamaged('said'), 6, false],
  [
    'a registry that cannot be reached',
    new PublishableError('Unreachable', 'said', { kind: 'retry' }),
    5,
    true,
  ],
  ['a registry that refuses to write', new PublishableError('Denied', 'said'), 9, false],
  ['a malformed reference of a mirror', new PublishableError('InvalidReference', 'said'), 2, false],
  [
    'a bucket that cannot be reached',
    new PublishableError('Unreachable', 'said', { kind: 'retry' }),
    5,
    true,
  ],
  ['a bucket that refuses to write', new PublishableError('Denied', 'said'), 9, false],
  ['a malformed address of a bucket', new PublishableError('InvalidAddress', 'said'), 2, false],
  ['an export that a gate holds', new CliError('held', 'TooFewPages', 'said'), 7, false],
  [
    'a destination that cannot be written',
    new CliError('notWritten', 'DestinationNotWritten', 'said'),
    9,
    false,
  ],
  ['a deadline', new CliError('deadline', 'DeadlineExceeded', 'said'), 124, true],
  ['SIGINT', new CliError('interrupted', 'Stopped', 'said'), 130, true],
  ['anything unexpected', new TypeError('svc_secret'), 70, false],
];
for (const [name, error, code, retryable] of rows) {
  test(`${name} exits with ${code}`, () => {
    const failure = failureOf(error);
    assert.equal(exitCodes[failure.outcome], code);
    assert.equal(failure.retryable, retryable);
    assert.doesNotMatch(failure.message, /secret/);
  });
}

test('an error says which version was reached, and what holds it', async () => {
  const reached = { version: '20260105-120000-dddddddd', written: ['--to'] };
  const failure = failureOf(new CliError('notWritten', 'ValuesRefused', 'said', reached));
  const { stdout } = await formatFailure('static-export export', failure, 'json');
  const { version, written } = JSON.parse(stdout);
  assert.deepEqual({ version, written }, reached);
  const { stderr } = await formatFailure('static-export export', failure, 'text');
  assert.match(stderr, /Version: 20260105-120000-dddddddd\n {2}Written: --to\n/);
  const plain = await formatFailure('x', failureOf(new CliError('usage', 'InvalidDomain', 'said')), 'json');
  assert.deepEqual(Object.keys(JSON.parse(plain.stdout)).slice(2), ['code', 'message', 'retryable', 'next']);
});

test('a refused key has the code that a condition has', () => {
  const codes = [api('Unauthorized'), api('Forbidden'), new PublishableError('Unauthorized', 'of git')];
  assert.deepEqual(
    codes.map((error) => failureOf(error).code),
    ['KeyRefused', 'KeyForbidden', 'Unauthorized'],
  );
});
