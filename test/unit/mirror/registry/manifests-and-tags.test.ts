// Manifests, tags and deletes, where a registry answers oddly or another client writes at the same time.

import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type { StorageAnswer } from '../../../support/storage-server.ts';
import {
  blobOf,
  bodyOf,
  closeOpened,
  faultOf,
  linesOf,
  login,
  never,
  refuse,
  startRegistry,
} from './scripted-registry.ts';

afterEach(closeOpened);

const manifest = Buffer.from('{"schemaVersion":2}');
const other = Buffer.from('{"schemaVersion":2,"layers":[]}');
const { digest } = blobOf(manifest);
const mediaType = 'application/vnd.oci.image.manifest.v1+json';
const limit = { timeout: 30_000 };

describe('reading a manifest', () => {
  test('returns its bytes, and accepts every type of manifest', async () => {
    const { carrier, requests } = await startRegistry((_request, response) => response.end(manifest));
    assert.deepEqual(await carrier.readManifest('v1', never), manifest);
    assert.deepEqual(await carrier.readManifest(digest, never), manifest);
    assert.deepEqual(linesOf(requests), ['GET manifests/v1', `GET manifests/${digest}`]);
    assert.match(requests[0]?.headers.accept ?? '', /oci\.image\.manifest.*oci\.image\.index.*docker/);
    assert.equal(requests[0]?.headers['user-agent'], 'static-export-operator/test');
  });

  test('returns nothing for a tag, a repository and a registry that do not know it', async () => {
    for (const code of ['MANIFEST_UNKNOWN', 'NAME_UNKNOWN', '']) {
      const { carrier } = await startRegistry((_request, response) => refuse(response, 404, code));
      assert.equal(await carrier.readManifest('v1', never), undefined);
    }
  });

  test('refuses other bytes than its digest names, whatever the registry says of them', async () => {
    const { carrier } = await startRegistry((_request, response) =>
      response.writeHead(200, { 'docker-content-digest': digest }).end(other),
    );
    await faultOf(carrier.readManifest(digest, never), 'BlobDamaged');
    assert.deepEqual(await carrier.readManifest('v1', never), other);
  });

  test('ends an endless one after 4 MiB', limit, async () => {
    let ended: Promise<unknown> | undefined;
    const { carrier } = await startRegistry((_request, response) => {
      ended = new Promise((resolve) => response.once('close', resolve));
      const piece = Buffer.alloc(64 * 1024, 32);
      const feed = (): void => {
        while (response.write(piece));
      };
      response.on('drain', feed);
      feed();
    });
    const fault = await faultOf(carrier.readManifest('v1', never), 'NotARegistry');
    assert.match(fault.message, /more than 4194304 bytes/);
    await ended;
  });

  test('refuses a page, such as a sign-in', async () => {
    const { carrier } = await startRegistry((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<p>secret'),
    );
    await faultOf(carrier.readManifest('v1', never), 'NotARegistry');
  });

  for (const reference of [
    '',
    '../x',
    'a/b',
    '-x',
    'sha256:abc',
    `sha256:${'A'.repeat(64)}`,
    'a'.repeat(129),
    'a?b',
  ]) {
    test(`sends nothing for the reference ${JSON.stringify(reference.slice(0, 12))}`, async () => {
      const { carrier, requests } = await startRegistry((_request, response) => response.end(manifest));
      await faultOf(carrier.readManifest(reference, never), 'InvalidReference');
      await faultOf(carrier.hasBlob({ mediaType, digest: reference, size: 1 }, never), 'InvalidReference');
      assert.equal(requests.length, 0);
    });
  }
});

/** A registry with one tag, which another client may write before or after a PUT. */
function tagged(held: {
  bytes: Buffer | undefined;
  before?: Buffer;
  after?: Buffer;
  status?: number;
}): StorageAnswer {
  return (request, response) => {
    if (request.method === 'GET') {
      if (held.bytes === undefined) refuse(response, 404, 'MANIFEST_UNKNOWN');
      else response.end(held.bytes);
      return;
    }
    void bodyOf(request).then((body) => {
      if (held.status === undefined) held.bytes = held.after ?? body;
      else if (held.before !== undefined) held.bytes = held.before;
      response.writeHead(held.status ?? 201).end();
    });
  };
}

describe('writing a manifest', () => {
  test('reads the tag, writes it and reads it back', async () => {
    const held = { bytes: undefined };
    const { carrier, requests } = await startRegistry(tagged(held));
    await carrier.writeManifest('v1', mediaType, manifest, never);
    assert.deepEqual(held.bytes, manifest);
    assert.deepEqual(linesOf(requests), ['GET manifests/v1', 'PUT manifests/v1', 'GET manifests/v1']);
    assert.equal(requests[1]?.headers['content-type'], mediaType);
    assert.equal(requests[1]?.headers['content-length'], String(manifest.length));
  });

  test('does nothing where the tag names the same bytes', async () => {
    const { carrier, requests } = await startRegistry(tagged({ bytes: manifest }));
    await carrier.writeManifest('v1', mediaType, manifest, never);
    assert.deepEqual(linesOf(requests), ['GET manifests/v1']);
  });

  test('leaves a tag of other content as it is', async () => {
    const { carrier, requests } = await startRegistry(tagged({ bytes: other }));
    const fault = await faultOf(carrier.writeManifest('v1', mediaType, manifest, never), 'TagOccupied');
    assert.match(fault.message, /^The tag v1 of oci:\/\/127\.0\.0\.1:\d+\/docs\/site names other content\./);
    assert.deepEqual(linesOf(requests), ['GET manifests/v1']);
  });

  test('fails where another client wrote the tag after it', async () => {
    const { carrier } = await startRegistry(tagged({ bytes: undefined, after: other }));
    await faultOf(carrier.writeManifest('v1', mediaType, manifest, never), 'TagOccupied');
  });

  for (const status of [400, 409, 412]) {
    test(`fails where an immutable tag was written before it (${status})`, async () => {
      const { carrier } = await startRegistry(tagged({ bytes: undefined, before: other, status }));
      await faultOf(carrier.writeManifest('v1', mediaType, manifest, never), 'TagOccupied');
    });

    test(`is done where another client wrote the same bytes before it (${status})`, async () => {
      const { carrier } = await startRegistry(tagged({ bytes: undefined, before: manifest, status }));
      await carrier.writeManifest('v1', mediaType, manifest, never);
    });
  }

  test('is done where its answer was lost', async () => {
    const held: { bytes: Buffer | undefined } = { bytes: undefined };
    const answer = tagged(held);
    const { carrier, requests } = await startRegistry((request, response, count) => {
      if (request.method !== 'PUT') return answer(request, response, count);
      void bodyOf(request).then((body) => {
        held.bytes = body;
        response.destroy();
      });
    });
    await carrier.writeManifest('v1', mediaType, manifest, never);
    assert.deepEqual(linesOf(requests), ['GET manifests/v1', 'PUT manifests/v1', 'GET manifests/v1']);
  });

  test('fails for now where the registry does not show the tag', async () => {
    const { carrier, pauses } = await startRegistry((request, response) => {
      if (request.method === 'GET') refuse(response, 404, 'MANIFEST_UNKNOWN');
      else response.writeHead(201).end();
    });
    const fault = await faultOf(carrier.writeManifest('v1', mediaType, manifest, never), 'Unreachable');
    assert.ok(fault.isTemporary);
    assert.deepEqual(pauses, [1000, 2000, 4000]);
  });

  for (const [status, code, expected] of [
    [404, 'NAME_UNKNOWN', 'RepositoryMissing'],
    [404, 'MANIFEST_BLOB_UNKNOWN', 'BlobMissing'],
    [400, 'BLOB_UNKNOWN', 'BlobMissing'],
    [400, 'MANIFEST_INVALID', 'FormatRefused'],
    [412, 'PROJECTPOLICYVIOLATION', 'Refused'],
    [405, 'UNSUPPORTED', 'Denied'],
    [413, 'SIZE_INVALID', 'Denied'],
    [403, 'DENIED', 'Denied'],
  ] as const) {
    test(`a refusal with ${status} ${code} is ${expected}`, async () => {
      const { carrier } = await startRegistry((request, response) => {
        if (request.method === 'GET') refuse(response, 404, 'MANIFEST_UNKNOWN');
        else refuse(response, status, code);
      });
      const fault = await faultOf(carrier.writeManifest('v1', mediaType, manifest, never), expected);
      assert.ok(!fault.isTemporary);
    });
  }
});

/** As the products answer, with the words by which a fault is told from another. */
const dialects = [
  ['Harbor, quota', 403, 'DENIED', 'will exceed the configured upper limit of 100.0 MiB.', 'QuotaExceeded'],
  ['GitLab, quota', 403, 'DENIED', 'the namespace storage limit has been reached', 'QuotaExceeded'],
  ['Quay, quota', 403, 'DENIED', 'Quota has been exceeded on namespace', 'QuotaExceeded'],
  ['a full disk', 500, 'UNKNOWN', 'write /data: no space left on device', 'QuotaExceeded'],
  ['ECR, images of a repository', 403, 'LimitExceededException', '', 'QuotaExceeded'],
  ['Harbor, immutable', 412, 'PRECONDITION', "'docs/site:v1' configured as immutable", 'Protected'],
  ['ECR, immutable', 400, 'TAG_INVALID', 'because the tag is immutable', 'Protected'],
  ['Harbor, read only', 403, 'DENIED', 'The system is in read only mode', 'Denied'],
  ['GitLab, a permission alone', 403, 'DENIED', 'robot-retention may not push', 'Denied'],
  ['a manifest of zstd', 400, 'MANIFEST_INVALID', 'unknown media type', 'FormatRefused'],
  ['a code of tomorrow', 403, 'SIGNATURE_REQUIRED', '', 'Refused'],
  ['a secret in place of a code', 403, 'hunter2-of-the-registry', '', 'Denied'],
] as const;

describe('a refusal in the words of a product', () => {
  const zstd = Buffer.from('{"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar+zstd"}]}');
  for (const [name, status, code, words, expected] of dialects) {
    test(`${name}: ${status} ${code} is ${expected}`, async () => {
      const { carrier } = await startRegistry(
        (request, response) => {
          if (request.method === 'GET') refuse(response, 404, 'MANIFEST_UNKNOWN');
          else refuse(response, status, code, words);
        },
        { credentials: login },
      );
      const { message } = await faultOf(carrier.writeManifest('v1', mediaType, zstd, never), expected);
      assert.doesNotMatch(message, /credentials are not valid/);
      assert.equal(message.includes(`${status} (${code})`), !code.includes('-'), message);
      assert.equal(message.includes('Set compression: Gzip'), expected === 'FormatRefused', message);
    });
  }
});

describe('listing tags', () => {
  const page = (tags: unknown): string => JSON.stringify({ name: 'docs/site', tags });

  test('follows pages by their Link, and leaves out what is not a tag', async () => {
    const { carrier, requests } = await startRegistry((_request, response, count) => {
      const links = ['</v2/docs/site/tags/list?last=b&n=1000>; rel="next"', '<?last=c>; a=b; rel=next', ''];
      const tags = [['a', 'b'], ['c', 'b', '../x', 'a\u202eb'], null];
      response.writeHead(200, count < 3 ? { link: links[count - 1] ?? '' } : {}).end(page(tags[count - 1]));
    });
    assert.deepEqual(await carrier.listTags(never), ['a', 'b', 'c']);
    assert.deepEqual(linesOf(requests), [
      'GET tags/list?n=1000',
      'GET tags/list?last=b&n=1000',
      'GET tags/list?last=c',
    ]);
  });

  test('of a repository that does not exist are none', async () => {
    const { carrier } = await startRegistry((_request, response) => refuse(response, 404, 'NAME_UNKNOWN'));
    assert.deepEqual(await carrier.listTags(never), []);
  });

  test('refuses to continue on another host', async () => {
    const elsewhere = await startRegistry((_request, response) => response.end(page(['x'])));
    const link = `<http://${elsewhere.host}/v2/docs/site/tags/list>; rel="next"`;
    const { carrier } = await startRegistry((_request, response) =>
      response.writeHead(200, { link }).end(page(['a'])),
    );
    await faultOf(carrier.listTags(never), 'NotARegistry');
    assert.equal(elsewhere.requests.length, 0);
  });

  test('ends endless pages', limit, async () => {
    const link = '</v2/docs/site/tags/list?n=1000>; rel="next"';
    const { carrier, requests } = await startRegistry((_request, response) =>
      response.writeHead(200, { link }).end(page(['a'])),
    );
    await faultOf(carrier.listTags(never), 'NotARegistry');
    assert.equal(requests.length, 200);
  });

  test('ends at more than 10000 tags', async () => {
    const tags = Array.from({ length: 10_001 }, (_, at) => `v${at}`);
    const { carrier } = await startRegistry((_request, response) => response.end(page(tags)));
    const fault = await faultOf(carrier.listTags(never), 'NotARegistry');
    assert.match(fault.message, /Use a repository for bundles only\.$/);
  });

  for (const [name, body] of [
    ['a page', '<html>'],
    ['other JSON', '[]'],
    ['tags that are not texts', '{"tags":[1]}'],
    ['JSON of more than 512 KiB', `{"tags":[${'"a",'.repeat(131_072)}"a"]}`],
  ] as const) {
    test(`refuses ${name}`, async () => {
      const { carrier } = await startRegistry((_request, response) => response.end(body));
      await faultOf(carrier.listTags(never), 'NotARegistry');
    });
  }
});

describe('removing a tag', () => {
  /** A registry with one tag. A delete by digest may leave it. */
  function removing(
    refusal?: readonly [number, string],
    keepsTags = false,
    isRemovedMeanwhile = false,
  ): StorageAnswer {
    let isTagged = true;
    return (request, response) => {
      if (request.method === 'GET') {
        if (isTagged) response.end(manifest);
        else refuse(response, 404, 'MANIFEST_UNKNOWN');
        return;
      }
      if (isRemovedMeanwhile) isTagged = false;
      if (refusal !== undefined) return refuse(response, ...refusal);
      isTagged = keepsTags && request.url?.endsWith(digest) === true;
      response.writeHead(202).end();
    };
  }

  test('deletes the manifest that it names, by digest', async () => {
    const { carrier, requests } = await startRegistry(removing());
    await carrier.removeTag('v1', never);
    assert.deepEqual(linesOf(requests), [
      'GET manifests/v1',
      `DELETE manifests/${digest}`,
      'GET manifests/v1',
    ]);
  });

  test('deletes the tag too, where the registry keeps it', async () => {
    const { carrier, requests } = await startRegistry(removing(undefined, true));
    await carrier.removeTag('v1', never);
    assert.equal(linesOf(requests).at(-2), 'DELETE manifests/v1');
    assert.equal(await carrier.readManifest('v1', never), undefined);
  });

  test('is done where there is none, or another client removed it meanwhile', async () => {
    const absent = await startRegistry((_request, response) => refuse(response, 404, 'MANIFEST_UNKNOWN'));
    await absent.carrier.removeTag('v1', never);
    assert.equal(absent.requests.length, 1);
    const gone = await startRegistry(removing([404, 'MANIFEST_UNKNOWN'], false, true));
    await gone.carrier.removeTag('v1', never);
  });

  for (const refusal of [
    [405, 'UNSUPPORTED'],
    [400, 'UNSUPPORTED'],
    [405, ''],
    // The tag is still there, so nothing was removed.
    [404, 'MANIFEST_UNKNOWN'],
  ] as const) {
    test(`says what to do where the registry allows no deletes: ${refusal.join(' ')}`, async () => {
      const { carrier } = await startRegistry(removing(refusal));
      const fault = await faultOf(carrier.removeTag('v1', never), 'Denied');
      assert.match(fault.message, / for a delete of docs\/site\. Enable deletes in the registry/);
    });
  }

  test('names the permission that is missing', async () => {
    const { carrier } = await startRegistry(removing([403, 'DENIED']));
    const fault = await faultOf(carrier.removeTag('v1', never), 'Denied');
    assert.match(fault.message, /returned 403 \(DENIED\) for docs\/site: .*may remove \(pull,push,delete\)/);
  });

  test('deletes the tag first where the registry refuses to delete what a tag names, as those of Google', async () => {
    let isTagged = true;
    const { carrier, requests } = await startRegistry((request, response) => {
      const isDigest = request.url?.endsWith(digest) === true;
      if (request.method === 'GET' && isTagged) response.end(manifest);
      else if (request.method === 'GET') refuse(response, 404, 'MANIFEST_UNKNOWN');
      else if (isDigest && isTagged) refuse(response, 400, 'GOOGLE_MANIFEST_DANGLING_TAG');
      else {
        isTagged &&= isDigest;
        response.writeHead(202).end();
      }
    });
    await carrier.removeTag('v1', never);
    const deletes = linesOf(requests).filter((line) => line.startsWith('DELETE'));
    assert.deepEqual(
      deletes.map((line) => line.slice('DELETE manifests/'.length)),
      [digest, 'v1', digest],
    );
  });

  test('fails where deletes are accepted, and the tag stays', async () => {
    const { carrier } = await startRegistry((request, response) =>
      request.method === 'GET' ? response.end(manifest) : response.writeHead(202).end(),
    );
    const fault = await faultOf(carrier.removeTag('v1', never), 'Unreachable');
    assert.match(fault.message, /accepted a delete, and still shows the tag/);
  });
});
