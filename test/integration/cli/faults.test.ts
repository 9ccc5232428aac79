// What an export API and a storage may do wrong to `export` and to `run`, as a pipeline or a machine without a cluster meets
// it: one row for both. Each fault has its exit code; standard output is JSON or empty; nothing is half written; no message
// speaks of an operator or of a Secret that is a file here.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { findFreePort } from '../../support/free-port.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { exportWorkplace, pages, site } from './environment/export-workplace.ts';
import { runWorkplace } from './environment/run-workplace.ts';
import { type ScriptedVendor, status } from './environment/scripted-vendor.ts';
import { type Verb, verbs, workplaceOf } from './environment/verbs.ts';

type Answers = ScriptedVendor['answers'];
type Answer = NonNullable<Answers[keyof Answers]>;

const hang = (): boolean => true;
const firstOnly =
  (answer: Answer): Answer =>
  (response, count) =>
    count === 1 && answer(response, count);
const garbage = (response: ServerResponse): boolean => {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
  return true;
};
const failedJob = (response: ServerResponse): boolean => {
  response.writeHead(200).end('{"status":"failed"}');
  return true;
};
/** Sends this share of the archive, then ends the connection. */
const brokenAt =
  (share: number) =>
  (response: ServerResponse): boolean => {
    response.writeHead(200, { 'content-length': site.length });
    response.write(site.subarray(0, Math.floor(site.length * share)), () => response.destroy());
    return true;
  };

interface Ending {
  readonly exitCode: number;
  readonly code: string;
  readonly flags?: readonly string[];
  /** Further lines of the spec, for `run`. */
  readonly spec?: string;
  /** The message. */
  readonly says?: RegExp;
  /** The steps. */
  readonly next?: RegExp;
  /** What failed last, where the deadline ended it. */
  readonly last?: readonly [code: string, message: RegExp];
}
type Fault = { readonly name: string; readonly answers?: Answers } & { readonly [Name in Verb]?: Ending };

const quick = ['--timeout', '4s'];
/** For runs that end at their first answer, which must come before the deadline. */
const long = ['--timeout', '15s'];
const atDeadline: Ending = { exitCode: 124, code: 'DeadlineExceeded', flags: quick };
const isLater = /returned 429; .*The next attempt is allowed at \S+Z, which is after --timeout$/;
const rateLimited = (flags: readonly string[] = []): { readonly [Name in Verb]: Ending } => ({
  export: { exitCode: 5, code: 'RateLimited', flags },
  run: { exitCode: 5, code: 'RateLimited', flags, says: isLater },
});

/** The address leads to another service, which no retry changes. */
const wrongAddress = (code: string, says: RegExp): { readonly [Name in Verb]: Ending } => {
  const ending = { exitCode: 12, code, says, flags: ['--timeout', '60m'] };
  return { export: ending, run: ending };
};

/** Of a file manager: the home page is in a folder, and a file that is served lies beside it. */
const withoutHome = (response: ServerResponse): boolean => {
  const archive = gzipSync(tarOf({ 'site/index.html': 'home', 'a.html': 'a' }));
  response.writeHead(200, { 'content-length': archive.length }).end(archive);
  return true;
};

/** In both verbs. */
const refusedKey =
  /^the export API returned 401 for this key[.;] check that it is complete, not expired, and belongs to this service/i;

const faults: readonly Fault[] = [
  {
    name: '401 at the start',
    answers: { start: status(401) },
    export: {
      exitCode: 3,
      code: 'KeyRefused',
      says: refusedKey,
      next: /Write a valid key into --key-file, and run/,
    },
    run: {
      exitCode: 3,
      code: 'KeyRefused',
      says: refusedKey,
      next: /Write a valid key into the file of --secret export-api/,
    },
  },
  {
    name: '403 at the start',
    answers: { start: status(403) },
    export: { exitCode: 3, code: 'KeyForbidden', says: /returned 403 for this key/ },
    run: { exitCode: 3, code: 'KeyForbidden', says: /returned 403 for this key/ },
  },
  {
    name: '400 at the start',
    answers: { start: status(400) },
    export: { exitCode: 4, code: 'StartRefused' },
    run: { exitCode: 4, code: 'StartRefused' },
  },
  {
    name: 'a page at the start',
    answers: { start: garbage },
    ...wrongAddress('UnexpectedAnswer', /HTML page/),
  },
  {
    name: 'a redirect at the start',
    answers: { start: status(302, { location: 'https://www.example.com/' }) },
    ...wrongAddress('UnexpectedAnswer', /redirects/),
  },
  {
    name: '404 for the job',
    answers: { poll: status(404) },
    export: { exitCode: 4, code: 'JobLost' },
    run: { exitCode: 4, code: 'JobLost' },
  },
  { name: 'a job that failed', answers: { poll: failedJob }, export: { exitCode: 4, code: 'JobFailed' } },
  { name: '409 for the link until the deadline', answers: { issue: status(409) }, export: atDeadline },
  {
    name: '429 with seconds beyond the deadline',
    answers: { poll: status(429, { 'retry-after': '90' }) },
    ...rateLimited(long),
  },
  {
    name: '429 with a date beyond the deadline',
    answers: { poll: status(429, { 'retry-after': 'Fri, 31 Dec 2027 23:59:59 GMT' }) },
    ...rateLimited(long),
  },
  {
    name: '503 with a day at the start',
    answers: { start: status(503, { 'retry-after': '86400' }) },
    export: { exitCode: 5, code: 'ServerError', flags: long, says: /The next attempt is allowed at/ },
    run: { exitCode: 5, code: 'ServerError', flags: long, says: /The next attempt is allowed at/ },
  },
  {
    name: '400 for the job',
    answers: { poll: status(400) },
    export: { exitCode: 4, code: 'BadRequest' },
    run: { exitCode: 4, code: 'BadRequest' },
  },
  {
    name: '429 with a day at the start',
    answers: { start: status(429, { 'retry-after': '86400' }) },
    ...rateLimited(),
  },
  {
    name: '500 for every poll',
    answers: { poll: status(500) },
    export: atDeadline,
    run: {
      ...atDeadline,
      flags: long,
      last: ['ServerError', /returned a server error: HTTP 500$/],
    },
  },
  {
    name: '503 for every link',
    answers: { issue: status(503) },
    run: {
      ...atDeadline,
      flags: long,
      last: ['ServerError', /returned a server error: HTTP 503$/],
    },
  },
  { name: 'a page instead of a job', answers: { poll: garbage }, export: atDeadline },
  {
    name: 'an export API that never answers',
    answers: { poll: hang },
    export: { ...atDeadline, flags: [...quick, '--request-timeout', '1s'] },
  },
  {
    name: 'a storage that refuses valid links',
    answers: { download: status(403) },
    export: { exitCode: 5, code: 'LinkRefused', says: /^Storage \S+ returned 403/ },
    run: { exitCode: 5, code: 'LinkRefused', says: /^Storage \S+ returned 403/, flags: ['--timeout', '60m'] },
  },
  ...[0, 50, 99].map((percent) => ({
    name: `a download that breaks off at ${percent} %`,
    answers: { download: brokenAt(percent / 100) },
    export: atDeadline,
  })),
  { name: 'a page instead of an archive', answers: { download: garbage }, export: atDeadline },
  {
    name: 'a home page that is missing',
    answers: { download: withoutHome },
    export: { exitCode: 7, code: 'HomePageMissing', says: /no index\.html at its root/ },
    run: { exitCode: 7, code: 'HomePageMissing', says: /none is its home page/ },
  },
  {
    name: 'a home page that is missing and need not be there',
    answers: { download: withoutHome },
    export: { exitCode: 7, code: 'TooFewPages', flags: ['--allow-missing-home-page', '--min-pages', '3'] },
    run: {
      exitCode: 7,
      code: 'TooFewPages',
      spec: '  promotion: { requireHomePage: false, minPages: 9 }\n',
    },
  },
  {
    name: 'too few pages',
    export: { exitCode: 7, code: 'TooFewPages', flags: ['--min-pages', '4'] },
    run: { exitCode: 7, code: 'TooFewPages', spec: '  promotion: { minPages: 9 }\n', says: /minPages/ },
  },
  ...[
    {
      name: 'manual promotion',
      run: {
        exitCode: 7,
        code: 'AwaitingPromotion',
        spec: '  promotion: { mode: Manual }\n',
        says: /To publish it, set the annotation staticexport\.dev\/promote=/,
        next: /in the manifest, and run the command again/,
      },
    },
    {
      name: 'a suspended resource with nothing published',
      run: { exitCode: 7, code: 'Suspended', spec: '  suspend: true\n', says: /spec\.suspend is true/ },
    },
    {
      name: 'an unknown field',
      run: {
        exitCode: 2,
        code: 'ManifestInvalid',
        spec: '  shedule: "0 3 * * *"\n',
        says: /spec\.shedule \(unknown field; did you mean schedule\?\)/,
      },
    },
    {
      name: 'a field of another type',
      run: {
        exitCode: 2,
        code: 'ManifestInvalid',
        spec: '  historyLimit: x\n',
        says: /historyLimit \(must be a number\)/,
      },
    },
    {
      name: 'a schedule that never fires',
      run: {
        exitCode: 2,
        code: 'InvalidSchedule',
        spec: '  schedule: "0 0 30 2 *"\n',
        says: /never fires/,
      },
    },
    {
      name: 'a domain that is not valid',
      run: {
        exitCode: 2,
        code: 'ManifestInvalid',
        spec: '  domain: not_a_domain\n',
        says: /not valid YAML/,
      },
    },
  ],
];

const dayMs = 86_400_000;
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10).replaceAll('-', '');
const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toUTCString();
const both = verbs;
const passing: readonly (readonly [name: string, of: readonly Verb[], answers: () => Answers])[] = [
  ['429 with seconds, at the start', both, () => ({ start: firstOnly(status(429, { 'retry-after': '1' })) })],
  ['429 with seconds, at a poll', both, () => ({ poll: firstOnly(status(429, { 'retry-after': '1' })) })],
  [
    '429 with a date, at a poll',
    ['export'],
    () => ({ poll: firstOnly(status(429, { 'retry-after': inSeconds(2) })) }),
  ],
  [
    '429 with a date, for the link',
    ['run'],
    () => ({ issue: firstOnly((response) => status(429, { 'retry-after': inSeconds(3) })(response)) }),
  ],
  ['500, at a poll', ['run'], () => ({ poll: firstOnly(status(500)) })],
  ['500, for the link', ['export'], () => ({ issue: firstOnly(status(500)) })],
  ['503, for the link', ['run'], () => ({ issue: firstOnly(status(503)) })],
  ['a link that is refused', both, () => ({ download: firstOnly(status(403)) })],
  ...[0, 50, 99].map(
    (percent) =>
      [
        `a download that breaks off at ${percent} %`,
        ['export'],
        () => ({ download: firstOnly(brokenAt(percent / 100)) }),
      ] as const,
  ),
];
// Most of them wait: for a retry, or for their deadline, which needs the first attempts before it.
describe('export and run', { concurrency: 4 }, () => {
  describe('faults', { concurrency: 6 }, () => {
    for (const { name, answers = {}, ...endings } of faults) {
      for (const verb of verbs) {
        const { exitCode, code, flags = [], spec, says = /./, next = /^/, last } = endings[verb] ?? {};
        if (exitCode === undefined) continue;
        test(`${verb}, ${name}: exit ${exitCode}, ${code}; nothing is written`, async (t) => {
          const { run, vendor, assertNothingWritten } = await workplaceOf(verb, t, spec);
          vendor.answers = answers;
          const result = await run(...flags);
          assert.equal(result.code, exitCode, result.stderr);
          const error = JSON.parse(result.stdout);
          assert.deepEqual([error.kind, error.code], ['Error', code]);
          assert.match(error.message, says);
          assert.match(error.next.join('\n'), next);
          if (code === 'RateLimited') assert.equal(error.retryable, true);
          if (last !== undefined) {
            assert.equal(error.lastFailure.code, last[0], result.stderr);
            assert.match(error.lastFailure.message, last[1]);
          }
          assert.doesNotMatch(result.stderr, /the operator|of the chart|its Secret|Rechecked|; retrying/);
          assert.doesNotMatch(error.message, /Retrying at/);
          if (verb === 'export') assert.doesNotMatch(result.stderr, /annotation|spec\.promotion/);
          // The event of the condition and the error say the same once.
          const repeated = `: ${error.message}`;
          if (result.code !== 124) assert.ok(result.stderr.split(repeated).length <= 2, result.stderr);
          assertNothingWritten();
        });
      }
    }
  });

  describe('faults that pass', { concurrency: 4 }, () => {
    for (const [name, of, answers] of passing) {
      for (const verb of of) {
        test(`${verb}, ${name}, once: exit 0, the right bytes, one job`, async (t) => {
          const { folder, to, run, vendor } = await workplaceOf(verb, t);
          vendor.answers = answers();
          const { code, stderr } = await run('--timeout', '5m');
          assert.equal(code, 0, stderr);
          assert.doesNotMatch(stderr, /; retrying/i);
          assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), pages['index.html']);
          const given = verb === 'run' ? ['docs.yaml', 'key'] : ['key'];
          assert.deepEqual([readdirSync(folder).sort(), vendor.jobs.size], [[...given, 'site', 'state'], 1]);
        });
      }
    }
  });

  for (const verb of verbs) {
    test(`${verb}: https at a port of http ends at once, with what to check`, async (t) => {
      const { run, vendor, assertNothingWritten } = await workplaceOf(verb, t);
      const { code, stdout } = await run('--api-base-url', `https://${new URL(vendor.url).host}`);
      const error = JSON.parse(stdout);
      assert.deepEqual([code, error.code, error.retryable], [12, 'NetworkError', false]);
      assert.match(error.message, /^the export API at 127\.0\.0\.1:\d+ does not speak TLS on this port/);
      assert.deepEqual(error.next, ['Check that --api-base-url is the address of the export API.']);
      assertNothingWritten();
    });
  }

  // Each needs its first attempts within the deadline, also on a machine that pauses for seconds.
  describe('the deadline', { concurrency: 4 }, () => {
    for (const verb of verbs) {
      test(`${verb}: an export API that cannot be reached until the deadline is named, with its code and the flag`, async (t) => {
        const { run, vendor, assertNothingWritten } = await workplaceOf(verb, t);
        const closed = `http://127.0.0.1:${await findFreePort()}`;
        const { code, stdout, stderr } = await run('--api-base-url', closed, '--timeout', '8s');
        const error = JSON.parse(stdout);
        assert.deepEqual(
          [code, error.code, error.lastFailure.code],
          [124, 'DeadlineExceeded', 'NetworkError'],
        );
        assert.match(
          error.lastFailure.message,
          verb === 'run'
            ? /^the export API at 127\.0\.0\.1:\d+ (?:refused the connection|did not answer or broke off) \(ECONN/
            : /^the export API at 127\.0\.0\.1:\d+ refused the connection \(ECONNREFUSED\)/,
        );
        assert.equal(
          error.message,
          `--timeout has passed (8 s). The last attempt failed with NetworkError: ${error.lastFailure.message}`,
        );
        assert.deepEqual(error.next, [
          'Check that --api-base-url is the address of the export API.',
          `Run the same command again to continue.${verb === 'run' ? '' : ' For a new export, add --new.'}`,
        ]);
        assert.deepEqual([error.version, error.written], [undefined, undefined]);
        assert.doesNotMatch(stderr, /\(NetworkError\) \(DeadlineExceeded\)/);
        assertNothingWritten();
        assert.equal(vendor.jobs.size, 0);
      });
    }

    test('the address of a manifest is named by its field', async (t) => {
      const closed = `127.0.0.1:${await findFreePort()}`;
      const { run } = await runWorkplace(t, '', `baseUrl: "http://${closed}", `);
      const { stdout } = await run('--allowed-api-hosts', `http://${closed}`, '--timeout', '8s');
      assert.equal(
        JSON.parse(stdout).next[0],
        'Check that spec.api.baseUrl is the address of the export API.',
      );
    });

    test('run: a destination that fails until the deadline is named, with the version and what holds it', async (t) => {
      const { folder, run, vendor } = await workplaceOf('run', t);
      // The first download is the inspection.
      vendor.answers.download = (response, count) => count > 1 && status(503)(response);
      const linkFile = join(folder, 'bundle.json');
      const { code, stdout } = await run('--link-file', linkFile, '--timeout', '15s');
      const error = JSON.parse(stdout);
      assert.deepEqual([code, error.code], [124, 'DeadlineExceeded']);
      assert.match(error.message, /^--timeout has passed \(15 s\)\. The last attempt failed with \w+: .*503/);
      assert.match(error.lastFailure.message, /503/);
      assert.deepEqual(
        [error.version, error.written],
        [JSON.parse(readFileSync(linkFile, 'utf8')).version, ['--link-file']],
      );
      assert.equal(readdirSync(folder).includes('site'), false);
    });
  });

  for (const answer of [501, 404]) {
    test(`export: a server that has no export API (${answer}) ends the run at once, with the flag to check`, async (t) => {
      const { run, vendor } = await exportWorkplace(t);
      vendor.answers = { start: status(answer) };
      const { stdout } = await run();
      assert.deepEqual(JSON.parse(stdout).next, [
        'Check that --api-base-url is the address of the export API.',
      ]);
      assert.equal(vendor.counts.start, 1);
    });
  }

  for (const verb of verbs) {
    test(`${verb}: a clock that was set back between two runs starts no second job`, async (t) => {
      const { run, runAt, vendor } = await workplaceOf(verb, t);
      vendor.answers = { poll: status(401) };
      assert.equal((await run()).code, 3);
      vendor.answers = {};
      const result = await runAt(-dayMs, ...(verb === 'run' ? ['--request'] : []));
      assert.equal(result.code, 0, result.stderr);
      const jobs = vendor.jobs.size;
      const later = await run();
      // `export` makes a new one at each run.
      assert.deepEqual([later.code, vendor.jobs.size], [0, verb === 'run' ? jobs : jobs + 1]);
      if (verb === 'run') return;
      assert.match(JSON.parse(result.stdout).version, new RegExp(`^${dayOf(Date.now() - dayMs)}`));
      assert.equal(jobs, 1);
    });
  }

  for (const verb of verbs) {
    test(`${verb}: a link to a private address is a setting: exit 2 after one link, and with the flag the same job goes on`, async (t) => {
      const { run, runWithout, vendor } = await workplaceOf(verb, t);
      const refused = await runWithout('--allow-private-links');
      const { code, message } = JSON.parse(refused.stdout);
      assert.deepEqual([refused.code, code, vendor.counts.issue], [2, 'PrivateLink', 1], refused.stderr);
      assert.match(
        message,
        /add --allow-private-links if that is intended; link-local and metadata addresses are never allowed$/,
      );
      assert.doesNotMatch(refused.stderr, /; retrying/);
      assert.equal((await run()).code, 0);
      assert.equal(vendor.jobs.size, 1);
    });

    test(`${verb}: a refused key of an unusual form gets a hint, once`, async (t) => {
      const { folder, run } = await workplaceOf(verb, t);
      writeFileSync(join(folder, 'key'), 'pk_other\n');
      const { code, stderr } = await run();
      assert.equal(code, 3);
      const hint = 'API key does not begin with svc_. Check that it is an admin key.';
      assert.ok(stderr.split('\n').includes(hint), stderr);
      assert.equal(stderr.split('svc_').length, 2);
    });
  }

  test('run: a page instead of the archive of a destination is no end of the run: it is downloaded again', async (t) => {
    const { to, run, vendor } = await runWorkplace(t);
    vendor.answers.download = (response, count) => count === 2 && garbage(response);
    const { code, stderr } = await run();
    assert.equal(code, 0, stderr);
    assert.match(stderr, /an HTML page instead of an archive \(HtmlInsteadOfArchive\)\. Retrying in 10 s/);
    assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), pages['index.html']);
    assert.deepEqual([vendor.jobs.size, vendor.counts.download], [1, 3]);
  });
});
