// Runs the test files named by its patterns, as `node --test` does, with what that lacks: several short files in one
// process (`--share-processes`), one control plane for all processes (`--share-control-plane`), the longest files first, and
// modules that stay compiled between processes and runs. A file in a shared process is a suite of it: its hooks are its own,
// and what fails names it. A process that hangs ends. `--changed REVISION` runs only what a change since then reaches.

import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { run } from 'node:test';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { readDependants, readTestFiles, testsReachedBy } from './changed-products.ts';
import { reportWithCosts } from './failures-reporter.ts';
import { filesLoadedBy } from './import-graph.ts';
import { prepareFor } from './preparations.ts';
import { readCosts } from './test-costs.ts';
import { aloneFiles, longFiles, planProcesses } from './test-processes.ts';

const filesPerProcess = 32;
/** Of a process, in timeouts of one test. */
const processTimeouts = 4;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    concurrency: { type: 'string', default: '2' },
    'share-processes': { type: 'boolean', default: false },
    'share-control-plane': { type: 'boolean', default: false },
    programs: { type: 'string' },
    changed: { type: 'string' },
    'timeout-seconds': { type: 'string', default: '300' },
  },
});
// Of one test. Its process ends later, so that the report names a test that waits without end.
const timeoutMs = Number(values['timeout-seconds']) * 1_000;
const root = resolve(import.meta.dirname, '../..');
// Set where a test starts this program: Node would then run nothing and end with 0.
delete process.env['NODE_TEST_CONTEXT'];
// For kubectl, helm, promtool and the API server: a quarter less CPU time, and more memory.
process.env['GOGC'] ??= '400';
process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules/.cache/compiled-tests');
if (values.programs !== undefined) process.env['PROGRAMS_FOLDER'] = resolve(values.programs);

let files = globSync(positionals);
if (files.length === 0) {
  process.stderr.write(`No test file matches ${positionals.join(' ')}. Correct the pattern.\n`);
  process.exit(2);
}
if (values.changed !== undefined) {
  const changed = pathsChangedSince(values.changed);
  const reached = new Set(testsReachedBy(changed, readTestFiles(root, files), readDependants(root)));
  process.stdout.write(
    `${changed.length} files differ from ${values.changed}; they reach ${reached.size} of ${files.length} test files.\n`,
  );
  files = files.filter((file) => reached.has(file));
  if (files.length === 0) process.exit(0);
}
const processes = planProcesses(files, {
  alone: Object.keys(aloneFiles),
  first: longFiles,
  size: values['share-processes'] ? filesPerProcess : 1,
});

/** Committed or not. */
function pathsChangedSince(revision: string): readonly string[] {
  const git = (...args: readonly string[]): readonly string[] =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
  return [
    ...git('diff', '--name-only', '--no-renames', revision, '--'),
    ...git('ls-files', '--others', '--exclude-standard'),
  ];
}

await prepareFor(files, (line) => void process.stdout.write(`${line}\n`));
const sharing = join(import.meta.dirname, 'shared-control-plane.ts');
const isShared = values['share-control-plane'] && filesLoadedBy(files).has(sharing);
const controlPlane = isShared ? await startControlPlane() : undefined;
const folder = await mkdtemp(join(tmpdir(), 'test-processes-'));
const urlOf = (file: string): string => JSON.stringify(pathToFileURL(resolve(file)));
const suiteOf = (file: string, index: number): string => `
suite(${JSON.stringify(file)}, () => {
  before(() => begin(${index}));
  return import(${urlOf(file)});
});`;
const programOf = (group: readonly string[]): string => `
import { before, suite } from 'node:test';
import { endProcessAfter } from ${urlOf(join(import.meta.dirname, 'process-deadline.ts'))};
import { recordCosts } from ${urlOf(join(import.meta.dirname, 'test-costs.ts'))};
const count = recordCosts(${JSON.stringify(folder)}, ${JSON.stringify(group)});
const guard = endProcessAfter(${timeoutMs * processTimeouts}, ${JSON.stringify(group)});
const begin = (index) => (count(index), guard(index));
${group.length === 1 ? `await import(${urlOf(group[0] ?? '')});` : group.map(suiteOf).join('\n')}
`;

/** @returns `undefined` where it cannot start: the tests that need it fail, and the others run */
async function startControlPlane() {
  const { startSharedControlPlane } = await import('./shared-control-plane.ts');
  return await startSharedControlPlane().catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`The shared control plane did not start, and the tests that need it fail. ${why}\n`);
    process.exitCode = 1;
    return undefined;
  });
}

const entries = await Promise.all(
  processes.map(async (group, index) => {
    const others = group.length === 1 ? '' : `-and-${group.length - 1}-more`;
    const entry = join(folder, `${index}-${basename(group[0] ?? '', '.test.ts')}${others}.mjs`);
    await writeFile(entry, programOf(group));
    return entry;
  }),
);
const events = run({
  files: entries,
  concurrency: Number(values.concurrency),
  execArgv: [`--test-timeout=${timeoutMs}`],
});
events.on('test:summary', ({ success }) => {
  if (!success) process.exitCode = 1;
});
events
  .compose(reportWithCosts(() => readCosts(folder)))
  .on('close', () => {
    void rm(folder, { recursive: true, force: true });
    void controlPlane?.stop();
  })
  .pipe(process.stdout);
