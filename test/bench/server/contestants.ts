// The servers that are compared, each over the same files and each held to the first core: ours as it is shipped,
// nginx and Caddy as the differential tests set them up, express.static and sirv as their own documentation does.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { compressBeforehand, startCaddy, startNginx } from '../../integration/server/other-servers.ts';
import { type ChildProgram, startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { type OwnBuild, startOurs } from './own-server.ts';

export interface Contestant {
  readonly name: string;
  readonly port: number;
  readonly program: ChildProgram;
}

/** @param root the site as files, which get precompressed variants beside them; its own copy is in the store of `own` */
export async function startAll(
  work: string,
  root: string,
  own: OwnBuild,
  source: readonly string[],
): Promise<readonly Contestant[]> {
  compressBeforehand(root);
  const ours = await startOurs(own, source);
  await ours.untilCompressed();
  const nginx = await startNginx(root, work);
  const caddy = await startCaddy(root, work);
  const all = [nginx, ours, caddy, await overFolder('express.static', root), await overFolder('sirv', root)];
  for (const { program } of all) holdToFirstCore(program);
  return all;
}

export function holdToFirstCore({ pid }: ChildProgram): void {
  execFileSync('taskset', ['-a', '-p', '-c', '0', `${pid}`]);
}

async function overFolder(name: 'express.static' | 'sirv', root: string): Promise<Contestant> {
  const port = await findFreePort();
  const program = startProgram(process.execPath, {
    args: [join(import.meta.dirname, 'folder-server.ts'), name, root, `${port}`],
    env: { NODE_ENV: 'production' },
  });
  await eventually(`${name} answers`, async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    await answer.arrayBuffer();
    return answer.ok ? true : undefined;
  });
  return { name, port, program };
}
