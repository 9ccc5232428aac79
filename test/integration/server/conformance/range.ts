// RFC 9110 §14 (range requests) and §13.1.5 (If-Range): one range of bytes, of the file as it is.

import { before, test } from 'node:test';
import { bytes, type ConformanceSite, hold, page, type Row } from './conformance-site.ts';
import { defaultSite } from './default-site.ts';

let site: ConformanceSite;
before(async () => {
  site = await defaultSite();
});

/** Of ten digits. */
const part = (range: string, first: number, last: number, rule: string): Row => ({
  rule,
  target: '/digits.bin',
  send: [`Range: ${range}`],
  status: 206,
  fields: { 'content-range': `bytes ${first}-${last}/10`, 'content-length': `${last - first + 1}` },
  body: bytes.slice(first, last + 1),
});
const whole = (range: string, rule: string): Row => ({
  rule,
  target: '/digits.bin',
  send: [`Range: ${range}`],
  status: 200,
  fields: { 'content-range': undefined, 'accept-ranges': 'bytes' },
  body: bytes,
});
const beyond = (range: string, rule: string, target = '/digits.bin', size = 10): Row => ({
  rule,
  target,
  send: [`Range: ${range}`],
  status: 416,
  fields: { 'content-range': `bytes */${size}`, etag: undefined },
});

test('§14.1.2, §14.2, §15.3.7: one range', async () => {
  await hold(site, [
    part('bytes=0-0', 0, 0, 'the first byte'),
    part('bytes=9-9', 9, 9, 'the last byte'),
    part('bytes=2-5', 2, 5, 'the middle'),
    part('bytes=5-', 5, 9, 'to the end'),
    part('bytes=0-', 0, 9, 'all of it is a part too'),
    part('bytes=5-99', 5, 9, 'a last byte behind the end is the end'),
    part('bytes=-3', 7, 9, 'a suffix'),
    part('bytes=-10', 0, 9, 'a suffix of all'),
    part('bytes=-99', 0, 9, 'a suffix of more than all'),
    part('BYTES=1-2', 1, 2, 'units are case-insensitive'),
    part('bytes=00000000000000000001-2', 1, 2, 'leading zeros'),
    part('bytes=0-18446744073709551615', 0, 9, 'numbers of any length'),
  ]);
});

test('§14.2: what is not one valid range of bytes is ignored', async () => {
  await hold(site, [
    whole('bytes=5-2', 'last before first'),
    whole('bytes=99999999999999999999-18446744073709551616', 'the same beyond 2^64'),
    whole('bytes=-', 'no number'),
    whole('bytes=', 'nothing'),
    whole('bytes', 'no set'),
    whole('bytes=a-b', 'no digits'),
    whole('bytes=0x0-1', 'hexadecimal'),
    whole('bytes=+1-2', 'a sign'),
    whole('bytes=1.0-2', 'a fraction'),
    whole('bytes=--5', 'two signs'),
    whole('bytes=0-1-2', 'three numbers'),
    whole('pages=1-2', 'another unit'),
    whole('bytes=0-1,3-4', 'several ranges: the whole is allowed, and cheaper than an attack'),
    whole('bytes=0-,0-,0-,0-', 'overlapping ranges'),
  ]);
});

test('§15.5.17: a range that starts behind the end', async () => {
  await hold(site, [
    beyond('bytes=10-', 'just behind'),
    beyond('bytes=10-20', 'both behind'),
    beyond('bytes=18446744073709551615-', 'far behind'),
    beyond('bytes=-0', 'a suffix of nothing'),
    beyond('bytes=0-', 'any range of an empty file', '/empty.txt', 0),
    beyond('bytes=-1', 'any suffix of an empty file', '/empty.txt', 0),
  ]);
});

test('§14.2: only GET has ranges; absences and redirects have none', async () => {
  await hold(site, [
    {
      rule: 'HEAD',
      method: 'HEAD',
      target: '/digits.bin',
      send: ['Range: bytes=0-1'],
      status: 200,
      fields: { 'content-length': '10', 'content-range': undefined },
    },
    {
      rule: 'an absence',
      target: '/no',
      send: ['Range: bytes=0-1'],
      status: 404,
      fields: { 'content-range': undefined },
    },
    { rule: 'a redirect', target: '/folder', send: ['Range: bytes=0-1'], status: 301 },
  ]);
});

test('§13.1.5 If-Range: strong comparison of one tag', async () => {
  const { identity, br } = site.tags;
  const variant = { 'content-range': undefined, 'content-encoding': 'br', etag: br };
  const first = { 'content-range': `bytes 0-1/${page.length}`, etag: identity };
  const all = { 'content-range': undefined, etag: identity };
  const range = 'Range: bytes=0-1';
  await hold(site, [
    { rule: 'this content', send: [range, `If-Range: ${identity}`], status: 206, fields: first, body: '<!' },
    { rule: 'other content', send: [range, 'If-Range: "a"'], status: 200, fields: all, body: page },
    { rule: 'a weak tag never holds', send: [range, `If-Range: W/${identity}`], status: 200, fields: all },
    {
      rule: 'a date never holds',
      send: [range, 'If-Range: Sat, 21 Nov 2099 10:00:00 GMT'],
      status: 200,
      fields: all,
    },
    { rule: 'a list is none', send: [range, `If-Range: ${identity}, "a"`], status: 200, fields: all },
    {
      rule: 'a precompressed variant has no parts',
      send: ['Accept-Encoding: br', range, `If-Range: ${br}`],
      status: 200,
      fields: variant,
    },
    {
      rule: 'where it fails, the answer is the one without a range',
      send: ['Accept-Encoding: br', range, 'If-Range: "a"'],
      status: 200,
      fields: variant,
    },
    {
      rule: 'where it fails, no range is out of range',
      send: ['Range: bytes=99999-', 'If-Range: "a"'],
      status: 200,
      fields: all,
    },
    { rule: 'without a range it means nothing', send: ['If-Range: "a"'], status: 200, fields: all },
  ]);
});

test('§14.2: what is ignored changes nothing of the answer, its encoding included', async () => {
  const { br } = site.tags;
  const fields = {
    'content-encoding': 'br',
    etag: br,
    'content-range': undefined,
    'accept-ranges': undefined,
  };
  const accept = 'Accept-Encoding: br';
  await hold(site, [
    { rule: 'HEAD has no ranges', method: 'HEAD', send: [accept, 'Range: bytes=0-1'], status: 200, fields },
    {
      rule: 'nor one out of range',
      method: 'HEAD',
      send: [accept, 'Range: bytes=99999-'],
      status: 200,
      fields,
    },
    { rule: 'another unit', send: [accept, 'Range: items=0-1'], status: 200, fields },
    { rule: 'several', send: [accept, 'Range: bytes=0-1,4-5'], status: 200, fields },
  ]);
});

test('§14.3, §12.5.3: a range of a page is of the page, whatever encodings are accepted', async () => {
  const { identity } = site.tags;
  await hold(site, [
    {
      rule: 'identity',
      send: ['Accept-Encoding: gzip, deflate, br, zstd', 'Range: bytes=0-1'],
      status: 206,
      fields: { 'content-encoding': undefined, etag: identity, vary: 'Accept-Encoding' },
      body: '<!',
    },
  ]);
});
