// Copies from a link to a real S3 service through the operator's own port and threads, and each refusal or outage: its code
// and remedy, and that neither the inspection nor an earlier copy is lost. Answers that the service does not give come from a
// scripted server.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { MirrorPlace } from '#operator/loop/ports.ts';
import { damageFile } from '../../support/docker-registry.ts';
import { findFreePort } from '../../support/free-port.ts';
import { noS3, startVersitygw, type Versitygw } from '../../support/versitygw.ts';
import {
  type Copier,
  inspection,
  never,
  openCopier,
  owner,
  secretOf,
  secretWord,
  testRefusals,
} from './copier.ts';
import { asOtherClient, assertForeignIsKept, foreignWrites, layerOf } from './other-client.ts';

const { digest } = inspection;

suite('a copy from a link to a bucket', { skip: noS3 }, () => {
  let copier: Copier;
  let service: Versitygw;
  let site: MirrorPlace;
  let first: string;

  const s3 = (address: string, change: Partial<MirrorPlace> = {}): MirrorPlace => {
    const { accessKeyId, secretAccessKey } = service.rootKey;
    const secret = secretOf({ accessKeyId, secretAccessKey });
    const place = { address, endpoint: service.origin, region: 'us-east-1', pathStyle: true };
    return { ...place, owner, secret, ...change };
  };
  /** A service that refuses everything. */
  const refusing = async (status: number, code: string, headers = {}): Promise<MirrorPlace> => {
    const host = await copier.script((_request, response) => {
      const text = `<Error><Code>${code}</Code><Message>${secretWord}</Message></Error>`;
      response.writeHead(status, { 'content-type': 'application/xml', ...headers }).end(text);
    });
    const session = {
      accessKeyId: 'AKIATEST',
      secretAccessKey: `${secretWord}-key`,
      sessionToken: secretWord,
    };
    return s3('s3://docs/site', { endpoint: `http://${host}`, secret: secretOf(session) });
  };

  before(async () => {
    copier = await openCopier();
    service = await startVersitygw();
    copier.allow(new URL(service.origin).host);
    await service.createBucket('docs');
    site = s3('s3://docs/site');
    first = await copier.copy(site);
  });
  after(async () => {
    await service?.close();
    await copier?.close();
  });

  test('is whole, is found again, and is written once', () => copier.assertCopied(site));

  testRefusals(
    () => copier,
    [
      [
        ...([
          'a wrong key',
          'before',
          'Denied',
          /403 \(SignatureDoesNotMatch\)\. Check the access key/,
        ] as const),
        () => {
          const { accessKeyId } = service.rootKey;
          return s3('s3://docs/site', {
            secret: secretOf({ accessKeyId, secretAccessKey: `${secretWord}-wrong` }),
          });
        },
      ],
      [
        ...([
          'an expired token',
          'before',
          'Denied',
          /\(ExpiredToken\)\. The session token has expired/,
        ] as const),
        () => refusing(400, 'ExpiredToken'),
      ],
      [
        ...([
          'a key that may only read',
          'after',
          'Denied',
          /\(AccessDenied\).* it may do s3:PutObject/,
        ] as const),
        async () => {
          const { accessKeyId, secretAccessKey } = await service.createReader('docs');
          return s3('s3://docs/other', { secret: secretOf({ accessKeyId, secretAccessKey }) });
        },
      ],
      [
        ...([
          'a bucket that is missing',
          'before',
          'RepositoryMissing',
          /\(NoSuchBucket\).* Create it/,
        ] as const),
        () => s3('s3://missing/site'),
      ],
      [
        ...([
          'a bucket of another region',
          'before',
          'WrongRegion',
          /Set the region to us-east-1\.$/,
        ] as const),
        () => s3('s3://docs/site', { region: 'eu-west-1' }),
      ],
      [
        ...([
          'a clock that the service refuses',
          'before',
          'ClockSkewed',
          /Set this machine's clock/,
        ] as const),
        () => refusing(403, 'RequestTimeTooSkewed'),
      ],
      [
        ...(['503 with Retry-After', 'before', 'Unreachable', /returned 503 \(SlowDown\)\.$/] as const),
        () => refusing(503, 'SlowDown', { 'retry-after': '120' }),
        120_000,
      ],
      [
        ...(['a service that is down', 'before', 'Unreachable', /\(ECONNREFUSED\)/] as const),
        async () => {
          const host = `127.0.0.1:${await findFreePort()}`;
          copier.allow(host);
          return s3('s3://docs/site', { endpoint: `http://${host}` });
        },
      ],
    ],
  );

  for (const [name, write] of foreignWrites) {
    test(`a tag of ${name.replace('-', ' ')} is refused, and stays as it is`, () =>
      assertForeignIsKept(copier, s3(`s3://docs/${name}`), write));
  }

  test('a damaged blob is named, and copied again once its tag is removed', async () => {
    const place = s3('s3://docs/damaged');
    const ref = await copier.copy(place);
    const file = service.fileOf(
      'docs',
      `damaged/blobs/sha256/${(await layerOf(place)).slice('sha256:'.length)}`,
    );
    await damageFile(file);
    const refusal = await copier.refused(place);
    assert.deepEqual([refusal.moment, refusal.code], ['after', 'BlobDamaged']);
    await assert.rejects(copier.mirrors.verify(place, ref, digest, never));
    await asOtherClient(place, (carrier) => carrier.removeTag(digest, never));
    await copier.assertCopied(place);
  });

  test('the first copy is still whole', async () => {
    assert.deepEqual(await copier.mirrors.verify(site, first, digest, never), inspection);
    assert.equal(await copier.copy(site), first);
  });
});
