// How the templates of both charts are written, where a mistake shows only with values that no other test has.

import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { chartsFolder } from './rendered-chart.ts';

const files = globSync('*/templates/**/*.{yaml,tpl,txt}', { cwd: chartsFolder });
const read = (file: string): Promise<string> => readFile(join(chartsFolder, file), 'utf8');

test('each template completes the values before it reads one', async () => {
  for (const file of files.filter((name) => !basename(name).startsWith('_'))) {
    const [chart = ''] = file.split('/');
    const first = `{{- include "${chart}.complete" . -}}\n`;
    assert.ok((await read(file)).startsWith(first), `${file} begins with ${first}`);
  }
});

/** Control structures and definitions write nothing; the others write what YAML must not read as another type. */
const isControl = (action: string): boolean =>
  /^(if|else|end|range|with|define|fail|\/\*|\$\w+ :?= )/.test(action);
const isTyped = (action: string): boolean =>
  /(\| (quote|toJson|n?indent \d+|b64enc)$|^(toYaml|toJson|int|int64|add) |ternary "(\{|StatefulSet))/.test(
    action,
  );

test('each text that a template writes as a value is quoted', async () => {
  let count = 0;
  for (const file of files.filter((name) => name.endsWith('.yaml') || name.endsWith('.tpl'))) {
    // Sentences of alerts begin with letters of their own.
    const pattern = file.endsWith('_alerts.tpl')
      ? /(?:for|interval|severity): \{\{-? (.*?) -?\}\}/g
      : /(?:^\s*(?:- )?|[{,[] ?)(?:[\w./-]+: |- )?(?:--[\w-]+=|\$\()?\{\{-? (.*?) -?\}\}/g;
    for (const [at, line] of (await read(file)).split('\n').entries()) {
      if (!/^\s*(- |[\w./-]+: )/.test(line)) continue;
      for (const [, action = ''] of line.matchAll(pattern)) {
        if (isControl(action)) continue;
        count += 1;
        assert.ok(isTyped(action), `${file}:${at + 1}: {{ ${action} }} has no quote`);
      }
    }
  }
  assert.ok(count > 250, `${count}`);
});
