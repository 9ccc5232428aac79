// Destinations of `export` and `run`, as files and disks: what is found before a job is started, what an archive that is
// rejected or held leaves, and what a full or changed destination does. One row for both verbs where both do the same.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startInProcess } from '../../support/cli-in-process.ts';
import { eventually } from '../../support/eventually.ts';
import { noNamespaces } from '../../support/namespaces.ts';
import { noise } from '../../support/noise.ts';
import { entry, tar, tarOf } from '../../support/tar-builder.ts';
import { exportWorkplace, pages } from './environment/export-workplace.ts';
import { runWorkplace } from './environment/run-workplace.ts';
import { withDisk } from './environment/small-disk.ts';
import { type VerbWorkplace, verbs, workplaceOf } from './environment/verbs.ts';

/** As `--to` and `--publish` name the folder in messages. */
const nameOf = { export: '--to', run: '--publish dir=' } as const;
/** `export` makes a new export at each run. */
const newExport = { export: [], run: ['--request'] } as const;

const hostile = gzipSync(tar(entry('../../etc/passwd', 'x')));
const alsoHostile = gzipSync(tarOf({ ...pages, '../outside.html': 'x' }));

const topOf = (path: string): string => path.split('/')[0] ?? '';

const large = gzipSync(tarOf({ ...pages, 'large.bin': noise(256 * 1024).toString('latin1') }));

async function assertReadOnly(
  verb: keyof typeof nameOf,
  { folder, run }: Pick<VerbWorkplace, 'folder' | 'run'>,
  disk: { readonly path: string; readonly remount: (options: string) => void },
): Promise<void> {
  disk.remount('ro');
  const x = join(disk.path, 'x');
  const rows =
    verb === 'run'
      ? [['--publish', `archive=${x}.tar`]]
      : [
          ['--to', x],
          ['--values', x],
          ['--link-file', x],
        ];
  for (const flags of rows) {
    const { code, stdout } = await run(...flags);
    assert.deepEqual([code, JSON.parse(stdout).code], [2, 'DestinationReadOnly']);
    assert.match(JSON.parse(stdout).message, new RegExp(`^the folder around ${flags[0]} .*\\(EROFS\\)`));
  }
  const { code, stdout } = await run('--state', join(disk.path, 'state'));
  assert.deepEqual([code, JSON.parse(stdout).code], [2, 'StateUnusable']);
  assert.deepEqual(readdirSync(disk.path), ['site']);
  assert.ok(existsSync(join(folder, 'state')));
}

// `run` waits seconds before each retry.
describe('destinations', { concurrency: 4 }, () => {
  test('export: a destination, a baseline or a key that cannot be used is found before a job is started', async (t) => {
    const { folder, run, vendor } = await exportWorkplace(t);
    writeFileSync(join(folder, 'bad.yaml'), 'a: b\na: c\n');
    mkdirSync(join(folder, 'made'));
    const cases = [
      [['--to', join(folder, 'key')], 2, 'DestinationExists'],
      [['--to', join(folder, 'key/site')], 2, 'DestinationRefused'],
      [['--to', folder], 2, 'DestinationRefused'],
      [['--to', join(folder, 'no/where/site')], 2, 'DestinationMissing'],
      [['--key-file', join(folder, 'none')], 3, 'KeyUnreadable'],
      [['--baseline', join(folder, 'none')], 2, 'ArchiveUnreadable'],
      [['--baseline', join(folder, 'key')], 2, 'UnknownArchiveType'],
      [['--values', join(folder, 'bad.yaml')], 2, 'ValuesRefused'],
      [['--values', join(folder, 'none.yaml')], 2, 'ValuesMissing'],
      [['--values', folder], 2, 'DestinationRefused'],
      [['--values', join(folder, 'no/values.yaml')], 2, 'DestinationMissing'],
      [['--link-file', folder], 2, 'DestinationRefused'],
      [['--link-file', join(folder, 'no/bundle.json')], 2, 'DestinationMissing'],
      [
        ['--to', join(folder, 'site'), '--link-file', join(folder, 'site/bundle.json')],
        2,
        'DestinationRefused',
      ],
      [
        ['--to', join(folder, 'made'), '--replace', '--link-file', join(folder, 'made/x')],
        2,
        'DestinationRefused',
      ],
    ] as const;
    for (const [flags, exitCode, errorCode] of cases) {
      const { code, stdout } = await run(...flags);
      const failure = JSON.parse(stdout);
      assert.deepEqual([code, failure.code], [exitCode, errorCode]);
      const isNamed = flags.some((flag) => flag.startsWith('--') && failure.message.includes(flag));
      assert.ok(isNamed, failure.message);
    }
    assert.equal(vendor.jobs.size, 0);
  });

  test('run: a key that is not there, and flags that cannot work, are found before a job is started', async (t) => {
    const { folder, to, run, runWithout, vendor } = await runWorkplace(t);
    const bad = join(folder, 'bad.yaml');
    writeFileSync(bad, 'a: b\na: c\n');
    const cases = [
      [
        () => runWithout('--secret', '--once'),
        3,
        'KeyMissing',
        /^The Secret or key named in spec\.api\.keySecretRef does not exist\..*\nAdd --secret export-api=FILE, or /,
      ],
      [() => run('-f', '/dev/zero'), 2, 'ManifestInvalid', /longer than 1 MiB/],
      [
        () => runWithout('--api-base-url', '--once'),
        2,
        'BaseUrlMissing',
        /Set spec\.api\.baseUrl or --api-base-url\.$/,
      ],
      [() => run('--secret', `exportapi=${join(folder, 'key')}`), 2, 'SecretUnknown', /^--secret exportapi/],
      [() => run('--values', bad), 2, 'ValuesRefused', /^--values \S+ cannot be edited/],
      [() => run('--publish', `dir=${join(to, 'inside')}`), 2, 'DestinationRefused', /^--publish dir=/],
      [() => run('--link-file', join(to, 'bundle.json')), 2, 'DestinationRefused', /another destination/],
      [
        () => run('--publish', 'archive=/none/site.tar'),
        2,
        'DestinationMissing',
        /^the folder around --publish archive=\/none/,
      ],
    ] as const;
    for (const [start, exitCode, code, words] of cases) {
      const result = await start();
      const { message, next, ...error } = JSON.parse(result.stdout);
      assert.deepEqual([result.code, error.code], [exitCode, code], result.stderr);
      assert.match([message, ...next].join('\n'), words);
    }
    assert.equal(vendor.jobs.size, 0);
  });

  for (const verb of verbs) {
    describe(verb, { concurrency: 3 }, () => {
      test("a file of the user's in the folder is kept: exit 2 before a job", async (t) => {
        const { to, run, vendor } = await workplaceOf(verb, t);
        mkdirSync(to);
        writeFileSync(join(to, 'thesis.txt'), 'mine');
        const { code, stdout } = await run();
        const error = JSON.parse(stdout);
        assert.deepEqual([code, error.code, vendor.jobs.size], [2, 'DestinationExists', 0]);
        assert.ok(error.message.startsWith(nameOf[verb]), error.message);
        assert.deepEqual(
          [readdirSync(to), readFileSync(join(to, 'thesis.txt'), 'utf8')],
          [['thesis.txt'], 'mine'],
        );
      });

      test('a hostile archive: exit 6, nothing of it is written, and the published site stays', async (t) => {
        const { folder, to, vendor, run } = await workplaceOf(verb, t);
        vendor.archive = alsoHostile;
        const first = await run();
        const error = JSON.parse(first.stdout);
        assert.deepEqual([first.code, error.code], [6, 'BundleRejected'], first.stderr);
        assert.match(error.message, /an entry has a path with "\.\."/);
        assert.match(first.stderr, /ParentPath/);
        assert.deepEqual([existsSync(to), existsSync(join(folder, 'outside.html'))], [false, false]);
        vendor.archive = gzipSync(tarOf(pages));
        const second = await run(...newExport[verb]);
        assert.equal(second.code, 0, second.stderr);
        vendor.archive = hostile;
        const third = await run(...newExport[verb]);
        assert.deepEqual([third.code, JSON.parse(third.stdout).code], [6, 'BundleRejected'], third.stderr);
        if (verb === 'run') assert.equal(JSON.parse(third.stdout).version, JSON.parse(second.stdout).version);
        assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), pages['index.html']);
      });

      test('an export with far fewer pages: exit 7, and the published site stays', async (t) => {
        const { to, vendor, run } = await workplaceOf(verb, t);
        const first = await run();
        assert.equal(first.code, 0, first.stderr);
        vendor.archive = gzipSync(tarOf({ 'index.html': 'new' }));
        const held = await run(...newExport[verb]);
        const error = JSON.parse(held.stdout);
        assert.deepEqual([held.code, error.code], [7, 'PageCountDropped']);
        assert.equal(readFileSync(join(to, 'b.html'), 'utf8'), pages['b.html']);
        assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), pages['index.html']);
        if (verb === 'run') {
          assert.equal(error.version, JSON.parse(first.stdout).version);
          assert.match(error.message, /maxShrinkPercent/);
          return;
        }
        // The same command with another limit publishes the same job.
        assert.equal((await run('--max-shrink', '100')).code, 0);
        assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), 'new');
        assert.equal(vendor.jobs.size, 2);
      });

      test('what was changed in a destination is written again, and what was not stays as it is', async (t) => {
        const { to, run, vendor } = await workplaceOf(verb, t);
        const changed = join(to, 'a/index.html');
        assert.equal((await run()).code, 0);
        const { ino } = statSync(to);
        const downloads = vendor.counts.download;
        assert.equal((await run()).code, 0);
        assert.equal(statSync(to).ino, ino, 'written again without a change');
        if (verb === 'run') assert.deepEqual([downloads, vendor.counts.download], [2, 2]);
        for (const change of [() => writeFileSync(changed, ''), () => rmSync(changed)]) {
          change();
          assert.equal((await run()).code, 0);
          assert.equal(readFileSync(changed, 'utf8'), pages['a/index.html']);
        }
        if (verb === 'run') assert.equal(vendor.jobs.size, 1);
      });

      test('a mount point is filled in place, and found before a job where it cannot be written', {
        skip: noNamespaces,
      }, async (t) => {
        const { folder, run, vendor } = await workplaceOf(verb, t);
        await withDisk(join(folder, 'volume'), '1m', async ({ path, remount }) => {
          const flags = verb === 'run' ? ['--publish', `dir=${path}`] : ['--to', path];
          const first = await run(...flags);
          assert.equal(first.code, 0, first.stderr);
          assert.deepEqual(readdirSync(path).sort(), [...new Set(Object.keys(pages).map(topOf))].sort());
          vendor.archive = gzipSync(tarOf({ 'index.html': 'two', 'two.html': 'two', 'b/c.html': 'c' }));
          const second = await run(...flags, ...newExport[verb]);
          assert.equal(second.code, 0, second.stderr);
          assert.deepEqual(readdirSync(path).sort(), ['b', 'index.html', 'two.html']);
          writeFileSync(join(path, 'thesis.txt'), 'mine');
          const refused = await run(...flags, ...newExport[verb]);
          assert.deepEqual([refused.code, JSON.parse(refused.stdout).code], [2, 'DestinationExists']);
          remount('ro');
          const jobs = vendor.jobs.size;
          const { code, stdout } = await run(...flags, ...newExport[verb]);
          assert.deepEqual([code, JSON.parse(stdout).code], [2, 'DestinationReadOnly']);
          assert.match(JSON.parse(stdout).message, /volume cannot be written \(EROFS\)/);
          assert.equal(vendor.jobs.size, jobs);
        });
      });

      test('a full disk: exit 9, the other destinations are written, and nothing is half written', {
        skip: noNamespaces,
      }, async (t) => {
        const { folder, to, run, vendor } = await workplaceOf(verb, t);
        vendor.archive = large;
        await withDisk(join(folder, 'disk'), '128k', async (disk) => {
          const site = join(disk.path, 'site');
          const flags = verb === 'run' ? ['--publish', `dir=${site}`] : ['--to', site];
          writeFileSync(join(folder, 'values.yaml'), '');
          const { code, stdout } = await run(...flags, '--values', join(folder, 'values.yaml'));
          const error = JSON.parse(stdout);
          const written = verb === 'run' ? [`--publish dir=${to}`, '--values'] : ['--values'];
          assert.deepEqual([code, error.code, error.written], [9, 'DestinationNotWritten', written]);
          const message = `${flags.join(' ')} could not be written (ENOSPC): its disk is full`;
          if (verb === 'export') {
            assert.equal(error.message, message);
            assert.deepEqual(error.next, [
              'Free space on the disk, or name a path on another one.',
              'Run the same command again to write what is missing.',
            ]);
          } else assert.ok(error.message.startsWith(message.replace(/:.*/, '')), error.message);
          assert.deepEqual(readdirSync(disk.path), []);
          disk.remount('size=8m');
          assert.equal((await run(...flags)).code, 0);
          assert.equal(readFileSync(join(site, 'index.html'), 'utf8'), pages['index.html']);
          assert.deepEqual([readdirSync(disk.path), vendor.jobs.size], [['site'], 1]);
          await assertReadOnly(verb, { folder, run }, disk);
        });
      });
    });
  }

  test('export: --replace removes a file of the user, and no other run does', async (t) => {
    const { to, run } = await workplaceOf('export', t);
    await run();
    rmSync(to, { recursive: true });
    mkdirSync(to);
    writeFileSync(join(to, 'thesis.txt'), 'mine');
    const { code, stdout } = await run();
    assert.deepEqual([code, JSON.parse(stdout).code], [2, 'DestinationExists']);
    assert.match(JSON.parse(stdout).message, /add --replace/);
    assert.deepEqual(readdirSync(to), ['thesis.txt']);
    assert.equal((await run('--replace')).code, 0);
    assert.ok(!existsSync(join(to, 'thesis.txt')));
  });

  test('export: an archive that was changed or removed is written again', async (t) => {
    const { folder, run } = await exportWorkplace(t);
    const to = join(folder, 'site.tar.gz');
    assert.equal((await run('--to', to)).code, 0);
    const [{ ino }, whole] = [statSync(to), readFileSync(to)];
    assert.equal((await run('--to', to)).code, 0);
    assert.equal(statSync(to).ino, ino, 'written again without a change');
    for (const change of [() => writeFileSync(to, ''), () => rmSync(to)]) {
      change();
      assert.equal((await run('--to', to)).code, 0);
      assert.deepEqual(readFileSync(to), whole);
    }
  });

  test('export: a full disk below the state: exit 5 after one link, and the same command goes on', {
    skip: noNamespaces,
  }, async (t) => {
    const { folder, run, vendor } = await exportWorkplace(t);
    vendor.archive = large;
    await withDisk(join(folder, 'disk'), '128k', async (disk) => {
      const flags = ['--state', join(disk.path, 'state'), '--to', join(folder, 'site')];
      const { code, stdout } = await run(...flags);
      assert.deepEqual([code, JSON.parse(stdout).code, vendor.counts.issue], [5, 'StoreFull', 1]);
      assert.match(
        JSON.parse(stdout).message,
        /^The disk of .* has no room: the bundle needs at least .* are free\. .* Or name another folder with --state$/,
      );
      assert.equal(existsSync(join(folder, 'site')), false);
      disk.remount('size=8m');
      assert.equal((await run(...flags)).code, 0);
      assert.equal(vendor.jobs.size, 1);
    });
  });

  test('export: a destination that fails keeps no other from the new version: exit 9, and the same command goes on', async (t) => {
    const { folder, run, vendor } = await exportWorkplace(t);
    const [to, values, linkFile] = ['site', 'values.yaml', 'bundle.json'].map((name) => join(folder, name));
    const flags = ['--to', to ?? '', '--values', values ?? '', '--link-file', linkFile ?? ''];
    writeFileSync(values ?? '', '');
    vendor.answers.download = () => {
      writeFileSync(values ?? '', 'a: b\na: c\n');
      return false;
    };
    const { code, stdout, stderr } = await run(...flags);
    const error = JSON.parse(stdout);
    assert.deepEqual([code, error.code, error.written], [9, 'ValuesRefused', ['--link-file', '--to']]);
    assert.match(error.message, /^--values \S+\/values\.yaml cannot be edited/);
    assert.match(stderr, /Run the same command again to write what is missing\./);
    assert.equal(readFileSync(join(to ?? '', 'index.html'), 'utf8'), pages['index.html']);
    assert.equal(JSON.parse(readFileSync(linkFile ?? '', 'utf8')).version, error.version);
    vendor.answers = {};
    writeFileSync(values ?? '', 'a: b\n');
    const again = await run(...flags);
    assert.deepEqual([again.code, JSON.parse(again.stdout).version], [0, error.version]);
    assert.match(again.stderr, /Continuing export job job-1, started at .*\. For a new export, add --new/);
    assert.equal(vendor.jobs.size, 1);
  });

  test('run: a destination that cannot be written does not end a run: it is written when it can be', async (t) => {
    const { folder, to, vendor, args } = await runWorkplace(t);
    const values = join(folder, 'values.yaml');
    writeFileSync(values, '');
    vendor.answers.issue = () => {
      writeFileSync(values, 'a: b\na: c\n');
      return false;
    };
    const running = startInProcess(args('--values', values).slice(1));
    t.after(() => running.stop());
    await eventually(
      'the failure is reported',
      () => /ValuesRefused.*Retrying in 10 s/.test(running.stderr()) || undefined,
    );
    assert.ok(existsSync(join(to, 'index.html')));
    const downloads = vendor.counts.download;
    writeFileSync(values, 'a: b\n');
    await eventually(
      'the values are written',
      () => /version/.test(readFileSync(values, 'utf8')) || undefined,
    );
    assert.equal(vendor.counts.download, downloads, 'the archive was downloaded again for a values file');
    assert.equal(running.hasExited(), false);
    running.signal('SIGTERM');
    assert.equal((await running.result).code, 143);
  });

  test('run: a download that hangs keeps no link from being refreshed', async (t) => {
    const { folder, to, args, vendor } = await runWorkplace(t, '  linkRefresh: { minInterval: 1s }\n');
    const linkFile = join(folder, 'bundle.json');
    vendor.linkLifetimeMs = 15_000;
    // The first is the inspection.
    vendor.answers.download = (_response, count) => count > 1;
    const running = startInProcess(args('--link-file', linkFile).slice(1));
    t.after(() => running.stop());
    await eventually('the link is refreshed', () => vendor.counts.issue > 1 || undefined);
    const hasNew = (): boolean => readFileSync(linkFile, 'utf8').includes(`/${vendor.counts.issue}.tar.gz`);
    await eventually('the server gets the new link', () => hasNew() || undefined);
    assert.deepEqual([vendor.counts.download, existsSync(to)], [2, false]);
    running.signal('SIGTERM');
    assert.equal((await running.result).code, 143);
  });
});
