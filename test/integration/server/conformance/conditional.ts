// RFC 9110 §13 (conditional requests), §8.8 (validators), §15.4.5 (304), and RFC 9111 §4.3 (validation).

import { before, test } from 'node:test';
import { type ConformanceSite, hold, page } from './conformance-site.ts';
import { defaultSite } from './default-site.ts';

let site: ConformanceSite;
before(async () => {
  site = await defaultSite();
});

const cached = { 'cache-control': 'public, max-age=0, must-revalidate', vary: 'Accept-Encoding' };

test('§13.1.2 If-None-Match', async () => {
  const { identity, br, gzip } = site.tags;
  const known = (tag: string) => ({ etag: tag, ...cached, 'content-type': undefined });
  await hold(site, [
    {
      rule: 'a matching tag is 304',
      send: [`If-None-Match: ${identity}`],
      status: 304,
      fields: known(identity),
    },
    { rule: 'weak comparison', send: [`If-None-Match: W/${identity}`], status: 304, fields: known(identity) },
    {
      rule: 'a list',
      send: [`If-None-Match: "a", "b,c" , ${identity}`],
      status: 304,
      fields: known(identity),
    },
    {
      rule: 'several lines are one list',
      send: ['If-None-Match: "a"', `If-None-Match: ${identity}`],
      status: 304,
    },
    { rule: 'empty elements', send: [`If-None-Match: ,, ${identity},`], status: 304 },
    { rule: 'the star', send: ['If-None-Match: *'], status: 304, fields: known(identity) },
    { rule: 'a star among tags is none', send: ['If-None-Match: "a", *'], status: 200, body: page },
    { rule: 'another tag', send: ['If-None-Match: "a"'], status: 200, body: page },
    { rule: 'no quotes, no tag', send: [`If-None-Match: ${identity.slice(1, -1)}`], status: 200, body: page },
    {
      rule: 'HEAD too',
      method: 'HEAD',
      send: [`If-None-Match: ${identity}`],
      status: 304,
      fields: known(identity),
    },
    { rule: 'an absence is not conditional', target: '/no', send: ['If-None-Match: *'], status: 404 },
    { rule: 'nor is a redirect', target: '/folder', send: ['If-None-Match: *'], status: 301 },
    {
      rule: 'the tag of a precompressed variant',
      send: ['Accept-Encoding: br', `If-None-Match: ${br}`],
      status: 304,
      fields: known(br),
    },
    {
      rule: 'any form that is acceptable',
      send: ['Accept-Encoding: br, gzip', `If-None-Match: ${gzip}`],
      status: 304,
      fields: known(gzip),
    },
    {
      rule: 'the file itself is acceptable too',
      send: ['Accept-Encoding: br', `If-None-Match: ${identity}`],
      status: 304,
      fields: known(identity),
    },
    {
      rule: 'a form that is not acceptable is not what the client may use',
      send: [`If-None-Match: ${br}`],
      status: 200,
      fields: { etag: identity },
      body: page,
    },
    {
      rule: 'the tag of another file',
      target: '/folder/',
      send: [`If-None-Match: ${identity}`],
      status: 200,
    },
  ]);
});

test('§13.1.1 If-Match', async () => {
  const { identity, br } = site.tags;
  await hold(site, [
    { rule: 'a matching tag', send: [`If-Match: ${identity}`], status: 200, body: page },
    { rule: 'the star', send: ['If-Match: *'], status: 200 },
    {
      rule: 'strong comparison',
      send: [`If-Match: W/${identity}`],
      status: 412,
      fields: { etag: undefined },
    },
    { rule: 'another tag', send: ['If-Match: "a"'], status: 412 },
    { rule: 'no list', send: ['If-Match: a'], status: 412 },
    {
      rule: 'a precompressed variant',
      send: ['Accept-Encoding: br', `If-Match: ${br}`],
      status: 200,
      fields: { etag: br },
    },
    { rule: 'HEAD', method: 'HEAD', send: ['If-Match: "a"'], status: 412 },
  ]);
});

test('§13.2.2 order: If-Match, then If-None-Match, then the range', async () => {
  const { identity } = site.tags;
  await hold(site, [
    { rule: 'If-Match fails first', send: ['If-Match: "a"', `If-None-Match: ${identity}`], status: 412 },
    {
      rule: 'then If-None-Match',
      send: [`If-Match: ${identity}`, `If-None-Match: ${identity}`],
      status: 304,
    },
    {
      rule: 'a known tag wins over a range',
      send: [`If-None-Match: ${identity}`, 'Range: bytes=0-1'],
      status: 304,
    },
    {
      rule: 'and over one that cannot be satisfied',
      send: [`If-None-Match: ${identity}`, 'Range: bytes=99999-'],
      status: 304,
    },
    { rule: 'If-Match guards a range', send: ['If-Match: "a"', 'Range: bytes=0-1'], status: 412 },
  ]);
});

test('§13.1.3, §13.1.4 dates mean nothing where nothing has a date', async () => {
  const future = 'Sat, 21 Nov 2099 10:00:00 GMT';
  const fields = { 'last-modified': undefined };
  await hold(site, [
    { rule: 'If-Modified-Since', send: [`If-Modified-Since: ${future}`], status: 200, fields, body: page },
    {
      rule: 'If-Unmodified-Since',
      send: ['If-Unmodified-Since: Sat, 21 Nov 1999 10:00:00 GMT'],
      status: 200,
      fields,
    },
    { rule: 'a date that is none', send: ['If-Modified-Since: yesterday'], status: 200, fields },
  ]);
});
