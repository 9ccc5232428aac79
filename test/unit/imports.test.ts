// Who may import whom, npm packages and banned globals included. The tables are those of src/README.md (products) and
// src/rooms.md: they are parsed from there, so that the map cannot drift from the code.

import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { importedPath } from '../support/import-graph.ts';

const root = resolve(import.meta.dirname, '../..');
const src = join(root, 'src');

interface Import {
  readonly file: string;
  readonly target: string;
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join(src, name));

function importsOf(file: string): readonly Import[] {
  const text = readFileSync(file, 'utf8');
  const found = text.matchAll(
    /^\s*(?:import|export)\b[^;'"]*?from\s+'([^']+)'|^\s*import\s+'([^']+)'|\bimport\('([^']+)'\)/gm,
  );
  return [...found].map((match) => ({ file, target: match[1] ?? match[2] ?? match[3] ?? '' }));
}

/** Rows of a table: | `folder` | owns | may import |, the last cell a comma-separated list of `names`. */
function readTable(document: string): ReadonlyMap<string, ReadonlySet<string>> {
  const rows = readFileSync(join(src, document), 'utf8').matchAll(
    /^\| `([a-z0-9/-]+)` +\|[^|]*\| ([^|]*) *\|$/gm,
  );
  return new Map(
    [...rows].map(([, folder = '', cell = '']) => [
      folder,
      new Set([...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '')),
    ]),
  );
}

const table = readTable('README.md');
const rooms = readTable('rooms.md');
const folderOf = (file: string): string => relative(src, dirname(file));
const productOf = (path: string): string => path.split('/')[0] ?? '';
const roomOf = (file: string): string => productOf(relative(src, file));
/** Of this repository, and not a package's: relative, or by its subpath. */
const isOwn = (specifier: string): boolean => /^[.#]/.test(specifier);
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

test('every product of src has its row in the map, and every row its folder', () => {
  assert.deepEqual([...table.keys()].sort(), [...new Set(files.map(roomOf))].sort());
});

test('a product imports only what its row of the map allows', () => {
  const wrong = files.flatMap((file) => {
    const room = roomOf(file);
    const allowed = table.get(room) ?? new Set<string>();
    if (allowed.has('anything')) return [];
    return importsOf(file).flatMap(({ target }) => {
      if (target.startsWith('node:')) return [];
      if (!isOwn(target))
        return allowed.has(packageOf(target)) ? [] : [`${relative(root, file)}: package ${target}`];
      const resolved = importedPath(file, target);
      if (resolved === join(root, 'package.json')) return [];
      const other = roomOf(resolved);
      const name = relative(src, resolved).replace(/\.ts$/, '');
      return other === room || allowed.has(other) || allowed.has(name)
        ? []
        : [`${relative(root, file)}: ${name}`];
    });
  });
  assert.deepEqual(wrong, []);
});

test('a row of the map allows nothing that its product does not import', () => {
  const unused = [...table].flatMap(([room, allowed]) => {
    const used = new Set(
      files
        .filter((file) => roomOf(file) === room)
        .flatMap(importsOf)
        .flatMap(({ file, target }) => {
          if (!isOwn(target)) return [packageOf(target)];
          const name = relative(src, importedPath(file, target)).replace(/\.ts$/, '');
          return [name, name.split('/')[0] ?? ''];
        }),
    );
    return [...allowed].filter((one) => one !== 'anything' && !used.has(one)).map((one) => `${room}: ${one}`);
  });
  assert.deepEqual(unused, []);
});

test('every folder within a product has its row among the rooms, and every row its folder', () => {
  const folders = new Set(files.map(folderOf).filter((folder) => folder.includes('/')));
  assert.deepEqual([...rooms.keys()].sort(), [...folders].sort());
});

const isWithin = (path: string, folder: string): boolean => `${path}/`.startsWith(`${folder}/`);
const imports = files
  .flatMap(importsOf)
  .filter(({ target }) => !target.startsWith('node:') && !target.endsWith('/package.json'))
  .map(({ file, target }) => ({
    from: folderOf(file),
    to: isOwn(target) ? folderOf(importedPath(file, target)) : undefined,
    target,
  }));

/** Each room of theirs is as large as a product, and its row names all its imports. */
const large: ReadonlySet<string> = new Set(['platform', 'operator']);
const roomOfLarge = (path: string): string => path.split('/').slice(0, 2).join('/');

/** What a room and its own rooms import: rooms beside it, products and packages. */
const allImportsOf = (room: string): readonly string[] =>
  imports
    .filter(({ from }) => isWithin(from, room))
    .map(({ to, target }) => {
      if (to === undefined) return packageOf(target);
      return productOf(to) === productOf(room) ? roomOfLarge(to) : productOf(to);
    })
    // What lies in the product's folder is shared by its rooms.
    .filter((name) => name !== room && name !== productOf(room));

/** What a room imports of the rooms beside it. What lies in a folder around a room is shared by its rooms. */
function neighboursOf(room: string): readonly string[] {
  const scope = large.has(productOf(room)) ? roomOfLarge(room) : productOf(room);
  return imports
    .filter(({ from }) => from === room)
    .flatMap(({ to }) => to ?? [])
    .filter((to) => isWithin(to, scope) && !isWithin(room, to) && !isWithin(to, room));
}

test('a room imports what its row names, and nothing more', () => {
  for (const [room, allowed] of rooms) {
    const isLarge = large.has(productOf(room)) && room === roomOfLarge(room);
    const found = new Set(isLarge ? allImportsOf(room) : neighboursOf(room));
    assert.deepEqual([...found].sort(), [...allowed].sort(), room);
  }
});

test('rooms do not import each other in circles', () => {
  const visit = (room: string, path: readonly string[]): void => {
    assert.ok(!path.includes(room), `circle: ${[...path, room].join(' → ')}`);
    for (const next of rooms.get(room) ?? []) visit(next, [...path, room]);
  };
  for (const room of rooms.keys()) visit(room, []);
});

test('no folder holds more than 20 files', () => {
  const counts = new Map<string, number>();
  for (const file of files) counts.set(folderOf(file), (counts.get(folderOf(file)) ?? 0) + 1);
  assert.deepEqual(
    [...counts].filter(([, count]) => count > 20),
    [],
  );
});

test('nobody imports bin', () => {
  const wrong = files
    .filter((file) => roomOf(file) !== 'bin')
    .flatMap(importsOf)
    .filter(({ file, target }) => isOwn(target) && roomOf(importedPath(file, target)) === 'bin');
  assert.deepEqual(wrong, []);
});

test('modules do not import each other in circles', () => {
  const edges = new Map(
    files.map((file) => [
      file,
      importsOf(file)
        .filter(({ target }) => isOwn(target) && target.endsWith('.ts'))
        .map(({ target }) => importedPath(file, target)),
    ]),
  );
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) {
      assert.fail(`circle: ${[...path.slice(start), file].map((one) => relative(src, one)).join(' → ')}`);
    }
    if (done.has(file)) return;
    for (const next of edges.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
});

const banned: readonly (readonly [string, RegExp])[] = [
  ['Date.now', /\bDate\.now\b/],
  ['new Date()', /\bnew Date\(\s*\)/],
  ['performance.now', /\bperformance\.now\b/],
  // A connection's own timer is no wait of ours: it measures what the other end does.
  ['platform timers', /(?<!\b(?:request|response|socket)\.)\b(setTimeout|setInterval|setImmediate)\s*\(/],
  ['node:timers', /'node:timers/],
  ['AbortSignal.timeout', /\bAbortSignal\.timeout\b/],
  ['Math.random', /\bMath\.random\b/],
  ['randomUUID', /\brandomUUID\b/],
];

/** Run in a browser: what runtime is there, and the bundled programs, as texts. */
const ofBrowsers = ['site/search-client/page/browser-timers.ts', 'site/search-program/program-text.ts'];
const runsHere = (file: string): boolean => !ofBrowsers.includes(relative(src, file));

test('time and randomness come in as parameters everywhere but in runtime', () => {
  const wrong = files
    .filter((file) => !isWithin(folderOf(file), 'platform/runtime'))
    .filter(runsHere)
    .flatMap((file) => {
      const code = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '');
      return banned
        .filter(([, pattern]) => pattern.test(code))
        .map(([name]) => `${relative(root, file)}: ${name}`);
    });
  assert.deepEqual(wrong, []);
});

/** Reported for Node 24 before 24.22.1 and 26 before 26.12.1: it can write out of bounds. */
const brotliDecoders: readonly (readonly [string, RegExp])[] = [
  ['a brotli decoder', /brotliDecompress|BROTLI_DECODER|DecompressionStream/i],
  ['the interceptor of undici that decodes', /\binterceptors\b|createDecompressInterceptor/],
  [
    'a body parser of Express that decodes',
    /\bexpress\.(?:json|raw|text|urlencoded)\((?!.*\binflate: false)/,
  ],
  // fetch asks for brotli and decodes it, without being told.
  ['fetch', /(?<!\.|\basync )\bfetch\(|\bglobalThis\.fetch\b|\bfetch\b[^;']*\bfrom 'undici'/],
];

test('no foreign bytes reach a brotli decoder', () => {
  const wrong = files.filter(runsHere).flatMap((file) => {
    const code = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '');
    return brotliDecoders
      .filter(([, pattern]) => pattern.test(code))
      .map(([name]) => `${relative(root, file)}: ${name}`);
  });
  assert.deepEqual(wrong, []);
});

test('only bin reads the process: its environment, arguments and signals', () => {
  const wrong = files
    .filter((file) => roomOf(file) !== 'bin')
    .filter((file) =>
      /\bprocess\.(env|argv|on|exit|exitCode|stdout|stderr)\b/.test(readFileSync(file, 'utf8')),
    )
    .map((file) => relative(root, file));
  // bin hands the process to run-cli.ts, program.ts and task-process.ts, as a value; supported-node.ts runs before
  // anything else.
  assert.deepEqual(wrong.sort(), [
    'src/cli/run-cli.ts',
    'src/platform/runtime/program.ts',
    'src/platform/runtime/supported-node.ts',
    'src/platform/runtime/task-process.ts',
  ]);
});

test('bin files are composition roots of fewer than 60 lines', () => {
  const long = files
    .filter((file) => roomOf(file) === 'bin')
    .filter((file) => readFileSync(file, 'utf8').trimEnd().split('\n').length >= 60);
  assert.deepEqual(long, []);
});

test('a file says in its first lines what it owns', () => {
  const silent = files.filter((file) => {
    const lines = readFileSync(file, 'utf8').split('\n');
    const head = lines.findIndex((line) => !line.startsWith('//'));
    return head < 2 || head > 9;
  });
  assert.deepEqual(
    silent.map((file) => relative(root, file)),
    [],
  );
});

test('an exported name has one meaning: it stands in one file', () => {
  const homes = new Map<string, string[]>();
  const declared = /^export (?:async )?(?:function\*?|class|interface|type|const|let) (\w+)/gm;
  for (const file of files) {
    const names = new Set([...readFileSync(file, 'utf8').matchAll(declared)].map(([, name = '']) => name));
    for (const name of names) homes.set(name, [...(homes.get(name) ?? []), relative(root, file)]);
  }
  assert.deepEqual(
    [...homes].filter(([, found]) => found.length > 1),
    [],
  );
});

test('no file has a name that another word replaced', () => {
  const replaced = /^(?:surroundings|facts|claim|place|story|look|turns)$/;
  const wrong = files.filter((file) => replaced.test(basename(file, '.ts').split('-').at(-1) ?? ''));
  assert.deepEqual(
    wrong.map((file) => relative(root, file)),
    // Turns of conversations are the export API's own word.
    ['src/conversations/known-turns.ts', 'src/conversations/stored-turns.ts'],
  );
});

test('no file is past 320 lines', () => {
  const long = files.filter((file) => readFileSync(file, 'utf8').split('\n').length > 321);
  assert.deepEqual(
    long.map((file) => relative(root, file)),
    [],
  );
});

test('tests import fast-check through the one file that fixes its seed', () => {
  const importing = globSync(join(root, 'test/**/*.ts'))
    .filter((file) => file !== import.meta.filename)
    .filter((file) => /from 'fast-check'/.test(readFileSync(file, 'utf8')))
    .map((file) => relative(root, file));
  assert.deepEqual(importing, ['test/support/properties.ts']);
});

test('tests draw no random values: noise.ts and properties.ts give the same ones in each run', () => {
  const drawing = globSync(join(root, 'test/{unit,charts,simulation,integration}/**/*.ts'))
    .filter((file) => file !== import.meta.filename)
    .filter((file) =>
      /\b(?:randomBytes|randomInt|randomFill\w*|randomUUID|getRandomValues|Math\.random)\b/.test(
        readFileSync(file, 'utf8'),
      ),
    )
    .map((file) => relative(root, file));
  assert.deepEqual(drawing, []);
});
