// The extended tests: heavy, and of parts that change rarely. A group depends on what its tests load (dependencies.ts) and on
// what it names here: programs that it starts, and files that it reads. CI runs a group when the contents of these differ from
// those of its last green run, which the group itself records in green.json.

export interface Group {
  /** What it shows, for the list of groups. */
  readonly shows: string;
  /** Folders and files of the repository that no import leads to. */
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
    dependsOn: ['src/conversations', 'src/cli', 'src/export-api', 'src/bin/tap-static-export.ts'],
  },
  spreadsheet: {
    shows: "LibreOffice Calc runs no formula of a visitor's question",
    dependsOn: ['src/conversations', 'src/cli', 'src/export-api'],
  },
  krew: {
    shows: 'krew installs the package, and kubectl runs it',
    dependsOn: [
      'packaging',
      'package.json',
      '.ci',
      'src/cli',
      'src/platform/runtime',
      'src/bin/static-export.ts',
    ],
  },
  release: {
    shows:
      'two clones of one commit make the same release: package, charts, image of both platforms, bills and sums',
    dependsOn: [
      ...['packaging', 'charts', 'crds', 'package.json', 'CHANGELOG.md', 'Dockerfile', '.ci'],
      ...['src', 'test/support/image'],
    ],
  },
  tekton: {
    shows: "Tekton's own validation accepts the task",
    dependsOn: ['examples/pipelines'],
  },
  workflows: {
    shows: 'actionlint accepts the workflows of this project, with their expressions and scripts',
    dependsOn: ['.github'],
  },
  minisign: {
    shows: 'kits are signed with keys that a passphrase encrypts',
    dependsOn: ['src/mirror/kit', 'src/cli/kit'],
  },
  kills: {
    shows: 'commands, crawls, copies and servers that are killed at any moment go on without a loss',
    dependsOn: [
      ...[
        'src/bin',
        'src/bundle',
        'src/cli',
        'src/conversations',
        'src/export-api',
        'src/export-service',
        'src/operator/loop',
        'src/mirror',
      ],
      ...['src/operator/reconcile', 'src/server', 'src/site'],
    ],
  },
  month: {
    shows: 'thirty days behind an air gap, with real servers, a real registry and two visitors',
    dependsOn: ['src/bin', 'src/bundle', 'src/cli', 'src/mirror', 'src/platform/runtime', 'src/server'],
  },
  browsers: {
    shows: 'sites of Next.js and VitePress stay alive in a browser while the server swaps',
    dependsOn: [
      'src/bin',
      'src/bundle',
      'src/server',
      'test/support/next-site',
      'test/support/vitepress-site',
    ],
  },
  portable: {
    shows:
      'portable sites of four generators work from a disk in Chromium: no error, no broken link, tabs and menus',
    dependsOn: [
      ...['src/bin', 'src/bundle', 'src/cli', 'src/server', 'src/site', 'test/fixtures/sites'],
      ...['test/support/next-site', 'test/support/vitepress-site'],
    ],
  },
  'in-browser': {
    shows: 'bundle check and an export say what the pages of a site do in a real Chromium',
    dependsOn: ['src/bin', 'src/bundle', 'src/cli', 'src/export-service', 'src/server', 'src/site'],
  },
  corpora: {
    shows: 'sites of nine generators, exported and visited without a network, show what their origins show',
    dependsOn: ['src/bin', 'src/bundle', 'src/export-service', 'src/server', 'src/site'],
  },
  search: {
    shows:
      'the search of a site in Chromium: keyboard, screen readers, dead boxes, nine generators, a disk, a swap',
    dependsOn: ['src/bin', 'src/bundle', 'src/cli', 'src/export-service', 'src/server', 'src/site'],
  },
  agreement: {
    shows: 'the operator and a running server give each archive the same verdict',
    dependsOn: ['src/bin', 'src/bundle', 'src/server', 'test/unit/bundle/cases'],
  },
  fuzz: {
    shows:
      'random requests, calls of agents, pipelines and archives get what the rules allow; both settings of the fast path answer alike',
    dependsOn: ['src/bin', 'src/bundle', 'src/platform/runtime', 'src/server', 'src/site'],
    files: [
      'test/integration/server/differential.test.ts',
      'test/integration/server/conformance/conformance.test.ts',
      'test/integration/server/conformance/fields.test.ts',
    ],
    env: { CONFORMANCE_SETTINGS: 'both' },
    commands: [
      ['test/fuzz/archives.ts', '--cases', '20000'],
      ['test/fuzz/pipelines.ts', '--count', '30000'],
    ],
  },
  'node-24': {
    shows: 'the programs, the demo and eight folders of unit tests run on Node 24',
    dependsOn: ['tsconfig.json', '.ci', 'src', 'test/unit'],
  },
  'hostile-tenant': {
    shows: 'one hostile tenant of an operator harms no other, and learns no secret',
    dependsOn: [
      ...[
        'src/bin',
        'src/bundle',
        'src/export-api',
        'src/operator/git',
        'src/operator/kube',
        'src/operator/loop',
        'src/mirror',
        'src/operator',
      ],
      ...[
        'src/operator/reconcile',
        'src/operator/services',
        'src/operator/staticexport',
        'src/operator/targets',
        'charts/static-export-operator',
        'crds',
      ],
    ],
  },
  'large-objects': {
    shows: 'a watch of large objects stays within its memory',
    dependsOn: ['src/bin', 'src/operator/kube', 'src/operator', 'crds'],
  },
  campaign: {
    shows: 'random lives of a resource over years of virtual time keep every rule',
    dependsOn: ['test/simulation'],
    files: [
      ...['test/simulation/crashes.test.ts', 'test/simulation/campaign.test.ts'],
      'test/unit/conversations/estimate.test.ts',
    ],
    env: { SIMULATION_CRASHES: 'all', SIMULATION_RUNS: '30', ESTIMATE_LISTINGS: '2' },
    commands: [['test/simulation/campaign.ts', '--days', '60', '--minutes', '6', '--jobs', '2']],
  },
  'demo-cluster': {
    shows: 'the demo with a real API server: every claim holds',
    dependsOn: ['src', 'charts', 'crds'],
    commands: [['test/demo/demo.ts', '--once']],
  },
} as const satisfies Readonly<Record<string, Group>>;

export type GroupName = keyof typeof groups;
