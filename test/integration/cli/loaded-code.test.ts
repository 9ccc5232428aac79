// Each command loads only its own code. The client of a cluster costs 1.5 MB and 0.3 s, so no command without a cluster can
// reach it, whatever it does; and `--help` loads no command's work. Shown by the graph of a build, and by what Node loads.

import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build, type Metafile, stop } from 'esbuild';
import { commandSections } from '#bin/static-export-commands.ts';
import { mustRun } from '../../support/command.ts';
import { importedPath } from '../../support/import-graph.ts';

const root = resolve(import.meta.dirname, '../../..');
const program = 'src/bin/static-export.ts';
/** What the program always loads. */
const frame = 'src/cli/run-cli.ts';
const definitions = 'src/bin/static-export-commands.ts';
const clusterClient = /node_modules\/@kubernetes\/client-node\//;

let outputs: Metafile['outputs'];

before(async () => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [program, 'src/bin/demo-worker.ts'],
    ...{ bundle: true, splitting: true, metafile: true, write: false, outdir: 'unused' },
    ...{ format: 'esm', platform: 'node', target: 'node24', logLevel: 'error' },
    external: ['bufferutil', 'utf-8-validate', 'supports-color'],
  });
  ({ outputs } = metafile);
});
after(() => stop());

/** The pieces that a piece needs at its start, or with `dynamic` can ever load. */
function reach(name: string, dynamic: boolean, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const { path, kind, external } of outputs[name]?.imports ?? [])
    if (external !== true && (kind === 'import-statement' || dynamic)) reach(path, dynamic, seen);
  return seen;
}

const sourcesOf = (pieces: Iterable<string>): readonly string[] =>
  [...pieces].flatMap((name) =>
    Object.entries(outputs[name]?.inputs ?? {}).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [path] : [],
    ),
  );

function pieceOf(source: string): string {
  const [name] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === source) ?? [];
  return name ?? assert.fail(`no piece of the build begins with ${source}`);
}

const definition = /words: '([^']+)',(?:(?!words: ')[\s\S])*?import\('([^']+)'\)/g;

/** The file with the work of each command, as its definition loads it. */
function worksOf(): ReadonlyMap<string, string> {
  const works = globSync(join(root, 'src/{cli,conversations}/**/*commands.ts')).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(definition)].map(
      ([, words = '', work = '']) => [words, relative(root, importedPath(file, work))] as const,
    ),
  );
  return new Map(works);
}

const isolated = commandSections.filter(({ title }) => title !== 'With a cluster');

/** It loads the client where `--bundle` is `sx/NAME`. */
const mayLoadClient: ReadonlySet<string> = new Set(['conversations gaps']);

for (const { words } of isolated.flatMap(({ commands }) => commands)) {
  test(`${words} ${mayLoadClient.has(words) ? 'begins without' : 'cannot reach'} the client of a cluster`, () => {
    const work = worksOf().get(words) ?? assert.fail('its work is not found');
    const sources = sourcesOf(reach(pieceOf(work), !mayLoadClient.has(words)));
    assert.ok(sources.includes(work));
    assert.deepEqual(
      sources.filter((path) => clusterClient.test(path)),
      [],
    );
  });
}

test('the servers of demo and of bundle serve cannot reach it either', () => {
  const servers = ['src/bin/demo-worker.ts', 'src/server/bundle-server.ts'].map(pieceOf);
  const sources = sourcesOf(servers.flatMap((name) => [...reach(name, true)]));
  assert.ok(sources.some((path) => path.startsWith('src/server/')));
  assert.ok(!sources.some((path) => clusterClient.test(path)));
});

test('the search finds the client where it is', () => {
  const work = worksOf().get('tree') ?? assert.fail();
  assert.ok(sourcesOf(reach(pieceOf(work), true)).some((path) => clusterClient.test(path)));
});

test('help loads neither the client nor the work of any command', async () => {
  const works = new Set(worksOf().values());
  const isWork = (path: string): boolean => clusterClient.test(path) || works.has(path);
  const beginning = sourcesOf(
    [program, frame, definitions].map(pieceOf).flatMap((name) => [...reach(name, false)]),
  );
  assert.ok(beginning.includes('src/conversations/commands/conversation-commands.ts'));
  assert.deepEqual(beginning.filter(isWork), []);
  const folder = mkdtempSync(join(tmpdir(), 'loaded-code-'));
  try {
    const preload = join(import.meta.dirname, 'environment/list-modules.ts');
    for (const args of [['--help'], ['get', '--help'], ['export', '--help'], ['bundle', '--help']]) {
      const file = join(folder, args.join('-'));
      const env = { LOADED_MODULES: file };
      await mustRun([process.execPath, '--import', preload, join(root, program), ...args], { env });
      const loaded = readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .filter((url) => url.startsWith('file:'))
        .map((url) => relative(root, fileURLToPath(url)));
      assert.ok(loaded.includes(frame));
      assert.deepEqual(loaded.filter(isWork), []);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
