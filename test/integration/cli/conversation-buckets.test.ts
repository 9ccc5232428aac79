// `conversations export --to s3://…` against a real S3 service: what it wrote is read back equal, also after kills at any
// piece of data on the network. A refusal or an outage has its exit code, moves no state, and prints no key.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, type TestContext, test } from 'node:test';
import type { AccessKey } from '#mirror/s3/bucket.ts';
import { startProgram } from '../../support/child-program.ts';
import { type Cut, startCutProxy } from '../../support/cut-proxy.ts';
import { findFreePort } from '../../support/free-port.ts';
import { noNamespaces } from '../../support/namespaces.ts';
import { declareSecret } from '../../support/secret-watch.ts';
import { noS3, startVersitygw, type Versitygw } from '../../support/versitygw.ts';
import { type CountedRun, runUntilKilled } from '../mirror/scaled-moment.ts';
import { comparable, type Format, formats, type Row, rowsOf } from './environment/bucket-rows.ts';
import {
  expectedQueries,
  hour,
  largeRows,
  usualRows,
  type Workplace,
  workplace,
} from './environment/conversation-workplace.ts';
import { rowAt } from './environment/scripted-listing.ts';
import { withDisk } from './environment/small-disk.ts';

/** Moments for each format, spread over the pieces of data of a run. */
const kills = 4;

interface Place {
  readonly prefix: string;
  readonly endpoint?: string;
  readonly accessKey?: Pick<AccessKey, 'accessKeyId' | 'secretAccessKey'>;
  readonly bucket?: string;
  readonly region?: string;
}

const refusals: readonly (readonly [
  name: string,
  exit: number,
  code: string,
  message: RegExp,
  make: (service: Versitygw) => Promise<Partial<Place>>,
])[] = [
  [
    ...([
      'a wrong secret',
      9,
      'Denied',
      /403 \(SignatureDoesNotMatch\)[\s\S]*Check --s3-credentials/,
    ] as const),
    async ({ rootKey }) => ({
      accessKey: { ...rootKey, secretAccessKey: declareSecret('a wrong key', 'not-the-key-of-it') },
    }),
  ],
  [
    ...(['a key that may only read', 9, 'Denied', /\(AccessDenied\).* it may do s3:PutObject/] as const),
    async (service) => ({ accessKey: await service.createReader('talks') }),
  ],
  [
    ...(['a bucket that is missing', 9, 'BucketMissing', /\(NoSuchBucket\).* Create it/] as const),
    async () => ({ bucket: 'missing' }),
  ],
  [
    ...(['a bucket of another region', 9, 'WrongRegion', /region to us-east-1\.\nSet --s3-region/] as const),
    async () => ({ region: 'eu-west-1' }),
  ],
  [
    ...(['a service that is down', 5, 'Unreachable', /\(ECONNREFUSED\)[\s\S]*Check --s3-endpoint/] as const),
    async () => ({ endpoint: `http://127.0.0.1:${await findFreePort()}` }),
  ],
  [
    ...(['an address that is not one', 2, 'InvalidAddress', /Write it as https:/] as const),
    async () => ({ endpoint: 'storage' }),
  ],
];

suite('conversations in a bucket', { skip: noS3 }, () => {
  let service: Versitygw;
  before(async () => {
    service = await startVersitygw();
    await service.createBucket('talks');
  });
  after(() => service?.close());

  const flags = (
    format: Format,
    { prefix, endpoint, bucket = 'talks', region }: Place,
  ): readonly string[] => [
    ...['--format', format, '--to', `s3://${bucket}/${prefix}`, '--s3-path-style'],
    ...['--s3-endpoint', endpoint ?? service.origin, '--state', join(tmp, `${bucket}-${prefix}`)],
    ...(region === undefined ? [] : ['--s3-region', region]),
  ];
  let tmp = '';
  const begin = async (t: TestContext, rows = usualRows): Promise<Workplace> => {
    const place = await workplace(t, rows);
    tmp = place.folder;
    return place;
  };
  const env = ({ accessKey = service.rootKey }: Partial<Place> = {}): Readonly<Record<string, string>> => ({
    AWS_ACCESS_KEY_ID: accessKey.accessKeyId,
    AWS_SECRET_ACCESS_KEY: accessKey.secretAccessKey,
  });
  const objectsOf = (prefix: string): readonly (readonly [name: string, bytes: Buffer])[] => {
    const folder = service.fileOf('talks', prefix);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    return files.map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name))]);
  };
  const readBack = async (format: Format, prefix: string): Promise<readonly Row[]> =>
    (await Promise.all(objectsOf(prefix).map(([, bytes]) => rowsOf(format, bytes)))).flat();
  /** What the same command writes to a folder. */
  const oracle = async ({ folder, run }: Workplace): Promise<readonly Row[]> => {
    const to = join(folder, 'oracle');
    const { code, stderr } = await run('--to', to, '--state', join(folder, 'oracle-state'));
    assert.equal(code, 0, stderr);
    const parts = readdirSync(to).map((name) => rowsOf('ndjson', readFileSync(join(to, name))));
    return comparable((await Promise.all(parts)).flat());
  };

  for (const format of formats) {
    test(`${format} is read back equal, and a second run writes what is new`, async (t) => {
      const place = await begin(t);
      const { runWith, listing } = place;
      const command = flags(format, { prefix: format });
      const first = await runWith(env(), ...command);
      assert.equal(first.code, 0, first.stderr);
      const expected = await oracle(place);
      assert.deepEqual(comparable(await readBack(format, format)), expected);
      const written = objectsOf(format).map(([name]) => name);
      assert.equal((await runWith(env(), ...command)).code, 0);
      assert.deepEqual(
        objectsOf(format).map(([name]) => name),
        written,
      );
      listing.rows = [...usualRows, rowAt(Date.now() - hour, 999)];
      const third = await runWith(env(), ...command, '-o', 'json');
      assert.deepEqual([third.code, JSON.parse(third.stdout).inserted], [0, 1]);
      const queries = (await readBack(format, format)).map(({ query }) => String(query)).toSorted();
      assert.deepEqual(queries, expectedQueries(listing.rows, Date.now() - hour / 4));
    });

    test(`${format} that is killed at its requests has each turn once`, async (t) => {
      const place = await begin(t);
      const { runWith, args } = place;
      const host = new URL(service.origin).host;
      const cutRun = async (prefix: string, cut?: Omit<Cut, 'end'>): Promise<CountedRun> => {
        const { promise: isStarted, resolve } = Promise.withResolvers<ReturnType<typeof startProgram>>();
        const end = async (): Promise<void> => {
          const child = await isStarted;
          process.kill(child.pid, 'SIGKILL');
          await child.exited;
        };
        const proxy = await startCutProxy(host, cut === undefined ? undefined : { ...cut, end });
        t.after(() => proxy.close());
        const command = args(...flags(format, { prefix, endpoint: `http://${proxy.host}` }));
        const child = startProgram(process.execPath, { args: command, env: { ...place.env, ...env() } });
        resolve(child);
        const code = await child.exited;
        assert.ok(code === 0 || (code === null && cut !== undefined), child.tail());
        return { isKilled: code === null, pieces: proxy.pieces() };
      };
      const { pieces } = await cutRun(`${format}-counted`);
      assert.ok(pieces > 8, `${pieces} pieces`);
      const expected = await oracle(place);
      for (let kill = 0; kill < kills; kill += 1) {
        const at = Math.floor(((kill + 0.5) * pieces) / kills);
        let prefix = '';
        const { isKilled } = await runUntilKilled(at, pieces, (piece, runs) => {
          prefix = `${format}-killed-${kill}-${runs}`;
          return cutRun(prefix, { at: piece, moment: kill % 2 === 0 ? 'before' : 'after' });
        });
        assert.ok(isKilled, `no run had its piece ${at} of ${pieces}`);
        const { code, stderr } = await runWith(env(), ...flags(format, { prefix }));
        assert.equal(code, 0, stderr);
        assert.deepEqual(
          comparable(await readBack(format, prefix)),
          expected,
          `killed at ${at} of ${pieces}`,
        );
      }
    });
  }

  for (const [name, code, errorCode, message, make] of refusals) {
    test(`${name}: exit ${code}, and the next run has all`, async (t) => {
      const place = await begin(t);
      const prefix = name.replaceAll(' ', '-');
      const bad = await make(service);
      const refused = await place.runWith(env(bad), ...flags('ndjson', { ...bad, prefix }), '-o', 'json');
      const document = JSON.parse(refused.stdout);
      assert.deepEqual([refused.code, document.code], [code, errorCode]);
      assert.match([document.message, ...document.next].join('\n'), message);
      assert.doesNotMatch(document.message, /mirror|Retrying/i);
      const {
        code: exit,
        stdout,
        stderr,
      } = await place.runWith(env(), ...flags('ndjson', { prefix }), '-o', 'json');
      assert.equal(exit, 0, stderr);
      assert.equal(JSON.parse(stdout).inserted, usualRows.length);
      assert.deepEqual(comparable(await readBack('ndjson', prefix)), await oracle(place));
    });
  }

  test('a service that goes down while it is written: exit 5, and the next run goes on', async (t) => {
    const place = await begin(t);
    const { listing, runWith } = place;
    const proxy = await startCutProxy(new URL(service.origin).host);
    t.after(() => proxy.close());
    const prefix = 'outage';
    listing.before = async () => {
      if (existsSync(service.fileOf('talks', prefix))) await proxy.close();
      return undefined;
    };
    const endpoint = `http://${proxy.host}`;
    const stopped = await runWith(env(), ...flags('ndjson', { prefix, endpoint }), '-o', 'json');
    const document = JSON.parse(stopped.stdout);
    assert.deepEqual([stopped.code, document.code, document.retryable], [5, 'Unreachable', true]);
    const before = objectsOf(prefix).length;
    listing.before = async () => undefined;
    const last = await runWith(env(), ...flags('ndjson', { prefix }));
    assert.equal(last.code, 0, last.stderr);
    assert.ok(before > 0 && objectsOf(prefix).length > before);
    assert.deepEqual(comparable(await readBack('ndjson', prefix)), await oracle(place));
  });

  test('without credentials, or with an empty folder of them, nothing is sent: exit 2', async (t) => {
    const { folder, run, listing } = await begin(t);
    const command = [...flags('ndjson', { prefix: 'none' }), '-o', 'json'];
    const missing = await run(...command);
    const { code, message } = JSON.parse(missing.stdout);
    assert.deepEqual([missing.code, code], [2, 'CredentialsMissing']);
    assert.match(message, /--s3-credentials, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY$/);
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    const unreadable = await run(...command, '--s3-credentials', empty);
    assert.deepEqual([unreadable.code, JSON.parse(unreadable.stdout).code], [2, 'InvalidCredentials']);
    assert.doesNotMatch(unreadable.stdout, /mirror/);
    assert.equal(listing.requests, 0);
  });

  test('a folder with a key is enough, and objects of another state stay as they are', async (t) => {
    const place = await begin(t);
    const { folder, run } = place;
    const keys = join(folder, 'keys');
    mkdirSync(keys);
    writeFileSync(join(keys, 'accessKeyId'), `${service.rootKey.accessKeyId}\n`);
    writeFileSync(join(keys, 'secretAccessKey'), `${service.rootKey.secretAccessKey}\n`);
    const command = [...flags('ndjson', { prefix: 'folder' }), '--s3-credentials', keys];
    assert.equal((await run(...command)).code, 0);
    const kept = await readBack('ndjson', 'folder');
    const other = await run(...command, '--state', join(folder, 'another-state'), '-o', 'json');
    assert.deepEqual([other.code, JSON.parse(other.stdout).code], [2, 'DestinationExists']);
    assert.deepEqual(await readBack('ndjson', 'folder'), kept);
  });

  test('a disk that is full where Parquet is merged: exit 9 names --state, and the next run has all', {
    skip: noNamespaces,
  }, async (t) => {
    const place = await begin(t, largeRows);
    const { folder, runWith } = place;
    await withDisk(join(folder, 'disk'), '112k', async (disk) => {
      const state = join(disk.path, 'state');
      const command = [...flags('parquet', { prefix: 'full' }), '--state', state];
      const full = await runWith(env(), ...command, '-o', 'json');
      const { code, message, next } = JSON.parse(full.stdout);
      assert.deepEqual([full.code, code], [9, 'DestinationNotWritten']);
      assert.match([message, ...next].join('\n'), /^--state .*its disk is full\nFree space/);
      assert.equal(existsSync(join(state, 'scratch')), false);
      disk.remount('size=16m');
      const last = await runWith(env(), ...command);
      assert.equal(last.code, 0, last.stderr);
      assert.deepEqual(comparable(await readBack('parquet', 'full')), await oracle(place));
      assert.deepEqual(readdirSync(state), ['conversations.sqlite']);
    });
  });
});
