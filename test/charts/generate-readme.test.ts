// The tables of values: what the comments say is what the READMEs say.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';
import {
  readEntries,
  readSections,
  renewCharts,
  renewReadme,
  valuesText,
} from '../../charts/generate-readme.ts';
import { admitNull, admitSpec, defaultsText } from '../../charts/value-defaults.ts';
import { chartsFolder } from './rendered-chart.ts';

const values = `# Where it comes from.
source:
  # The link,
  # in one line.
  link: ""
  nested:
    # Number of | things.
    count: 2
  # A group with words of its own.
  group:
    # Whether.
    on: false
  # A map that is one value.
  limits: { memory: 1Mi }
  # A block that is one value.
  block:
    a: 1
    b: [x]

# Stands alone. \`null\` is a value too.
alone: null
`;

test('a comment describes the value below it; maps with comments inside are groups', () => {
  assert.equal(
    valuesText(readSections(values)),
    `### \`source\`

Where it comes from.

| value | default | what it does |
|---|---|---|
| \`source.link\` | \`""\` | The link, in one line. |
| \`source.nested.count\` | \`2\` | Number of \\| things. |
| \`source.group\` |  | A group with words of its own. |
| \`source.group.on\` | \`false\` | Whether. |
| \`source.limits\` | \`{"memory":"1Mi"}\` | A map that is one value. |
| \`source.block\` | \`{"a":1,"b":["x"]}\` | A block that is one value. |

### Further values

| value | default | what it does |
|---|---|---|
| \`alone\` | \`null\` | Stands alone. \`null\` is a value too. |`,
  );
});

test('values without a comment are named, all of them', () => {
  const silent = 'a: 1\n# Fine.\nb: 2\nc:\n  # Fine.\n  d: 1\n  e: 2\n';
  assert.throws(() => readSections(silent), { message: 'values without a comment: c.e, a' });
});

test('a README keeps every other byte, and gets the tables at its end if it has no markers', () => {
  const first = renewReadme('# Chart\n\nWords.\n', 'ONE');
  assert.match(first, /^# Chart\n\nWords\.\n\n## Values\n\n<!-- values.*-->\n\nONE\n\n<!-- \/values -->\n$/);
  const second = renewReadme(`${first}\nMore.\n`, 'TWO');
  assert.equal(second, `${first.replace('ONE', 'TWO')}\nMore.\n`);
  assert.equal(renewReadme(second, 'TWO'), second);
});

test('a check writes nothing and names each outdated chart; a run updates them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'charts-'));
  try {
    for (const [name, text] of [
      ['good', values],
      ['silent', 'a: 1\n'],
    ] as const) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, 'values.yaml'), text);
      await writeFile(join(folder, name, 'README.md'), '# Chart\n');
      await writeFile(
        join(folder, name, 'values.schema.json'),
        '{ "properties": { "a": { "type": "string" } } }\n',
      );
    }
    const url = pathToFileURL(`${folder}/`);
    const silent = 'charts/silent: values without a comment: a';
    const behind = ['README.md', 'files/defaults.yaml', 'values.schema.json'].map(
      (file) => `charts/good/${file} differs from values.yaml or the resource; run "npm run generate"`,
    );
    assert.deepEqual((await renewCharts(url, true)).toSorted(), [...behind, silent]);
    assert.equal(await readFile(join(folder, 'good/README.md'), 'utf8'), '# Chart\n');
    assert.deepEqual(await renewCharts(url, false), [silent]);
    assert.deepEqual(await renewCharts(url, true), [silent]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a missing value has its default, or none where its comment explains null; a missing list or map is empty', () => {
  const entries = readEntries(`${values}# Modes.\nmodes: [A]\n# Names.\nnames: [B]\n`);
  const schema = { properties: { modes: { minItems: 1 } } };
  assert.deepEqual(parse(defaultsText(entries, schema)), {
    source: {
      link: ['', ''],
      nested: { count: [2, 2] },
      group: { on: [false, false] },
      limits: [{ memory: '1Mi' }, {}],
      block: [{ a: 1, b: ['x'] }, {}],
    },
    alone: [null, null],
    modes: [['A'], ['A']],
    names: [['B'], []],
  });
  const kept = [{ name: 'replicas', words: '`null`: an autoscaler.', value: 2, children: undefined }];
  assert.deepEqual(parse(defaultsText(kept, {})), { replicas: [2, null] });
});

test('the schema admits null for each value, and not for items of lists and fields that are required', () => {
  const text = { type: 'string' };
  const nullable = { type: ['string', 'null'] };
  const item = { type: 'object', required: ['name'], properties: { name: text, more: text } };
  const given = {
    properties: {
      a: text,
      b: { enum: ['x'] },
      c: { type: 'array', items: item },
      d: { $ref: '#/definitions/d' },
    },
    definitions: { d: { type: 'object', additionalProperties: text } },
  };
  const wanted = {
    properties: {
      a: nullable,
      b: { enum: ['x', null] },
      c: { type: ['array', 'null'], items: { ...item, properties: { name: text, more: nullable } } },
      d: { $ref: '#/definitions/d' },
    },
    definitions: { d: { type: ['object', 'null'], additionalProperties: nullable } },
  };
  assert.deepEqual(admitNull(given), wanted);
  assert.deepEqual(admitNull(wanted), wanted);
});

test('the values of an export have every field of the resource and no other, each as the schema has it', () => {
  const held = { type: 'string', pattern: '^a$' };
  const own = { create: {}, name: {}, labels: {}, annotations: {} };
  const spec = {
    type: 'object',
    properties: { kept: {}, added: { properties: { below: {} } }, list: { items: { properties: {} } } },
  };
  const section = { description: 'd', properties: { ...own, kept: held, gone: {} } };
  const other = { type: 'object' };
  const isObject = { type: 'object', additionalProperties: false };
  assert.deepEqual(admitSpec({ properties: { export: section, other } }, spec), {
    properties: {
      export: {
        ...isObject,
        description: 'd',
        properties: { ...own, kept: held, added: { ...isObject, properties: { below: {} } }, list: {} },
      },
      other,
    },
  });
  assert.deepEqual(admitSpec({ properties: { other } }, spec), { properties: { other } });
});

test('the site chart’s README has the tables of its values', async () => {
  const read = (name: string): Promise<string> =>
    readFile(join(chartsFolder, 'static-export-site', name), 'utf8');
  const readme = await read('README.md');
  assert.equal(renewReadme(readme, valuesText(readSections(await read('values.yaml')))), readme);
});

test('the chart has the version of the package', async () => {
  const { version }: { version: string } = JSON.parse(
    await readFile(join(chartsFolder, '../package.json'), 'utf8'),
  );
  const chart = await readFile(join(chartsFolder, 'static-export-site/Chart.yaml'), 'utf8');
  assert.match(chart, new RegExp(`^appVersion: ${version}$`, 'm'));
  assert.match(chart, new RegExp(`image: static-export-operator:${version}$`, 'm'));
});
