// The servers that are compared, each over the same files and each held to the first core: ours as it is shipped,
// nginx and Caddy as the differential tests set them up, and express.static.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { codeBeforehand, startCaddy, startNginx } from '../../integration/bundle-server/other-servers.ts';
import { type ChildProgram, startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { buildServer } from '../bundle/built-server.ts';

export interface Contestant {
  readonly name: string;
  readonly port: number;
  readonly program: ChildProgram;
}

/** @param archive the site packed; @param root the same site as files, which get coded forms beside them */
export async function startAll(work: string, root: string, archive: string): Promise<readonly Contestant[]> {
  const ours = await startOurs(work, archive);
  codeBeforehand(root);
  const nginx = await startNginx(root, work);
  const caddy = await startCaddy(root, work);
  const expressPort = await findFreePort();
  const express = await answering({
    name: 'express.static',
    port: expressPort,
    program: startProgram(process.execPath, {
      args: [join(import.meta.dirname, 'express-static.ts'), root, `${expressPort}`],
      env: { NODE_ENV: 'production' },
    }),
  });
  const all = [nginx, ours, caddy, express];
  for (const { program } of all) execFileSync('taskset', ['-a', '-p', '-c', '0', `${program.pid}`]);
  return all;
}

async function startOurs(work: string, archive: string): Promise<Contestant> {
  const program = await buildServer(join(work, 'dist'));
  const [port, adminPort] = [await findFreePort(), await findFreePort()];
  const admin = `http://127.0.0.1:${adminPort}`;
  const source = ['--bundle-url', pathToFileURL(archive).href, '--version', 'v1'];
  const ports = ['--listen', `127.0.0.1:${port}`, '--admin-listen', `127.0.0.1:${adminPort}`];
  const budget = ['--memory-budget', '32MiB', '--encoding-cpu', '100'];
  const child = startProgram(process.execPath, {
    args: [program, '--store', join(work, 'store'), ...source, ...ports, ...budget],
  });
  await eventually(
    'the coded forms are served',
    async () => {
      if (child.hasExited()) throw new Error(child.tail());
      return (await (await fetch(`${admin}/status`)).text()).includes('"state":"ready"') ? true : undefined;
    },
    { timeoutMs: 300_000 },
  );
  return { name: 'ours', port, program: child };
}

async function answering(contestant: Contestant): Promise<Contestant> {
  await eventually(`${contestant.name} answers`, async () => {
    const answer = await fetch(`http://127.0.0.1:${contestant.port}/`);
    await answer.arrayBuffer();
    return answer.ok ? true : undefined;
  });
  return contestant;
}
