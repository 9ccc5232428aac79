// Ours as it is shipped: built once, its store filled beforehand, then started as often as a measurement wants.
// The precompressed variants are made here, at the usual priority and by the product's own code. The server makes them at
// a low one, so that a busy machine would delay the measurement.

import { dirname, join } from 'node:path';
import { z } from 'zod';
import { bundleFolder } from '#bundle/store/store-layout.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { prepareVariants } from '#server/variants/variant-making.ts';
import { startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { buildServer } from '../bundle/built-server.ts';
import type { Contestant } from './contestants.ts';

export interface OwnBuild {
  readonly program: string;
  readonly store: string;
}

export interface OwnServer extends Contestant {
  /** Resolves once the precompressed variants are served. */
  untilCompressed(timeoutMs?: number): Promise<void>;
  readonly swaps: () => Promise<number>;
}

/** Fills the store by `source` and codes it. @param source flags that name the archive */
export async function buildOurs(work: string, source: readonly string[]): Promise<OwnBuild> {
  const own = { program: buildServer(join(work, 'dist')), store: join(work, 'store') };
  const server = await startOurs(own, [...source, '--encodings', 'none']);
  // A page is answered before the disk has stored what it is of.
  const { digest } = await eventually('the bundle is in the store', async () => {
    const { source, active } = await server.status();
    return source.state === 'in-sync' ? active : undefined;
  });
  await server.program.stop();
  const folder = bundleFolder(own.store, digest);
  const task = { folder, digest, encodings: ['br', 'gzip'] as const, cpuPercent: 100, maxBytes: 2 ** 33 };
  await prepareVariants(task, systemClock);
  return own;
}

const statusShape = z.object({
  active: z.object({ digest: z.string() }),
  source: z.object({ state: z.string() }),
  swaps: z.number(),
  encodings: z.object({ state: z.string() }),
});
type Status = z.infer<typeof statusShape>;

/** Resolves at the first page that is answered. */
export async function startOurs(
  { program, store }: OwnBuild,
  flags: readonly string[],
): Promise<OwnServer & { readonly status: () => Promise<Status> }> {
  const [port, adminPort] = [await findFreePort(), await findFreePort()];
  const ports = ['--listen', `127.0.0.1:${port}`, '--admin-listen', `127.0.0.1:${adminPort}`];
  const quick = ['--log-level', 'warn', '--drain-linger', '0s'];
  const child = startProgram(process.execPath, {
    args: [program, '--store', store, ...ports, ...quick, ...flags],
    // As the image sets it; what V8 compiled is there after the first start has ended, in the image from the beginning.
    env: {
      NODE_ENV: 'production',
      MALLOC_ARENA_MAX: '1',
      NODE_COMPILE_CACHE: join(dirname(program), 'compiled'),
    },
  });
  const alive = (): void => {
    if (child.hasExited()) throw new Error(child.tail());
  };
  const status = async (): Promise<Status> =>
    statusShape.parse(await (await fetch(`http://127.0.0.1:${adminPort}/status`)).json());
  await eventually(
    'a page is answered',
    async () => {
      alive();
      const answer = await fetch(`http://127.0.0.1:${port}/`);
      await answer.arrayBuffer();
      return answer.ok ? true : undefined;
    },
    { timeoutMs: 60_000, everyMs: 5 },
  );
  return {
    name: 'ours',
    port,
    program: child,
    status,
    swaps: async () => (await status()).swaps,
    untilCompressed: async (timeoutMs = 120_000) => {
      await eventually(
        'the precompressed variants are served',
        async () => {
          alive();
          const { state } = (await status()).encodings;
          if (state === 'failed') throw new Error(child.tail());
          return state === 'ready' ? true : undefined;
        },
        { timeoutMs },
      );
    },
  };
}
