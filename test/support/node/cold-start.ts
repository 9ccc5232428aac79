// How long a program of an image takes from the order to run its container to its first answer with 200, by the node's
// own container runtime: no scheduler, no image to fetch, no probe's period in between. Owns that nothing of the
// container is left.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { TestNodes } from './node.ts';

export interface ColdStart {
  readonly image: string;
  /** The program and its flags. Sees the node's network, and `folder` as /data; its root is read-only. */
  readonly args: readonly string[];
  /** Of this machine. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Asked until it answers with 200. */
  readonly url: string;
}

/** What the image's own configuration says (test/e2e/image.test.ts); the runtime's tool forgets it over arguments. */
const entrypoint = ['/nodejs/bin/node', '/app/entrypoint.mjs'];
const starter = join(import.meta.dirname, 'cold-starter.ts');
const answerShape = z.object({ readyMs: z.number() });

/** @throws Error with what was heard last when it is not ready within a minute */
export async function measureColdStart(nodes: TestNodes, start: ColdStart): Promise<number> {
  const [node = ''] = nodes.names;
  const control = ['ctr', '--address', join(nodes.folder, node, 'containerd.sock'), '--namespace', 'k8s.io'];
  const id = 'cold-start';
  const options = [
    '--detach',
    '--null-io',
    '--net-host',
    '--read-only',
    `--cgroup=/${nodes.cgroups.get(node)}/${id}`,
    `--mount=type=bind,src=${start.folder},dst=/data,options=rbind:rw`,
    ...Object.entries(start.env ?? {}).map(([name, value]) => `--env=${name}=${value}`),
  ];
  const run = [...control, 'run', ...options, start.image, id, ...entrypoint, ...start.args];
  try {
    const order = JSON.stringify({ run, url: start.url });
    const { code, stdout, stderr } = await nodes.run([process.execPath, starter, order], {
      timeoutMs: 300_000,
    });
    if (code !== 0) throw new Error(`${start.args.join(' ')} did not start:\n${stderr}`);
    return answerShape.parse(JSON.parse(stdout)).readyMs;
  } finally {
    await nodes.run([...control, 'task', 'kill', '--signal', 'SIGKILL', id]);
    for (let isGone = false; !isGone; await sleep(50)) {
      isGone = (await nodes.run([...control, 'task', 'rm', id])).code === 0;
      isGone ||= !(await nodes.run([...control, 'task', 'ls', '--quiet'])).stdout.split('\n').includes(id);
    }
    await nodes.run([...control, 'container', 'rm', id]);
  }
}
