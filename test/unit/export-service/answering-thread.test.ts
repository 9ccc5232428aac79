// The thread that answers clients cannot parse what a site sends, because it loads no module that could. Imports of types
// alone are not loaded.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { importedPath } from '../../support/import-graph.ts';

const src = resolve(import.meta.dirname, '../../../src');

/** Files below src and packages that a program loads. */
function loadedBy(program: string): ReadonlySet<string> {
  const loaded = new Set<string>();
  const visit = (file: string): void => {
    const name = relative(src, file);
    if (loaded.has(name)) return;
    loaded.add(name);
    const imports = readFileSync(file, 'utf8').matchAll(
      /^(?:import|export)\s+(?!type\b)(?:[^;'"]*?from\s+)?'([^']+)'|\bimport\('([^']+)'\)/gm,
    );
    for (const [, target = '', late = ''] of imports) {
      const specifier = target || late;
      if (/^[.#]/.test(specifier)) visit(importedPath(file, specifier));
      else loaded.add(specifier);
    }
  };
  visit(join(src, 'bin', program));
  return new Set([...loaded].filter((name) => !name.endsWith('.json')));
}

test('the thread that answers clients loads only names, limits and errors of the crawler', () => {
  const crawler = [...loadedBy('export-service.ts')].filter((name) =>
    name.startsWith('export-service/crawler/'),
  );
  assert.deepEqual(crawler.toSorted(), [
    'export-service/crawler/contract.ts',
    'export-service/crawler/crawl-error.ts',
  ]);
});

test('the thread that answers clients loads no code that reads the file of conversations', () => {
  const [answering, working] = [loadedBy('export-service.ts'), loadedBy('conversations-worker.ts')];
  for (const name of ['file-lines', 'index-task']) {
    const file = `export-service/conversations/${name}.ts`;
    assert.deepEqual([answering.has(file), working.has(file)], [false, true], name);
  }
});

test('only the worker loads code that fetches, parses and packs', () => {
  const answering = loadedBy('export-service.ts');
  const working = loadedBy('crawl-worker.ts');
  for (const name of ['parse5', 'css-tree', 'undici', 'bundle/archive/archive-writer.ts']) {
    assert.deepEqual([answering.has(name), working.has(name)], [false, true], name);
  }
});
