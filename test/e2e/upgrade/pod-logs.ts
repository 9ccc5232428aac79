// What the pods of both charts log at level error or fatal, and how often their containers were started again. A pod that is
// followed is read to its end, so that an upgrade does not take its last lines away.

import type { ChildProgram } from '../../support/child-program.ts';
import { findClusterTools } from '../../support/cluster-tools.ts';
import type { TestNodes } from '../../support/node/node.ts';
import { countRestarts, kubectl, listPods } from '../../support/node/pods.ts';

export interface PodLogs {
  /** From now on the pods of these namespaces are followed, each from its first line. @returns how many are new */
  follow(namespaces: readonly string[]): Promise<number>;
  /** Lines at level error or fatal, with the pod that wrote each. */
  readonly errors: () => readonly string[];
  /** Lines of any level. */
  readonly count: () => number;
  stop(): Promise<void>;
}

export async function createPodLogs(nodes: TestNodes): Promise<PodLogs> {
  const tools = await findClusterTools();
  const followers = new Map<string, ChildProgram>();
  const errors: string[] = [];
  let count = 0;
  const followPod = (namespace: string, pod: string): ChildProgram =>
    nodes.start([tools.kubectl, 'logs', pod, `--namespace=${namespace}`, '--follow', '--all-containers'], {
      env: { KUBECONFIG: nodes.kubeconfig },
      onLine: (line) => {
        count += 1;
        if (/^\{"level":"(?:error|fatal)"/.test(line)) errors.push(`${pod}: ${line}`);
      },
    });
  return {
    follow: async (namespaces) => {
      const before = followers.size;
      for (const namespace of namespaces) {
        const each = '--output=jsonpath={range .items[*]}{.metadata.uid} {.metadata.name}{"\\n"}{end}';
        const found = await kubectl(nodes, ['get', 'pods', `--namespace=${namespace}`, each]);
        for (const line of found.split('\n').filter((one) => one !== '')) {
          // The next pod of a StatefulSet has the name of the one before.
          const [uid = '', pod = ''] = line.split(' ');
          if (!followers.has(uid)) followers.set(uid, followPod(namespace, pod));
        }
      }
      return followers.size - before;
    },
    errors: () => errors,
    count: () => count,
    stop: async () => {
      for (const follower of followers.values()) await follower.stop('SIGKILL');
    },
  };
}

/** Names of the pods with a container that was started again. */
export async function restartedPods(
  nodes: TestNodes,
  namespaces: readonly string[],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const namespace of namespaces) {
    for (const pod of await listPods(nodes, namespace, '')) {
      if ((await countRestarts(nodes, { namespace, pod })) > 0) found.push(`${namespace}/${pod}`);
    }
  }
  return found;
}
