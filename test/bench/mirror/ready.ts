// A server with an empty disk, from the start of its process to its first page: from a copy in a registry and in a bucket, and
// from a `file:` link to the very same bytes. The built program, by turns.
//
//   node test/bench/mirror/ready.ts [--rounds 9] [--seconds 120]

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { startProgram } from '../../support/child-program.ts';
import { startDockerRegistry } from '../../support/docker-registry.ts';
import { findFreePort } from '../../support/free-port.ts';
import { startVersitygw } from '../../support/versitygw.ts';
import { buildServer } from '../bundle/built-server.ts';
import { packMadeSite } from '../bundle/made-site.ts';
import { measureByTurns, printMeasured, processorMsOf, type Spent, timed } from '../bundle/measure.ts';
import { layerFile, type MirroredSite, mirrorSite, openAccess } from './mirrored-site.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, seconds: { type: 'string', default: '120' } },
});
const names = { link: 'file: link', http: 'http: link', registry: 'registry', bucket: 'bucket' };
const goal = 1.1;

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-mirror-'));
  const [registry, service] = await Promise.all([startDockerRegistry(), startVersitygw()]);
  try {
    await service.createBucket('docs');
    const program = buildServer(join(folder, 'program'));
    const archive = packMadeSite(folder);
    const { accessKeyId, secretAccessKey } = service.rootKey;
    const key = { accessKeyId: Buffer.from(accessKeyId), secretAccessKey: Buffer.from(secretAccessKey) };
    const bucketAccess = { ...openAccess, endpoint: service.origin, secret: { name: 'root', data: key } };
    const inBucket = { address: 's3://docs/site', access: bucketAccess };
    const inRegistry = { address: `oci://${registry.host}/docs/site`, access: openAccess };
    const bucket = await mirrorSite(archive, inBucket, join(folder, 'bucket'));
    const oci = await mirrorSite(archive, inRegistry, join(folder, 'registry'));
    const layer = layerFile(join(folder, 'registry'));
    const secret = join(folder, 'secret');
    mkdirSync(secret);
    for (const [name, bytes] of Object.entries(key)) writeFileSync(join(secret, name), bytes);
    const start = (flags: readonly string[]) => timeReady(program, join(folder, 'store'), flags);
    const link = ['--bundle-url', pathToFileURL(layer).href, '--version', 'bench'];
    const blob = `http://${registry.host}/v2/docs/site/blobs/${oci.layerDigest}`;
    const httpLink = ['--bundle-url', blob, '--version', 'bench'];
    const mirrorFlags = ['--allow-private-mirror', '--allow-http-mirror'];
    const flagsOf = ({ ref, digest }: MirroredSite) => [
      '--bundle-ref',
      ref,
      '--digest',
      digest,
      ...mirrorFlags,
    ];
    const bucketFlags = [
      '--mirror-credentials',
      secret,
      '--mirror-endpoint',
      service.origin,
      '--mirror-path-style',
    ];
    const contestants = [
      { name: names.link, run: () => start(link) },
      { name: names.http, run: () => start([...httpLink, '--allow-private-links']) },
      { name: names.registry, run: () => start(flagsOf(oci)) },
      { name: names.bucket, run: () => start([...flagsOf(bucket), ...bucketFlags]) },
    ];
    // What V8 compiled is kept by the first start of each.
    for (const { run } of contestants) await run();
    readFileSync(layer);
    const measured = await measureByTurns(contestants, Number(values.rounds), Number(values.seconds) * 1000);
    printMeasured(`made site, layer of ${(oci.layerBytes / 1e6).toFixed(1)} MB`, measured);
    const clockOf = (name: string) => measured.find((one) => one.name === name)?.clockMs ?? Number.NaN;
    for (const mirror of [names.registry, names.bucket]) {
      const ratio = clockOf(mirror) / clockOf(names.link);
      const verdict = ratio <= goal ? 'met    ' : 'NOT MET';
      console.log(`  ${verdict} ${mirror} → ready ≤ ${goal} × file: link: ${ratio.toFixed(2)}`);
    }
  } finally {
    await registry.close();
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The time of the processor is the program's, up to its first page. */
async function timeReady(program: string, store: string, flags: readonly string[]): Promise<Spent> {
  rmSync(store, { recursive: true, force: true });
  mkdirSync(store);
  const [port, adminPort] = [await findFreePort(), await findFreePort()];
  const ports = ['--listen', `127.0.0.1:${port}`, '--admin-listen', `127.0.0.1:${adminPort}`];
  const quick = ['--encodings', 'none', '--drain-linger', '0s', '--log-level', 'warn'];
  let server: ReturnType<typeof startProgram> | undefined;
  const { clockMs } = await timed(async () => {
    const child = startProgram(process.execPath, {
      args: [program, '--store', store, ...ports, ...quick, ...flags],
      // As in the image.
      env: {
        ...{ NODE_ENV: 'production', MALLOC_ARENA_MAX: '1' },
        NODE_COMPILE_CACHE: join(dirname(program), 'compiled'),
      },
    });
    server = child;
    while (!(await isServed(port))) {
      if (child.hasExited()) throw new Error(child.tail());
      // Asking oftener would slow down the start that it measures.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  });
  const processorMs = server === undefined ? Number.NaN : processorMsOf(server.pid);
  await server?.stop();
  return { clockMs, processorMs };
}

function isServed(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/`).then(
    async (answer) => (await answer.bytes()).length > 0 && answer.status === 200,
    () => false,
  );
}

await main();
