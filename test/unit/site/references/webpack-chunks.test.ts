// The expression with which webpack's runtime names a chunk, as different tools print it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readScriptReferences } from '#site/references/script-references.ts';
import { readWebpackChunks } from '#site/references/webpack-chunks.ts';
import * as fc from '../../../support/properties.ts';
import { words } from '../../../support/words.ts';

const rows: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'names and hashes, a chunk without a name going by its number',
    'r.u=e=>"assets/js/"+({17:"a1b2",98:"guide"}[e]||e)+"."+{17:"h17",98:"h98",5:"h5"}[e]+".js",r.x=1',
    ['assets/js/5.h5.js', 'assets/js/a1b2.h17.js', 'assets/js/guide.h98.js'],
  ],
  [
    'in parentheses, with quoted keys and a dash',
    'd.u=function(e){return"static/chunks/"+(({"12":"x"})[e]||e)+"-"+({"12":"h12"})[e]+".js"}',
    ['static/chunks/x-h12.js'],
  ],
  [
    'styles by hash alone',
    'd.miniCssF=e=>"static/css/"+{1:"h1",2:"h2"}[e]+".css"',
    ['static/css/h1.css', 'static/css/h2.css'],
  ],
  ['a hash after the number', 'r.u=e=>"js/"+e+"."+{1:"h1"}[e]+".js"', ['js/1.h1.js']],
  [
    'the only chunk of a worker, by the number with which it is loaded',
    'a.x=()=>a.e("852").then(x);a.u=r=>"assets/js/"+r+".h852.js",a.miniCssF=r=>""+r+".css"',
    ['assets/js/852.h852.js'],
  ],
  [
    'the only chunk, by a number without quotes',
    'd.u=e=>"js/"+e+".h7.js";d.e(7).then(d.bind(d,7))',
    ['js/7.h7.js'],
  ],
  ['no table', 'r.u=e=>"js/"+e+".js"', []],
  ['text that only looks alike', '"a/"+{b:1}[e]+".js"', []],
];
for (const [name, script, expected] of rows) {
  test(`webpack: ${name}`, () => assert.deepEqual([...readWebpackChunks(script)].toSorted(), expected));
}

test('chunks are in the folder of the runtime, with its base', () => {
  const script = 'r.u=e=>"assets/js/"+({1:"a"}[e]||e)+"."+{1:"h"}[e]+".js"';
  const found = readScriptReferences(script, ['/base/assets/js/runtime~main.h0.js']);
  assert.deepEqual(found, [{ text: '/base/assets/js/a.h.js', use: 'hint' }]);
});

test('no script makes the reader throw or exceed linear time', () => {
  const piece = fc.constantFrom(
    ...words('"js/"+ e+".h.js" .e(7) ({ } [e] ||e) +"."+ {1:"h"} +".js" " , 1:"a" ((((('),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (parts) => {
      for (const path of readWebpackChunks(parts.join(''))) assert.match(path, /^js\//);
    }),
    { numRuns: 150 },
  );
  assert.deepEqual([...readWebpackChunks(`"js/"+${'({'.repeat(50_000)}`)], []);
});
