// What a hostile vendor may answer to any call of the export API. Pure: the same dice give the same bytes.

import {
  type AnswerMaker,
  answer,
  body,
  type Headers,
  head,
  json,
  makeValue,
  once,
  value,
} from './answer.ts';
import { between, fill, pick } from './choice.ts';

const mib = 1024 * 1024;
/** Longer than an operator waits for an answer. */
const slowPieces = 45;
const retryAfters: readonly string[] = [
  '-1',
  '0',
  '1e400',
  '99999999999999999999',
  '0x10',
  'NaN',
  'Fri, 31 Dec 9999 23:59:59 GMT',
  'Thu, 01 Jan 1970 00:00:00 GMT',
  '',
  '1, 2',
  '٣',
  '3600',
  '31536000000',
];

/** Of any call. */
export const anyCall: Readonly<Record<string, AnswerMaker>> = {
  'any JSON': (dice) =>
    value(makeValue(dice), pick(dice, [200, 200, 201, 202, 400, 404, 409, 422, 500, 503])),
  'brackets, 100,000 deep': (dice) =>
    body(fill(pick(dice, ['[', '{"a":', '[{"a":']), between(dice, 1, 9) * 100_000)),
  'closed brackets, 100,000 deep': () => body(`${fill('[', 100_000)}${fill(']', 100_000)}`),
  'a million numbers': () => body(`[${fill('1,', 1_000_000)}1]`),
  'a body of 50 MiB': () => answer([once(head(200)), { bytes: fill(' ', mib), times: 50 }]),
  'a refusal of 50 MiB': (dice) =>
    answer([once(head(pick(dice, [400, 401, 403, 404, 429, 500]))), { bytes: fill('x', mib), times: 50 }]),
  'a slow body': () => answer([once(head(200)), { bytes: ' ', times: slowPieces, everyMs: 1_000 }]),
  'slow headers': () =>
    answer([once('HTTP/1.1 200 OK\r\n'), { bytes: 'x-a: b\r\n', times: slowPieces, everyMs: 1_000 }]),
  silence: () => answer([], 'hang'),
  'a head and silence': () => answer([once(head(200))], 'hang'),
  'a reset': () => answer([], 'reset'),
  'a reset within the body': () => answer([once(`${head(200)}{"jobId":`)], 'reset'),
  'a flood of chunks': () =>
    answer([
      once(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`),
      { bytes: fill('1\r\n \r\n', 64 * 1024), times: 200 },
      once('0\r\n\r\n'),
    ]),
  'chunks with long extensions': () =>
    answer([
      once(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`),
      { bytes: `1;${fill('e', 64 * 1024)}\r\n \r\n`, times: 50 },
    ]),
  'headers without end': () =>
    answer([once('HTTP/1.1 200 OK\r\n'), { bytes: `x-a: ${fill('b', 8_000)}\r\n`, times: 2_000 }]),
  'a header of 100 MiB': () =>
    answer([once('HTTP/1.1 429 Later\r\nretry-after: '), { bytes: fill('9', mib), times: 100 }]),
  'interim answers without end': () =>
    answer([{ bytes: fill('HTTP/1.1 103 Hints\r\nlink: </a>\r\n\r\n', 32_000), times: 200 }]),
  'headers twice': (dice) => {
    const twice: Headers = [
      ...json,
      ...json,
      ['retry-after', '1'],
      ['retry-after', '2'],
      ['date', 'never'],
      ['date', 'today'],
    ];
    return value({ error: 'twice' }, pick(dice, [200, 429, 503]), twice);
  },
  'odd headers': (dice, { key }) =>
    value({ error: key }, pick(dice, [400, 403, 500]), [
      ...json,
      ['x-request-id', pick(dice, [key, `Bearer ${key}`, fill('r', 10_000), 'a b c', 'r\u00851'])],
      ['location', pick(dice, [key, 'file:///etc/passwd', '//', fill('/l', 6_000)])],
    ]),
  'wait, in odd words': (dice) =>
    value({ error: 'wait' }, pick(dice, [429, 503]), [...json, ['retry-after', pick(dice, retryAfters)]]),
  'dates of other ages': (dice, { jobId }) =>
    value({ jobId }, 200, [
      ...json,
      [
        'date',
        pick(dice, [
          'Fri, 31 Dec 9999 23:59:59 GMT',
          'Thu, 01 Jan 1970 00:00:00 GMT',
          'Sat, 30 Feb 2030 25:61:61 GMT',
          '',
        ]),
      ],
    ]),
  'a redirect': (dice, { trapUrl, filesUrl }) =>
    value({}, pick(dice, [301, 302, 303, 307, 308]), [
      ['location', pick(dice, [trapUrl, filesUrl, 'file:///etc/passwd', '/', ''])],
    ]),
  'no HTTP': (dice) =>
    answer([
      once(
        pick(dice, [
          '\0\0\0\0',
          'HTTP/9.9 999 \r\n\r\n',
          'SSH-2.0-x\r\n',
          '<html>',
          '\u0016\u0003\u0001\u0002',
        ]),
      ),
    ]),
  'a length that lies': (dice) =>
    body('{}', 200, [...json, ['content-length', pick(dice, ['1', '99999999999', '-1', 'x', '0', '2, 3'])]]),
  'length and chunks': () =>
    body('0\r\n\r\n', 200, [...json, ['content-length', '3'], ['transfer-encoding', 'chunked']]),
  'packed, but not': () => body('{}', 200, [...json, ['content-encoding', 'gzip']]),
  'no JSON': (dice) =>
    body(
      pick(dice, [
        '',
        'null',
        '<html>Sign in</html>',
        '{"jobId":',
        'NaN',
        '\ufeff{}',
        '"',
        Buffer.alloc(3, 0xff),
      ]),
    ),
  'the key, repeated': (dice, { key }) =>
    value(
      {
        jobId: key,
        status: key,
        error: `Bearer ${key}`,
        bundleUrl: `http://127.0.0.1/${key}`,
        expiresAt: key,
      },
      pick(dice, [200, 400, 401, 403, 500]),
    ),
  'an odd status': (dice) =>
    answer([
      once(head(pick(dice, ['000', '099', '299', '306', '418', '599', '600', '999', '2000']))),
      once('{}'),
    ]),
};
