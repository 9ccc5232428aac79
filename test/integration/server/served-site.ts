// The real program as a child process, with a folder of its own and the document mounted as kubelet mounts it.

import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { activationFiles } from '#bundle/store/store-layout.ts';
import { type ChildProgram, startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { programFile } from '../../support/program-file.ts';
import { seeText } from '../../support/secret-watch.ts';

const program = programFile('bundle-server');

/** What the tests read of `/status`; a field that goes missing fails them all. */
const statusShape = z.object({
  active: z
    .object({
      version: z.string().nullable(),
      digest: z.string(),
      files: z.number(),
      activatedAt: z.iso.datetime(),
    })
    .nullable(),
  previous: z.array(z.object({ version: z.string().nullable() })),
  swaps: z.number(),
  encodings: z.object({ state: z.string() }),
  search: z.object({ state: z.string(), files: z.number(), pages: z.number(), sizeBytes: z.number() }),
  markdown: z.object({
    state: z.string(),
    files: z.number(),
    pages: z.number(),
    sizeBytes: z.number(),
    leftOutPages: z.number(),
  }),
  source: z.object({
    kind: z.enum(['disk', 'peer', 'mirror', 'link']).nullable(),
    state: z.string(),
    reason: z.string(),
    published: z
      .object({
        version: z.string().nullable(),
        linkIssuedAt: z.string().nullable(),
        linkExpiresAt: z.string().nullable(),
      })
      .nullable(),
    lastError: z.object({ code: z.string(), message: z.string(), at: z.string() }).nullable(),
    retryAt: z.string().nullable(),
  }),
  lastCheckedAt: z.string().nullable(),
});
export type Status = z.infer<typeof statusShape>;

type WaitOptions = Parameters<typeof eventually>[2];

export interface ServedSite {
  readonly folder: string;
  readonly store: string;
  readonly site: string;
  readonly admin: string;
  readonly port: number;
  /** Everything written so far by every run, for what must not be in it. */
  readonly output: () => string;
  readonly child: () => ChildProgram;
  start(...flags: readonly string[]): Promise<void>;
  /** Replaces the mounted document; `undefined` takes it away. */
  mount(document: string | undefined): Promise<void>;
  status(): Promise<Status>;
  /** Text of the admin port. */
  page(path: string): Promise<string>;
  /** Waits until the status is as wanted. */
  until(what: string, isWanted: (status: Status) => boolean, options?: WaitOptions): Promise<Status>;
  /** Waits for a line of the log: it may come after what it tells, and through another pipe than an answer. */
  said(line: RegExp, options?: WaitOptions): Promise<void>;
  /** Waits until what is served is written down: before, a restart would rightly fetch it again. */
  settle(): Promise<void>;
  /** Kills it, once what it serves is written down. */
  kill(): Promise<void>;
  remove(): Promise<void>;
}

/** The real program, in a process of its own. */
const startProcess = (args: readonly string[], onLine: (line: string) => void): ChildProgram =>
  startProgram(process.execPath, { args: [program, ...args], onLine });

/** @param startServer starts a server with these flags; it calls back with each line of its log */
export async function prepareSite(store?: string, startServer = startProcess): Promise<ServedSite> {
  const folder = await mkdtemp(join(tmpdir(), 'bundle-server-'));
  const storeDir = store ?? join(folder, 'store');
  const [port, adminPort] = [await findFreePort(), await findFreePort()];
  const admin = `http://127.0.0.1:${adminPort}`;
  const lines: string[] = [];
  let child: ChildProgram | undefined;
  let revision = 0;
  await mkdir(join(folder, 'mounted'));
  // As the kubelet: a reader between two revisions comes to the file by this.
  await symlink('..data/bundle.json', join(folder, 'mounted/bundle.json'));

  const pageOf = async (path: string): Promise<string> => {
    const text = await (await fetch(`${admin}${path}`)).text();
    seeText(`${path} of the bundle server`, text);
    return text;
  };
  const status = async (): Promise<Status> => statusShape.parse(JSON.parse(await pageOf('/status')));
  const requireChild = (): ChildProgram => {
    if (child === undefined) throw new Error('the program was not started');
    return child;
  };
  const settle = async (): Promise<void> => {
    const { active } = await status();
    await eventually('what is served is written down', async () => {
      for (const path of activationFiles(storeDir)) {
        const text = await readFile(path, 'utf8');
        if (active === null || !text.startsWith(`[{"digest":"${active.digest}"`)) return undefined;
      }
      return true;
    });
  };
  return {
    folder,
    store: storeDir,
    site: `http://127.0.0.1:${port}`,
    admin,
    port,
    output: () => lines.join('\n'),
    child: requireChild,
    start: async (...flags) => {
      const source = flags.some((flag) => flag.startsWith('--bundle-url') || flag.startsWith('--bundle-ref'))
        ? []
        : ['--bundle-file', join(folder, 'mounted/bundle.json')];
      child = startServer(
        [
          ...source,
          ...[
            '--store',
            storeDir,
            '--listen',
            `127.0.0.1:${port}`,
            '--admin-listen',
            `127.0.0.1:${adminPort}`,
          ],
          ...['--poll-interval', '50ms', '--drain-linger', '100ms', '--allow-private-links', ...flags],
        ],
        (line) => {
          seeText('the log of the bundle server', line);
          lines.push(line);
        },
      );
      const started = child;
      await eventually('the admin port answers', async () => {
        if (started.hasExited()) throw new Error(`the program ended: ${started.tail()}`);
        return (await fetch(`${admin}/livez`)).ok ? true : undefined;
      });
    },
    mount: async (document) => {
      revision += 1;
      const mounted = join(folder, 'mounted');
      await mkdir(join(mounted, `..r${revision}`));
      if (document !== undefined) await writeFile(join(mounted, `..r${revision}`, 'bundle.json'), document);
      await symlink(`..r${revision}`, join(mounted, '..data_tmp'));
      await rename(join(mounted, '..data_tmp'), join(mounted, '..data'));
      await rm(join(mounted, `..r${revision - 1}`), { recursive: true, force: true });
    },
    status,
    page: pageOf,
    until: (what, isWanted, options) =>
      eventually(
        what,
        async () => {
          const seen = await status();
          if (isWanted(seen)) return seen;
          throw new Error(JSON.stringify(seen));
        },
        options,
      ),
    said: async (line, options) => {
      const isSaid = () => (line.test(lines.join('\n')) ? true : undefined);
      await eventually(`the log says ${line}`, isSaid, options);
    },
    settle,
    kill: async () => {
      await settle();
      await requireChild().stop('SIGKILL');
    },
    remove: async () => {
      await child?.stop('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
