// What the site's chart refuses at install time, and in which words. A link is in none of them.

import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { deploymentTypes } from '#server/answer/reply.ts';
import { decidedHeaders } from '#server/http/response-headers.ts';
import { chartsFolder, refusalOf, renderChart } from './rendered-chart.ts';
import { type ValueRow, valueRows } from './value-rows.ts';

const chart = join(chartsFolder, 'static-export-site');
const secret = 'X-Amz-Signature=5ec2e7';
const link = { bundleUrl: `https://storage.example.com/7.tar.gz?${secret}` };
const exported = { create: true, domain: 'd.example', api: { keySecretRef: { name: 'export-api' } } };

const refused: readonly ValueRow[] = [
  ...valueRows(
    String.raw`
    nothing at all |  | nothing to serve\. Set one of: staticExport\.bundleUrl .*existingSecret .*export\.create
    an empty link | staticExport: {bundleUrl: ''} | nothing to serve
    two sources | staticExport: {<<: $link, existingSecret: docs-bundle} | staticExport\.bundleUrl and staticExport\.existingSecret exclude each other
    a link beside a StaticExport | staticExport: $link, export: $exported | staticExport\.bundleUrl and export\.create exclude each other
    the text null | staticExport: {bundleUrl: 'null'} | is the text "null": the command that should have written the link failed
    the text undefined | staticExport: {bundleUrl: " undefined\n"} | is the text "undefined"
    a link of another kind | staticExport: {bundleUrl: s3://bucket/7?X-Amz-Signature=5ec2e7} | must be one absolute link
    a link without a scheme | staticExport: {bundleUrl: storage.example.com/7?X-Amz-Signature=5ec2e7} | must be one absolute link
    two links | staticExport: {bundleUrl: https://storage.example.com/7.tar.gz?X-Amz-Signature=5ec2e7 https://storage.example.com/7.tar.gz?X-Amz-Signature=5ec2e7}
      | must be one absolute link
    a link that is a list | staticExport: {bundleUrl: [https://storage.example.com/7.tar.gz?X-Amz-Signature=5ec2e7]}
      | \/staticExport\/bundleUrl': got array, want
    a file without leave | staticExport: {bundleUrl: file:///srv/a.tar} | set server\.allowPrivateLinks=true
    a mistyped value | staticExport: {bundleURL: x} | \/staticExport': additional properties 'bundleURL' not allowed
    a version that is no text | staticExport: {<<: $link, version: 1.5} | \/staticExport\/version': got number, want null or integer or string
    a mistyped group | staticExport: $link, ingres: {} | at '': additional properties 'ingres' not allowed
    a mistyped field of the StaticExport | export: {<<: $exported, shedule: 0 3 * * *} | \/export': additional properties 'shedule' not allowed
    a mistyped field deep in the StaticExport | export: {<<: $exported, linkRefresh: {atPercentage: 50}}
      | \/export\/linkRefresh': additional properties 'atPercentage' not allowed
    a digest that is none | staticExport: {<<: $link, digest: sha256:0a} | staticExport\/digest
    an export without a domain | export: {create: true} | needs export\.domain .* or export\.api\.projectId
    an export without a key | export: {create: true, domain: d.example} | needs export\.api\.keySecretRef\.name
    a domain with a path | export: {<<: $exported, domain: d.example/docs} | \/export\/domain'.*does not match
    an unknown deployment type | site: {deploymentType: Airgapped} | must be one of 'Cloud', 'ClientHosted', 'AirGapped'
    an unknown feature | site: {features: {search: true}} | additional properties 'search' not allowed
    two base paths | export: {<<: $exported, api: {keySecretRef: {name: k}, projectId: p, basePath: /docs}}, site: {basePath: /documentation}
      | site\.basePath=\/documentation differs from export\.api\.basePath="\/docs".*Set site\.basePath to the empty text
    a base path without a project | export: {<<: $exported, api: {keySecretRef: {name: k}, basePath: /docs}}
      | export\.api\.basePath needs export\.api\.projectId
    the root beside a base path | export: {<<: $exported, api: {keySecretRef: {name: k}, projectId: p, basePath: /docs}}, site: {basePath: /}
      | site\.basePath=\/ differs from export\.api\.basePath="\/docs"
    a base path beside the root | export: {<<: $exported, api: {keySecretRef: {name: k}, projectId: p, basePath: ''}}, site: {basePath: /docs}
      | site\.basePath=\/docs differs from export\.api\.basePath=""
    a base path that leads upwards | site: {basePath: /docs/..} | \/site\/basePath'
    an unknown rollout | rollout: restart | \/rollout': value must be one of 'Swap', 'Restart'
    no version to keep | server: {keep: 0} | \/server\/keep': minimum: got 0, want 1
    a size in other units | server: {maxBundleSize: 1GB} | \/server\/maxBundleSize': '1GB' does not match
    a pause without a unit | server: {pollInterval: '5'} | \/server\/pollInterval'
    a header without a value | site: {headers: {X-A: ''}} | \/site\/headers\/X-A'
    a header of two lines | site: {headers: {X-A: "b\nX-B: c"}} | \/site\/headers\/X-A'
    a header’s name with a blank | site: {headers: {X A: b}} | invalid propertyName 'X A'
    arguments that are no flags | server: {extraArgs: [keep 3]} | \/server\/extraArgs\/0'
    a link among the arguments | staticExport: {existingSecret: s}, server: {extraArgs: [--bundle-url=https://storage.example.com/7.tar.gz?X-Amz-Signature=5ec2e7]}
      | server\.extraArgs must not set the source\. Use staticExport or export\.
    a limit behind the chart’s back | staticExport: $link, server: {extraArgs: [--max-bundle-size=2GiB]}
      | server\.extraArgs sets --max-bundle-size, .*: set server\.maxBundleSize instead
    more versions behind the chart’s back | staticExport: $link, server: {extraArgs: [--keep=9]}
      | server\.extraArgs sets --keep, .*: set server\.keep instead
    a store that is too small | staticExport: $link, persistence: {enabled: true, size: 3Gi}
      | persistence\.size=3Gi is too small: the store may need 5120Mi
    a promotion of what the servers refuse | export: {<<: $exported, promotion: {maxBundleSize: 2Gi}}, server: {maxBundleSize: 2047Mi}
      | export\.promotion\.maxBundleSize=2Gi lets through what the servers reject by server\.maxBundleSize=2047Mi
    a claim that nobody mounts | staticExport: $link, persistence: {existingClaim: shared} | persistence\.existingClaim needs persistence\.enabled
    an Ingress without hosts | staticExport: $link, ingress: {enabled: true} | needs ingress\.hosts
    an HTTPRoute without Gateway | staticExport: $link, httpRoute: {enabled: true} | needs httpRoute\.parentRefs
    a token without agents | staticExport: $link, server: {mcp: {tokenSecret: t}} | server\.mcp\.tokenSecret needs server\.mcp\.enabled=true
    names without agents | staticExport: $link, server: {mcp: {hosts: [a.example]}} | server\.mcp\.hosts needs server\.mcp\.enabled=true
    two places for authorities | staticExport: $link, server: {extraCa: {configMap: a, secret: b}}
      | server\.extraCa\.configMap and server\.extraCa\.secret exclude
    a label of the pods that selectors go by | staticExport: $link, server: {podLabels: {app.kubernetes.io/component: web}}
      | server\.podLabels must not set app\.kubernetes\.io\/component: the chart's selectors use it
    a label of all objects that selectors go by | staticExport: $link, commonLabels: {app.kubernetes.io/name: docs}
      | commonLabels must not set app\.kubernetes\.io\/name
    no pause between two looks | staticExport: $link, server: {pollInterval: 0s} | server\.pollInterval=0s is too short\. Set at least 1ms
    a pause that is none once it is rounded | staticExport: $link, server: {pollInterval: 0.499ms} | server\.pollInterval=0\.499ms is too short
    a budget that leaves the process no memory | staticExport: $link, server: {memoryBudget: 300Mi}
      | server\.memoryBudget=300Mi must be at most half of server\.resources\.limits\.memory=512Mi
    a budget above a limit in bytes | staticExport: $link, server: {resources: {limits: {memory: 50000000}}}
      | server\.memoryBudget=32Mi must be at most half
    a limit that is no amount | staticExport: $link, server: {resources: {limits: {memory: 1GB}}} | memory=1GB is not a valid memory quantity
    a port on the nodes without one | staticExport: $link, service: {nodePort: 30080} | service\.nodePort needs service\.type=NodePort or LoadBalancer
    an alert that is none | monitoring: {prometheusRule: {disabledAlerts: [SiteDown]}}
      | \/disabledAlerts\/0': value must be one of 'StaticExportSiteAbsent'
    a Service’s own field a second time | staticExport: $link, service: {spec: {selector: {}}} | service\.spec\.selector is the chart's own field
  `,
    { link, exported },
  ),
  [
    'a reference without the digest of its content',
    { staticExport: { ref: `oci://registry.example.com/docs@sha256:${'0'.repeat(64)}` } },
    /staticExport\.ref needs staticExport\.digest/,
  ],
  [
    'a reference with credentials in it',
    { staticExport: { ref: 'oci://user:word@registry.example.com/docs', digest: '0'.repeat(64) } },
    /staticExport.ref|staticExport\/ref/,
  ],
  ['a version that is too long', { staticExport: { ...link, version: 'v'.repeat(64) } }, /maxLength/],
  ...[...decidedHeaders].map((name): readonly [string, object, RegExp] => [
    `the header ${name}, which the server decides`,
    { staticExport: link, site: { headers: { [name.replace(/^./, (first) => first.toUpperCase())]: 'x' } } },
    /site\.headers may not set .*: the server decides it for each answer/,
  ]),
];
for (const [name, values, words] of refused) {
  test(`${name} fails the installation with a remedy and without the link`, async () => {
    const refusal = await refusalOf(chart, { values });
    assert.match(refusal, words);
    assert.doesNotMatch(refusal, /5ec2e7|storage\.example\.com/);
  });
}

/** The feature table as the README has it: title, and the availability by deployment type. */
async function readFeatureTable(): Promise<readonly (readonly [string, readonly string[]])[]> {
  const readme = await readFile(join(chart, 'README.md'), 'utf8');
  const rows = [...readme.matchAll(/^\| ([^|]+?) \| (\w+) \| (\w+) \| (\w+) \|$/gm)];
  return rows.map(([, title = '', ...cells]) => [title, cells]);
}

const featureNames = ['documentationSearch', 'aiAssistant', 'webAnalytics', 'apiPlayground'];

test('a feature fails the installation exactly where the feature table says unavailable, and the error quotes the row', async () => {
  const table = await readFeatureTable();
  assert.equal(table.length, featureNames.length);
  for (const [at, feature] of featureNames.entries()) {
    const [title, cells] = table[at] ?? ['', []];
    for (const [column, deploymentType] of deploymentTypes.entries()) {
      const site = { deploymentType, features: { [feature]: true } };
      const values = { staticExport: link, site };
      if (cells[column] !== 'unavailable') {
        assert.ok((await renderChart(chart, { values })).length > 0);
        continue;
      }
      const refusal = await refusalOf(chart, { values });
      assert.ok(
        refusal.includes(`site.features.${feature}=true is not available with site.deploymentType=AirGapped`),
      );
      assert.ok(refusal.includes(`| ${title} | ${cells.join(' | ')} |`), refusal);
      const without = { ...values, site: { ...site, features: { [feature]: false } } };
      assert.ok((await renderChart(chart, { values: without })).length > 0);
    }
  }
});

test('with a search that the servers make, an air-gapped site may expect one, and the refusal without it says so', async () => {
  const site = { deploymentType: 'AirGapped', features: { documentationSearch: true } };
  const refusal = await refusalOf(chart, { values: { staticExport: link, site } });
  assert.ok(refusal.includes('set server.search.enabled=true'), refusal);
  const values = { staticExport: link, site, server: { search: { enabled: true } } };
  assert.ok((await renderChart(chart, { values })).length > 0);
});

test('a memory limit may be written in any unit, or left out', async () => {
  for (const memory of ['1Gi', '0.5Gi', '64Mi', '70M', '67108864', 67_108_864, null]) {
    const values = { staticExport: link, server: { resources: { limits: { memory } } } };
    assert.ok((await renderChart(chart, { values })).length > 0, String(memory));
  }
});

test('keys that a parent chart adds to the values are accepted', async () => {
  const known: object = parse(await readFile(join(chart, 'values.yaml'), 'utf8'));
  const set = { enabled: true, global: { region: 'eu' }, tags: { docs: true }, 'x-team': 'docs' };
  assert.ok((await renderChart(chart, { values: { ...known, ...set, staticExport: link } })).length > 0);
});

test('the chart works as a sub-chart, with its values under its name', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'parent-chart-'));
  try {
    await writeFile(join(parent, 'Chart.yaml'), 'apiVersion: v2\nname: portal\nversion: 1.0.0\n');
    await cp(chart, join(parent, 'charts/static-export-site'), { recursive: true });
    const values = {
      global: { imageRegistry: 'registry.example.com' },
      'static-export-site': { enabled: true, staticExport: { existingSecret: 'docs-bundle' } },
    };
    const objects = await renderChart(parent, { values, release: 'portal' });
    const made = objects.find(({ id }) => id === 'Deployment/portal-static-export-site');
    assert.match(
      String(made?.at('spec.template.spec.containers.0.image')),
      /^registry\.example\.com\/static-export-operator:/,
    );
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
});
