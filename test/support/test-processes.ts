// Which test files share a process. Neighbours do, because they load the same modules. Every file is in exactly one
// process, and a file that changes or measures its whole process is alone in one.

/** Files of unit tests and of the simulation that share no process, each with the reason. */
export const aloneFiles: Readonly<Record<string, string>> = {
  'test/unit/linear-readers.test.ts':
    'its inputs fill a gigabyte of memory; 11 s, because a shorter text shows no reader that is not linear',
  'test/unit/export-service/crawler/reading-bounds.test.ts':
    'its inputs fill 700 megabytes of memory; 11 s, because each limit is 200,000 references',
  'test/unit/fuzz/hostile-tenant.test.ts': 'its inputs fill two gigabytes of memory',
  'test/unit/operator/kube/transport/transport.test.ts': 'listens for unhandled rejections of its process',
  'test/simulation/rule-mutations.test.ts': 'loads the modules of the product 144 times',
  'test/unit/bundle/archive/memory.test.ts': 'measures the memory of its process',
  'test/unit/platform/wire/retry-after.test.ts': 'sets the time zone of its process',
  'test/unit/operator/kube/transport/connection.test.ts': 'changes HOME and KUBECONFIG of its process',
  'test/unit/operator/kube/transport/connection-pool.test.ts': 'replaces setTimeout of its process',
};

/** Files that take longest by the clock. They start first, so that none of them runs on alone at the end. */
export const longFiles: readonly string[] = [
  'test/e2e/promise.test.ts',
  'test/e2e/air-gap.test.ts',
  'test/e2e/upgrade.test.ts',
  'test/gitops/flux.test.ts',
  'test/gitops/argocd.test.ts',
  'test/gitops/argocd-health.test.ts',
  'test/gitops/flux-health.test.ts',
  'test/charts/agreement.test.ts',
  'test/integration/operator/git-targets.test.ts',
  'test/integration/operator/published.test.ts',
  'test/integration/operator/kills.test.ts',
  'test/integration/operator/replicas.test.ts',
  'test/integration/cli/cluster.test.ts',
  'test/integration/cli/run-git.test.ts',
  'test/integration/cli/package.test.ts',
  'test/integration/cli/doctor.test.ts',
  'test/integration/operator/expired-token.test.ts',
  'test/integration/operator/side-by-side.test.ts',
  'test/integration/operator/mirrored-targets.test.ts',
  'test/integration/cli/completion.test.ts',
  'test/integration/cli/conversation-buckets.test.ts',
  'test/integration/charts/static-export-site.test.ts',
  'test/integration/charts/releases.test.ts',
  'test/integration/charts/static-export-operator.test.ts',
  'test/integration/cli/faults.test.ts',
  'test/integration/operator/lease-connection.test.ts',
  'test/integration/operator/webhook/receiver.test.ts',
  'test/integration/operator/webhook/burst.test.ts',
  'test/integration/operator/frozen-leader.test.ts',
];

export interface ProcessPlan {
  /** Files that share no process. */
  readonly alone: readonly string[];
  /** Files that start first, in this order. */
  readonly first: readonly string[];
  /** How many files share a process at most. */
  readonly size: number;
}

/** @returns the files of each process, in the order in which the processes start */
export function planProcesses(
  files: readonly string[],
  { alone, first, size }: ProcessPlan,
): readonly (readonly string[])[] {
  const sorted = [...new Set(files)].sort();
  const shared = sorted.filter((file) => !alone.includes(file));
  const groups = Array.from({ length: Math.ceil(shared.length / size) }, (_, index) =>
    shared.slice(index * size, (index + 1) * size),
  );
  const rank = (group: readonly string[]): number =>
    Math.min(...group.map((file) => (first.includes(file) ? first.indexOf(file) : first.length)));
  return [...sorted.filter((file) => alone.includes(file)).map((file) => [file]), ...groups].sort(
    (one, other) => rank(one) - rank(other),
  );
}
