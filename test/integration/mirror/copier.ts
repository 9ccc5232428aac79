// The services' port of mirrors with its real threads, for tests that copy a bundle from a link: one site, one link, and
// what becomes of a copy as data. Each failure is checked: a sentence with a remedy, and no credentials or link in it.
// Nothing that a thread prints may hold them either, and no work folder is left.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, mock, test } from 'node:test';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { defaultLimits } from '#bundle/limits.ts';
import type { CopyOrder, Inspection, MirrorPlace } from '#operator/loop/ports.ts';
import { type ExternalServices, openExternalServices } from '#operator/services/external-services.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import { type DockerRegistry, startDockerRegistry } from '../../support/docker-registry.ts';
import { type MemorySite, memoryBundle } from '../../support/memory-bundle.ts';
import { noise } from '../../support/noise.ts';
import { workerFile } from '../../support/program-file.ts';
import { declareSecret, seeText } from '../../support/secret-watch.ts';
import { type Storage, type StorageAnswer, signature, startStorage } from '../../support/storage-server.ts';
import { tarOf } from '../../support/tar-builder.ts';

export const never = new AbortController().signal;
/** Part of every password, key and token here. */
export const secretWord = declareSecret('a password', 'hunter2word');
declareSecret('a link', signature);

const site: MemorySite = {
  'index.html': '<h1>home</h1>',
  'guides/start.html': '<h1>start</h1>',
  // No compression makes it smaller.
  'assets/photo.jpg': noise(600_000),
  '.well-known/hidden.txt': 'hidden',
};
const { digest, pages, sizeBytes } = memoryBundle(site).index;
/** What every copy must find, whatever its mirror does. */
export const inspection: Inspection = { digest, pages, sizeBytes, notes: [] };

export const owner = { namespace: 'docs', name: 'site', uid: 'uid-1', isExclusive: false };

export const secretOf = (data: Readonly<Record<string, string>>): NonNullable<MirrorPlace['secret']> => ({
  name: 'mirror',
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text)])),
});

export interface RegistryWithCopier {
  readonly registry: DockerRegistry;
  /** It may call the registry. */
  readonly copier: Copier;
  readonly place: MirrorPlace;
}

/** A registry with a login, and what copies this site to it. Both end with the suite. */
export async function openRegistryWithCopier(content: MemorySite): Promise<RegistryWithCopier> {
  const registry = await startDockerRegistry({ users: { docs: secretWord } });
  const copier = await openCopier(content);
  copier.allow(registry.host);
  after(async () => {
    await copier.close();
    await registry.close();
  });
  const secret = secretOf({ username: 'docs', password: secretWord });
  const place: MirrorPlace = {
    ...{ address: `oci://${registry.host}/docs/site`, endpoint: undefined, region: 'us-east-1' },
    ...{ pathStyle: false, secret, owner },
  };
  return { registry, copier, place };
}

export interface Refusal {
  /** Before the download, or after an inspection that succeeded. */
  readonly moment: 'before' | 'after';
  readonly code: string;
  readonly message: string;
  readonly retryAfterMs: number | undefined;
}

export interface Copier {
  readonly mirrors: ExternalServices['mirrors'];
  /** Of all threads. */
  readonly workFolder: string;
  /** Whatever becomes of it. */
  attempt(place: MirrorPlace, change?: Partial<CopyOrder>): ReturnType<ExternalServices['mirrors']['copy']>;
  /** Lets a host be called over plain HTTP. */
  allow(host: string): void;
  /** @returns the reference of the copy */
  copy(place: MirrorPlace, change?: Partial<CopyOrder>): Promise<string>;
  refused(place: MirrorPlace, change?: Partial<CopyOrder>): Promise<Refusal>;
  /** The copy is the whole content, is found again, and is written once. */
  assertCopied(place: MirrorPlace): Promise<void>;
  /** Starts a mirror whose answers a test writes. @returns host and port */
  script(answer: StorageAnswer): Promise<string>;
  /** Fails where a thread printed anything secret, or left a work folder. */
  close(): Promise<void>;
}

/**
 * Sets the work folder of the process.
 *
 * @param content of the archive; with another one, only `attempt` says what is found
 */
export async function openCopier(content: MemorySite = site): Promise<Copier> {
  const workFolder = mkdtempSync(join(tmpdir(), 'copy-from-link-'));
  process.env['TMPDIR'] = workFolder;
  const output = [process.stdout, process.stderr].map((stream) => mock.method(stream, 'write'));
  const scripted: Storage[] = [];
  const archive = gzipSync(tarOf(content));
  const links = await startStorage((_request, response) => response.end(archive));
  const allowedHosts: string[] = [];
  const services = await openExternalServices(
    {
      extraCaFile: undefined,
      ...{ allowPrivateLinks: true, requestTimeoutMs: 5_000, callsAtOnce: 4 },
      ...{ maxArchiveBytes: defaultLimits.maxArchiveBytes, maxBundleBytes: defaultLimits.maxTotalBytes },
      proxy: { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined },
      ...{ bundleWorker: workerFile('bundle'), valuesWorker: workerFile('values') },
      mirrorWorker: workerFile('mirror'),
      mirrors: { allowedHosts, allowPrivateHosts: true, defaultMirror: undefined },
    },
    { clock: systemClock, random: systemRandom, logger: silentLogger },
  );
  const { mirrors } = services;
  const start = (place: MirrorPlace, change: Partial<CopyOrder> = {}) => {
    const version = { compression: 'Zstd', versionStamp: '20260131-120000' } as const;
    const order = {
      ...version,
      isRequired: true,
      repair: undefined,
      expectedDigest: undefined,
      ...change,
      place,
    };
    return mirrors.copy(links.link(), order, never);
  };
  const checked = (moment: Refusal['moment'], failure: Omit<Refusal, 'moment'>): Refusal => {
    assertSentences(failure.message);
    seeText('a refusal', inspect(failure, { depth: 12 }));
    const { code, message, retryAfterMs } = failure;
    return { moment, code, message, retryAfterMs };
  };
  const allow = (host: string): void => void allowedHosts.push(`http://${host}`);
  const copy: Copier['copy'] = async (place, change) => {
    const { copy: result, ...found } = await start(place, change);
    assert.ok(result.kind === 'copied', JSON.stringify(result));
    assert.deepEqual(found, inspection);
    return result.ref;
  };
  return {
    ...{ mirrors, workFolder, allow, copy, attempt: start },
    refused: async (place, change) => {
      const downloads = links.requests.length;
      const { copy: failed, ...found } = await start(place, change);
      assert.ok(failed.kind === 'failed', 'the copy should have failed');
      if (links.requests.length === downloads) return checked('before', failed.failure);
      assert.deepEqual(found, inspection, 'the inspection is not lost');
      assert.equal(links.requests.length, downloads + 1, 'the archive was downloaded once');
      return checked('after', failed.failure);
    },
    assertCopied: async (place) => {
      const ref = await copy(place);
      assert.deepEqual(await mirrors.verify(place, ref, digest, never), inspection);
      const look = await mirrors.look(place, { ref, digest }, { listed: [], expired: [], known: [] }, never);
      assert.equal(look.isThere, true);
      assert.equal(await copy(place, { compression: 'Gzip' }), ref);
    },
    script: async (answer) => {
      const server = await startStorage(answer);
      scripted.push(server);
      const { host } = new URL(server.origin);
      allow(host);
      return host;
    },
    close: async () => {
      await services.close();
      for (const server of [links, ...scripted]) await server.close();
      try {
        const calls = output.flatMap(({ mock: { calls: all } }) => all);
        seeText('the output', calls.map(({ arguments: [text] }) => String(text)).join(''));
        assert.deepEqual(readdirSync(workFolder), []);
      } finally {
        rmSync(workFolder, { recursive: true, force: true });
      }
    },
  };
}

/** What a refusal is expected to be, and the place that refuses. */
export type RefusalRow = readonly [
  name: string,
  moment: Refusal['moment'],
  code: string,
  message: RegExp,
  place: () => MirrorPlace | Promise<MirrorPlace>,
  retryAfterMs?: number,
];

export function testRefusals(copierOf: () => Copier, rows: readonly RefusalRow[]): void {
  for (const [name, moment, code, message, place, retryAfterMs] of rows) {
    test(`${name} is ${code} ${moment} the download`, async () => {
      const refusal = await copierOf().refused(await place());
      assert.deepEqual([refusal.moment, refusal.code], [moment, code], refusal.message);
      assert.match(refusal.message, message);
      assert.equal(refusal.retryAfterMs, retryAfterMs);
    });
  }
}

function assertSentences(message: string): void {
  assert.match(message, /^[A-Z][^\n]*\.$/, 'a sentence');
  assert.doesNotMatch(message, /\?/, 'no query');
  for (const sentence of message.split(/(?<=\.) /)) {
    assert.ok(sentence.split(' ').length <= 26, sentence);
  }
}
