// The reason of a declined push as it is quoted: readable, bounded, and without addresses or credentials.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declined, quoteRemote, statusFault, unexpected } from '#operator/git/git-fault.ts';
import { longestExcerpt } from '#platform/wire/foreign-words.ts';
import * as fc from '../../../support/properties.ts';

test('links, long words and hidden characters of a host are left out', () => {
  const lines = [
    '',
    'remote: GitLab: You are not allowed to push code to protected branches on this project.\n',
    'remote: See https://user:hunter2@git.example.com/help?token=abc for details',
    `error: ${'a'.repeat(60)} \u202e`,
    'a fourth line',
  ];
  const quoted = quoteRemote(lines);
  assert.match(
    quoted,
    /^: "GitLab: You are not allowed to push code to protected branches on this project\. See \[link\] for details \[…\]/,
  );
  assert.ok(!quoted.includes('hunter2') && !quoted.includes('abc') && !quoted.includes('fourth'));
});

test('a reason that is left out leaves no quotes', () => {
  const { message } = declined('main', ['remote: ops@example.com']);
  assert.match(message, /^The git host declined the push to main\. Let the user push there/);
});

test('whatever a host sends, the quote is one bounded line without the link', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.webUrl({ withQueryParameters: true }), (lines, url) => {
      const quoted = quoteRemote([...lines, `see ${url}`]);
      assert.ok(quoted.length <= longestExcerpt + 4 && !/[\n\r]/.test(quoted));
      assert.ok(!quoted.includes(url));
    }),
  );
});

test('a refused request quotes the plain text of the host, and guesses nothing without it', () => {
  for (const [status, lines, code, message] of [
    [
      403,
      ['remote: Your plan is over its limit'],
      'Unauthorized',
      /returned 403: "Your plan is over its limit"\. Check/,
    ],
    [422, ['TF401027: no permission'], 'Refused', /returned 422: "TF401027: no permission"\. Correct/],
    [413, ['too large'], 'RepositoryTooLarge', /returned 413: "too large"\. Raise the size limit/],
    [408, ['slow'], 'Unreachable', /returned 408: "slow"\.$/],
    [409, ['busy'], 'Unreachable', /returned 409: "busy"\.$/],
    [
      403,
      ['Access denied for glpat-abcdefghijklmnopqrst from 10.1.2.3 (ops@example.com)'],
      'Unauthorized',
      /"Access denied for \[redacted\] from \[redacted\] \(\[redacted\]\)"/,
    ],
    [507, ['No space'], 'Unreachable', /returned 507: "No space"\.$/],
    [422, [''], 'NotAGitServer', /returned 422, which is not git's protocol/],
  ] as const) {
    const fault = statusFault('git.example.com', status, true, lines);
    assert.equal(fault.code, code);
    assert.equal(fault.isTemporary, code === 'Unreachable');
    assert.match(fault.message, message);
  }
});

test('an unexpected error gives its code, and never its text', () => {
  const failure = unexpected(Object.assign(new Error('secret'), { code: 'InternalError' }));
  assert.deepEqual([failure.code, failure.isTemporary], ['Unexpected', true]);
  assert.match(failure.message, /\(InternalError\)/);
  assert.ok(!failure.message.includes('secret'));
});
