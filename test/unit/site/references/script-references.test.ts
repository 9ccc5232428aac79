// Path literals in scripts, in the shapes that bundlers write them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readScriptReferences } from '#site/references/script-references.ts';
import * as fc from '../../../support/properties.ts';

const rows: readonly (readonly [string, string, readonly string[], readonly string[]])[] = [
  ['a static import', 'import{a as b}from"./chunks/f.H1.js";', [], ['./chunks/f.H1.js']],
  ['a dynamic import', 'const m=()=>import(`../x.mjs`)', [], ['../x.mjs']],
  ['a path from the root', "fetch('/assets/data.json')", [], ['/assets/data.json']],
  ['a query is part of it', '"/a.wasm?v=1"', [], ['/a.wasm?v=1']],
  [
    'a Vite dependency map',
    'm.f=["assets/a.js","assets/b.css"]',
    ['/docs/assets/app.js'],
    ['/docs/assets/a.js', '/docs/assets/b.css'],
  ],
  [
    'a Next.js manifest',
    '"static/chunks/x.js"',
    ['/_next/static/chunks/main.js'],
    ['/_next/static/chunks/x.js'],
  ],
  ['a script inside a script', 'push("[\\"/_next/static/x.css\\"]")', [], ['/_next/static/x.css']],
  ['a folder that no script lies in', '"assets/a.js"', ['/lib/app.js'], []],
  [
    'a page of VitePress has a whole one',
    '"/assets/x.md.H1.lean.js"',
    [],
    ['/assets/x.md.H1.lean.js', '/assets/x.md.H1.js', '/hashmap.json'],
  ],
  ['a name without folder', '"app.js"', [], []],
  ['a path without a known extension', '"/api/v1/users"', [], []],
  ['a template with a hole', '`/assets/$' + '{name}.js`', [], []],
  ['a regular expression is no path', 'x.replace("/[^a]+.js","")', [], []],
];
for (const [name, script, anchors, expected] of rows) {
  test(`script: ${name}`, () =>
    assert.deepEqual(
      readScriptReferences(script, anchors).map(({ text }) => text),
      expected,
    ));
}

test('no script makes the reader throw, and all it finds are hints', () => {
  const script = fc
    .array(
      fc.oneof(
        fc.constantFrom('"', "'", '`', '/', './', 'assets/', '.js', '\\', '?'),
        fc.string({ maxLength: 4 }),
      ),
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(script, fc.array(fc.string()), (text, anchors) => {
      for (const { use } of readScriptReferences(text, anchors)) assert.equal(use, 'hint');
    }),
    { numRuns: 200 },
  );
});
