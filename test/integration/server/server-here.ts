// The bundle server in the process of the test, with the threads of the real program. For tests of what servers do together or
// over HTTP. A program of its own starts with ten times the CPU time; tests of kills, signals and memory need it.

import assert from 'node:assert/strict';
import process from 'node:process';
import { afterEach, beforeEach } from 'node:test';
import { systemClock } from '#platform/runtime/clock.ts';
import { readInvocation } from '#platform/runtime/flags/flags.ts';
import { createLogger } from '#platform/runtime/logger.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import { runBundleServer } from '#server/bundle-server.ts';
import { bundleServer } from '#server/server-flags.ts';
import type { ChildProgram } from '../../support/child-program.ts';
import { workerFile } from '../../support/program-file.ts';
import { bundleDocument, makeArchive, type SiteContent } from './archive.ts';
import { type LinkServer, startLinkServer } from './link-server.ts';
import { prepareSite, type ServedSite } from './served-site.ts';

const workers = {
  check: workerFile('check'),
  bundle: workerFile('bundle'),
  mcp: workerFile('mcp'),
  mirror: workerFile('mirror'),
  variant: workerFile('variant'),
};

/** Every signal ends it as SIGTERM does, and at once. */
function startHere(args: readonly string[], onLine: (line: string) => void): ChildProgram {
  const invocation = readInvocation(
    bundleServer,
    '0',
    [...args, '--drain-linger=0s', '--drain-grace=0s'],
    {},
  );
  assert.ok(invocation.outcome === 'run', 'the flags are valid');
  const lines: string[] = [];
  const logger = createLogger('info', (line) => {
    lines.push(line.trimEnd());
    onLine(line.trimEnd());
  });
  const shutdown = new AbortController();
  let hasExited = false;
  const end = (code: number): number => {
    hasExited = true;
    return code;
  };
  const context = { clock: systemClock, random: systemRandom, logger, shutdown: shutdown.signal };
  const exited = runBundleServer(invocation.values, context, workers).then(
    () => end(0),
    (error: unknown) => {
      logger.error({ error }, 'the server ends');
      return end(1);
    },
  );
  return {
    pid: process.pid,
    tail: () => lines.slice(-40).join('\n'),
    hasExited: () => hasExited,
    exited,
    stop: async () => {
      shutdown.abort();
      await exited;
    },
  };
}

export const prepareSiteHere = (): Promise<ServedSite> => prepareSite(undefined, startHere);

/** What `siteForEachTest` gives; of the test that runs. */
export interface SiteOfTest {
  readonly links: LinkServer;
  /** Not started yet when a test begins. */
  readonly served: ServedSite;
  publish(version: string, content: SiteContent, basePath?: string): Promise<void>;
}

/** A link server and a bundle server, new for each test of the file. */
export function siteForEachTest(): SiteOfTest {
  let open: Pick<SiteOfTest, 'links' | 'served'> | undefined;
  const opened = (): Pick<SiteOfTest, 'links' | 'served'> => open ?? assert.fail('no test runs');
  beforeEach(async () => {
    open = { links: await startLinkServer(), served: await prepareSiteHere() };
  });
  afterEach(async () => {
    const { links, served } = opened();
    await served.remove();
    await links.close();
  });
  return {
    get links() {
      return opened().links;
    },
    get served() {
      return opened().served;
    },
    publish: async (version, content, basePath) => {
      const { links, served } = opened();
      links.put(version, await makeArchive(content));
      const named = basePath === undefined ? {} : { basePath };
      await served.mount(bundleDocument({ version, link: links.link(version), ...named }));
    },
  };
}
