// The extended tests: heavy, and of parts that change rarely. Each group names what it depends on. CI runs a group when the
// contents of these differ from those of its last green run, which the group itself records in green.json.

export interface Group {
  /** What it shows, for the list of groups. */
  readonly shows: string;
  /** Folders and files of the repository; its own folder counts too. */
  readonly dependsOn: readonly string[];
  /** Programs that it starts, each with its arguments, in place of the test files of its folder. */
  readonly commands?: readonly (readonly string[])[];
  /** Further test files that it runs, with `env` set. */
  readonly files?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export const groups = {
  tables: {
    shows: 'DuckDB, pandas, pyarrow, a Singer target and Meltano read exported conversations',
    dependsOn: [
      ...['src/conversations', 'src/cli/conversations', 'src/bin/tap-static-export.ts'],
      'test/extended/payloads.ts',
    ],
  },
  spreadsheet: {
    shows: "LibreOffice Calc runs no formula of a visitor's question",
    dependsOn: ['src/conversations', 'src/cli/conversations', 'test/extended/payloads.ts'],
  },
  krew: {
    shows: 'krew installs the package, and kubectl runs it',
    dependsOn: ['packaging', 'src/cli/commands', 'src/bin/static-export.ts'],
  },
  tekton: {
    shows: "Tekton's own validation accepts the task",
    dependsOn: ['examples/pipelines'],
  },
  minisign: {
    shows: 'kits are signed with keys that a passphrase encrypts',
    dependsOn: ['src/mirror/kit', 'src/cli/kit'],
  },
  kills: {
    shows: 'commands, copies and servers that are killed at any moment go on without a loss',
    dependsOn: [
      ...['src/cli/export', 'src/cli/folder', 'src/cli/conversations', 'src/conversations', 'src/loop'],
      ...['src/bundle/store', 'src/mirror'],
    ],
  },
  month: {
    shows: 'thirty days behind an air gap, with real servers, a real registry and two visitors',
    dependsOn: ['src/site', 'src/bundle', 'src/mirror'],
  },
  browsers: {
    shows: 'sites of Next.js and VitePress stay alive in a browser while the server swaps',
    dependsOn: [
      ...['src/site', 'src/bundle'],
      ...['test/support/next-site', 'test/support/vitepress-site', 'test/support/browser.ts'],
    ],
  },
  agreement: {
    shows: 'the operator and a running server give each archive the same verdict',
    dependsOn: ['src/bundle', 'src/site', 'test/unit/bundle/cases'],
  },
  fuzz: {
    shows: 'random requests get answers that the rules of HTTP allow',
    dependsOn: ['src/site', 'src/runtime/http'],
  },
  'node-24': {
    shows: 'the programs, the demo and nine folders of unit tests run on Node 24',
    dependsOn: [
      ...['package-lock.json', 'tsconfig.json', '.ci/bundle.ts'],
      ...['src/bin', 'src/bundle', 'src/runtime', 'src/site'],
    ],
  },
  'hostile-tenant': {
    shows: 'one hostile tenant of an operator harms no other, and learns no secret',
    dependsOn: [
      ...['src/operator', 'src/kube', 'src/loop', 'src/staticexport', 'src/reconcile', 'src/services'],
      ...['charts/static-export-operator', 'test/fuzz'],
    ],
  },
  'large-objects': {
    shows: 'a watch of large objects stays within its memory',
    dependsOn: ['src/kube', 'src/operator/watch'],
  },
  campaign: {
    shows: 'random lives of a resource over years of virtual time keep every rule',
    dependsOn: ['src/reconcile', 'src/loop', 'src/conversations', 'test/simulation'],
    files: [
      ...['test/simulation/crashes.test.ts', 'test/simulation/campaign.test.ts'],
      'test/unit/conversations/estimate.test.ts',
    ],
    env: { SIMULATION_CRASHES: 'all', SIMULATION_RUNS: '30', ESTIMATE_LISTINGS: '2' },
    commands: [['test/simulation/campaign.ts', '--days', '60', '--minutes', '6', '--jobs', '2']],
  },
  'demo-cluster': {
    shows: 'the demo with a real API server: every claim holds',
    dependsOn: ['test/demo', 'src/operator', 'src/site'],
    commands: [['test/demo/demo.ts', '--once']],
  },
} as const satisfies Readonly<Record<string, Group>>;

export type GroupName = keyof typeof groups;
