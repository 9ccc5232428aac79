// What the server loads before its first page: not the library of metrics, nor the HTTP client for other servers, nor the
// code that makes precompressed variants. Shown by the graph of a build.

import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { build, type Metafile, stop } from 'esbuild';

const root = resolve(import.meta.dirname, '../../..');
const program = 'src/bin/bundle-server.ts';
/** The reader of flags, and the flags. */
const frame = ['src/platform/runtime/program.ts', 'src/server/server-flags.ts'];
const server = 'src/server/bundle-server.ts';

let outputs: Metafile['outputs'];

before(async () => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [program],
    ...{ bundle: true, splitting: true, metafile: true, write: false, outdir: 'unused' },
    ...{ format: 'esm', platform: 'node', target: 'node24', logLevel: 'error' },
  });
  ({ outputs } = metafile);
});
after(() => stop());

/** What the piece that begins with a source needs at its start. */
function loadedBy(source: string): ReadonlySet<string> {
  const [name] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === source) ?? [];
  const pieces = new Set<string>();
  const add = (piece: string): void => {
    if (pieces.has(piece)) return;
    pieces.add(piece);
    for (const { path, kind, external } of outputs[piece]?.imports ?? [])
      if (external !== true && kind === 'import-statement') add(path);
  };
  add(name ?? assert.fail(`no piece of the build begins with ${source}`));
  const sources = [...pieces].flatMap((piece) => Object.entries(outputs[piece]?.inputs ?? {}));
  return new Set(sources.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path));
}

const packagesOf = (sources: Iterable<string>): readonly string[] => [
  ...new Set([...sources].map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? '')),
];

test('the first thread is started before the flags are read, and these are read before the server is loaded', () => {
  const first = loadedBy(program);
  assert.ok(first.has('src/server/first-worker.ts') && first.has('src/platform/runtime/task.ts'));
  assert.deepEqual(
    packagesOf(first).filter((name) => name !== ''),
    [],
  );
  assert.ok(![...first, ...frame.flatMap((part) => [...loadedBy(part)])].includes(server));
});

test('the server loads no library of metrics and no HTTP client before its first page', () => {
  const sources = new Set([program, ...frame, server].flatMap((part) => [...loadedBy(part)]));
  assert.ok(sources.has('src/bundle/store/store.ts') && sources.has('src/server/answer/site-handler.ts'));
  const packages = packagesOf(sources);
  assert.ok(packages.includes('zod') && packages.includes('commander'));
  for (const late of ['prom-client', 'undici', 'tar-stream']) assert.ok(!packages.includes(late), late);
  for (const late of ['variants/variant-making.ts', 'made/made-making.ts'])
    assert.ok(!sources.has(`src/server/${late}`), late);
  for (const ofAgents of ['agents.ts', 'mcp-port.ts', 'mcp-thread.ts'])
    assert.ok(!sources.has(`src/server/mcp/${ofAgents}`), ofAgents);
  // The whole of zod is eight times as large as its small form.
  assert.ok(![...sources].some((path) => path.includes('zod/v4/classic/')));
});

test('the search finds the library where it is', () => {
  assert.ok(packagesOf(loadedBy('src/server/site-metrics.ts')).includes('prom-client'));
});
