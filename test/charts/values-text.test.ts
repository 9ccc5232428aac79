// The values.yaml of the outputs, as helm reads it: Go's reader of YAML decides other plain texts than JavaScript's does.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { formatValues } from '#operator/loop/publish/values-text.ts';
import { awkwardTexts } from '../support/awkward-texts.ts';
import { runHelm } from './rendered-chart.ts';

test('helm reads each text back as it was', async () => {
  const chart = await mkdtemp(join(tmpdir(), 'values-chart-'));
  try {
    await mkdir(join(chart, 'templates'));
    await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: values\nversion: 1.0.0\n');
    await writeFile(
      join(chart, 'templates/values.yaml'),
      '{{ range $path, $_ := .Files.Glob "values/*" }}\n---\nread: {{ $.Files.Get $path | fromYaml | toJson | quote }}\n{{ end }}',
    );
    await mkdir(join(chart, 'values'));
    const groups = awkwardTexts.map((text) => ({ bundleUrl: text, version: text, ref: text, digest: text }));
    for (const [index, group] of groups.entries()) {
      await writeFile(join(chart, 'values', String(1000 + index)), formatValues(group));
    }
    const { code, stdout, stderr } = await runHelm(['template', 'values', chart]);
    assert.equal(code, 0, stderr);
    const read = [...stdout.matchAll(/^read: (.*)$/gm)].map(([, line = '']): unknown =>
      JSON.parse(String(parse(line))),
    );
    assert.deepEqual(
      read,
      groups.map((group) => ({ staticExport: { enabled: true, ...group } })),
    );
  } finally {
    await rm(chart, { recursive: true, force: true });
  }
});
