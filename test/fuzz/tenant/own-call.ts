// What a hostile vendor may answer to one call of the export API: unusual ids, states, numbers, links and expiry times.
// No address leads out of the loopback network. Pure: the same dice give the same bytes.

import { type AnswerMaker, body, honest, json, oddValues, type Stage, value } from './answer.ts';
import { between, fill, isLucky, makeOddText, oddCharacters, pick } from './choice.ts';

const expiries: readonly unknown[] = [
  '9999-12-31T23:59:59Z',
  '1970-01-01T00:00:00Z',
  '+275760-09-13T00:00:00.000Z',
  'NaN',
  Number.NaN,
  0,
  -1,
  1e308,
  8.64e15,
  null,
  '',
  'tomorrow',
  '2030-02-30T25:61:61Z',
  '2030-01-01',
  ['2030-01-01T00:00:00Z'],
  { seconds: 1 },
  '٢٠٣٠-٠١-٠١T00:00:00Z',
  `2030-01-01T00:00:00.${'0'.repeat(100_000)}Z`,
];

/** Loopback addresses and unregistered names; no address outside this machine. */
const links = (filesUrl: string, trapUrl: string): readonly unknown[] => [
  trapUrl,
  `${trapUrl}?${fill('q', 100_000)}`,
  'file:///etc/passwd',
  'data:text/html,x',
  'javascript:1',
  'ftp://127.0.0.1/x',
  'http://127.0.0.1:1/',
  'https://127.0.0.1:1/',
  'http://[::1]:1/',
  'http://0x7f.1:1/',
  'http://user:pass@127.0.0.1:1/',
  'http://a.invalid/x',
  'http://\u202egro.invalid/',
  'http://ａ.invalid/',
  `${filesUrl}/\u0000`,
  `${filesUrl}/ä?\u202e=1`,
  'http://',
  '//127.0.0.1/x',
  'x'.repeat(100_000),
  [filesUrl],
  { href: filesUrl },
  7,
  null,
];

/** Of one call alone. */
export const ownCalls: Readonly<Record<Stage, Readonly<Record<string, AnswerMaker>>>> = {
  start: {
    'the key as a job id': (dice, { key }) => value({ jobId: pick(dice, [key, `job-${key}`]) }, 202),
    'an odd job id': (dice, context) =>
      value(
        {
          ...honest('start', context),
          jobId: isLucky(dice, 50) ? makeOddText(dice, 512) : pick(dice, oddValues),
        },
        202,
      ),
    'a job id in a header': (dice) =>
      value({}, 202, [
        ...json,
        ['location', `/jobs/${pick(dice, ['..', '%2e%2e', 'a?b', fill('j', 5_000)])}`],
      ]),
  },
  poll: {
    'an odd state': (dice, context) =>
      value({
        ...honest('poll', context),
        status: isLucky(dice, 70) ? makeOddText(dice, 2_000) : pick(dice, oddValues),
      }),
    'odd numbers': (dice, context) =>
      body(
        JSON.stringify({
          ...honest('poll', context),
          status: 'running',
          progress: 'P',
          pageCount: 'P',
        }).replaceAll('"P"', () =>
          pick(dice, ['1e999', '-1', '1e400', '9'.repeat(1_000), '"100%"', '-0', '1.5', 'null', '[1]']),
        ),
      ),
    'another job': (dice, context) => value({ ...honest('poll', context), jobId: pick(dice, oddValues) }),
    'failed, at length': (dice, context) =>
      value({
        ...honest('poll', context),
        status: 'failed',
        error: makeOddText(dice, 500_000),
        message: pick(dice, oddValues),
      }),
    'states in turn': (dice, context) =>
      value({
        ...honest('poll', context),
        status: pick(dice, ['queued', 'running', 'failed', 'RUNNING', 'completed ']),
      }),
  },
  bundle: {
    'an odd link': (dice, context) =>
      value({
        ...honest('bundle', context),
        bundleUrl: pick(dice, links(context.filesUrl, context.trapUrl)),
      }),
    'an odd expiry': (dice, context) =>
      value({ ...honest('bundle', context), expiresAt: pick(dice, expiries) }),
    'a short lifetime': (dice, context) =>
      value({
        ...honest('bundle', context),
        expiresAt: new Date(context.now + between(dice, -5_000, 3_000)).toISOString(),
      }),
    'an odd archive': (dice, context) => {
      const name = encodeURIComponent(`odd-${dice(1_000)}`);
      return value({
        ...honest('bundle', context),
        bundleUrl: `${context.filesUrl}/${name}?X-Amz-Date=${pick(dice, oddCharacters.map(encodeURIComponent))}`,
      });
    },
  },
};
