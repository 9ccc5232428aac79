// The CRD on a real API server: which manifests it takes, which it refuses, and the words a user then reads.
// Every CEL rule of the schema has its row; the rules themselves cannot be tested anywhere else.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ClusterAccess } from '../support/cluster.ts';
import { openSharedControlPlane } from '../support/shared-control-plane.ts';

const namespace = 'crd';
let cluster: ClusterAccess;

before(async () => {
  cluster = await openSharedControlPlane();
  await cluster.api.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
});

after(async () => {
  await cluster.stop();
});

const api = { keySecretRef: { name: 'export-api' } };
const smallest = { domain: 'docs.example.com', api };
const values = { kind: 'ConfigMap', name: 'docs-values' };

function staticExport(spec: unknown, name = 'docs'): object {
  return {
    apiVersion: 'staticexport.dev/v1alpha1',
    kind: 'StaticExport',
    metadata: { name, namespace },
    spec,
  };
}

const mirror = { oci: { repository: 'registry.example.com/docs', secretRef: { name: 'mirror' } } };
const repairBy = (...rules: readonly unknown[]) => ({
  ...smallest,
  mirror,
  transform: { repair: { rules } },
});
const searching = { search: 'Enabled' };
const canonical = { name: 'canonical', mode: 'Set', host: 'docs.example.com' };
const needsMirror =
  /transform needs a mirror with policy Required and promotion\.inspect Always; remove output\.link/;

const manifest = (spec: unknown, name = 'docs'): string => JSON.stringify(staticExport(spec, name));

const accepted: Readonly<Record<string, unknown>> = {
  'the smallest spec': smallest,
  'a project id without a domain': { api: { ...api, projectId: '5f0c9a7e' } },
  'a project id with a base path': { ...smallest, api: { ...api, projectId: 'acme:docs_1', basePath: '' } },
  'a host without a dot': { ...smallest, domain: 'localhost' },
  'a base URL with a path prefix': {
    ...smallest,
    api: { ...api, baseUrl: 'https://api.example.com/vendor/' },
  },
  'a base URL with an @ in its path': {
    ...smallest,
    api: { ...api, baseUrl: 'https://api.example.com/@team/export' },
  },
  'a base URL with a port': { ...smallest, api: { ...api, baseUrl: 'http://127.0.0.1:8080' } },
  'another key of the Secret': {
    ...smallest,
    api: { keySecretRef: { name: 'export-api', key: 'admin.key' } },
  },
  'a repair before the copy in a mirror': repairBy(
    canonical,
    { name: 'launchers', mode: 'All' },
    { name: 'sitemap' },
  ),
  'a repair with the default mirror of the operator': { ...repairBy({ name: 'sitemap' }), mirror: undefined },
  'a search before the copy in a mirror': { ...smallest, mirror, transform: searching },
  'a repair and a search': {
    ...repairBy(canonical),
    transform: { repair: { rules: [canonical] }, ...searching },
  },
  'no search without a mirror, and with a link': {
    ...{ ...smallest, transform: { search: 'Disabled' }, output: { link: 'Always' } },
  },
  'a nightly schedule in a zone': { ...smallest, schedule: '0 3 * * *', timeZone: 'Europe/Berlin' },
  'a schedule by name': { ...smallest, schedule: '@daily' },
  'durations of several parts': {
    ...smallest,
    jobTimeout: '1h30m',
    linkRefresh: { minInterval: '500ms', atPercent: 90 },
  },
  'all gates': {
    ...smallest,
    promotion: {
      ...{ inspect: 'Always', minPages: 0, requireHomePage: false, maxShrinkPercent: 100 },
      ...{ maxBundleSize: '512Mi', mode: 'Manual' },
    },
  },
  'no inspection': { ...smallest, promotion: { inspect: 'Never' } },
  'a pinned version': { ...smallest, pin: { version: '20260105-120000-0123abcd' } },
  'a pinned job': { ...smallest, pin: { jobId: 'se_0123456789abcdef' } },
  'a target in a ConfigMap': { ...smallest, targets: [{ name: 'argo', type: 'Values', values }] },
  'a target with the link in a Secret': {
    ...smallest,
    targets: [
      {
        name: 'argo',
        type: 'Values',
        write: ['version', 'bundleUrl'],
        values: { ...values, kind: 'Secret', namespace: 'apps', key: 'v.yaml' },
      },
    ],
  },
  'everything else': { ...smallest, historyLimit: 50, suspend: true, output: { name: 'published' } },
};

for (const [name, spec] of Object.entries(accepted)) {
  test(`accepted: ${name}`, () => cluster.api.create(staticExport(spec), true));
}

const refused: Readonly<Record<string, readonly [spec: unknown, message: RegExp]>> = {
  'no domain': [{ api }, /domain is required without api\.projectId/],
  'no API key': [{ domain: 'docs.example.com' }, /spec\.api: Required value/],
  'a domain with a scheme': [
    { ...smallest, domain: 'https://docs.example.com' },
    /spec\.domain: Invalid value: .*must be a bare host name such as docs\.example\.com: no scheme, no port, no path/,
  ],
  'a domain with a path': [
    { ...smallest, domain: 'docs.example.com/guide' },
    /spec\.domain: Invalid value: .*must be a bare host name such as docs\.example\.com: no scheme, no port, no path/,
  ],
  'a domain with a port': [
    { ...smallest, domain: 'docs.example.com:443' },
    /spec\.domain: Invalid value: .*must be a bare host name such as docs\.example\.com: no scheme, no port, no path/,
  ],
  'a domain that ends in a dash': [
    { ...smallest, domain: 'docs-.example.com' },
    /spec\.domain: Invalid value: .*must be a bare host name such as docs\.example\.com: no scheme, no port, no path/,
  ],
  'a domain that is too long': [
    { ...smallest, domain: `${'a'.repeat(60)}.`.repeat(5) },
    /spec\.domain: Too long|may not be more than 253/,
  ],
  'neither a domain nor a project id': [{ api }, /domain is required without api\.projectId/],
  'a base path without a project id': [
    { ...smallest, api: { ...api, basePath: '/docs' } },
    /basePath needs projectId/,
  ],
  'a base path that the vendor does not know': [
    { ...smallest, api: { ...api, projectId: 'p', basePath: '/help' } },
    /spec\.api\.basePath: Unsupported value/,
  ],
  ...Object.fromEntries(
    ['a/b', '..', 'a%2fb', 'a b', 'a\u0007b', 'ü'].map((projectId) => [
      `the project id ${JSON.stringify(projectId)}`,
      [{ ...smallest, api: { ...api, projectId } }, /must be a project id as the dashboard shows it/],
    ]),
  ),
  'a project id that is too long': [
    { ...smallest, api: { ...api, projectId: 'a'.repeat(129) } },
    /spec\.api\.projectId: Too long|may not be more than 128/,
  ],
  'a base URL without a scheme': [
    { ...smallest, api: { ...api, baseUrl: 'api.example.com' } },
    /baseUrl must be an absolute http:\/\/ or https:\/\/ URL/,
  ],
  'a base URL of another scheme': [
    { ...smallest, api: { ...api, baseUrl: 'ftp://api.example.com' } },
    /baseUrl must be an absolute/,
  ],
  'a base URL with a password': [
    { ...smallest, api: { ...api, baseUrl: 'https://user:secret@api.example.com/' } },
    /without user, password, query and fragment/,
  ],
  'a base URL with a query': [
    { ...smallest, api: { ...api, baseUrl: 'https://api.example.com/prefix?key=secret' } },
    /without user, password, query and fragment/,
  ],
  'a base URL with a character that turns the text around it': [
    { ...smallest, api: { ...api, baseUrl: 'https://api.example.com/\u202e' } },
    /must not contain control characters, invisible/,
  ],
  'a pinned job with a zero-width character': [
    { ...smallest, pin: { jobId: 'se_\u200b1' } },
    /must not contain control characters, invisible/,
  ],
  'a pinned version with a line separator': [
    { ...smallest, pin: { version: 'v1\u2028' } },
    /must not contain control characters, invisible/,
  ],
  'a schedule of four fields': [
    { ...smallest, schedule: '0 3 * *' },
    /schedule must be a cron expression of five fields/,
  ],
  'a schedule of six fields': [
    { ...smallest, schedule: '0 0 3 * * *' },
    /schedule must be a cron expression of five fields/,
  ],
  'a schedule in words': [
    { ...smallest, schedule: 'nightly' },
    /schedule must be a cron expression of five fields/,
  ],
  '@reboot': [{ ...smallest, schedule: '@reboot' }, /schedule must be a cron expression of five fields/],
  'a zone without a schedule': [
    { ...smallest, timeZone: 'UTC' },
    /timeZone has no meaning without schedule; add a schedule/,
  ],
  'a zone with spaces': [
    { ...smallest, schedule: '@daily', timeZone: 'New York' },
    /spec\.timeZone: Invalid value: .*must be an IANA time zone such as Europe\/Berlin/,
  ],
  'a duration without a unit': [
    { ...smallest, jobTimeout: '30' },
    /spec\.jobTimeout: Invalid value: .*must be a duration such as 30s, 15m, 1h30m or 7d/,
  ],
  'a duration with blanks': [
    { ...smallest, linkRefresh: { minInterval: '1h 30m' } },
    /spec\.linkRefresh\.minInterval: Invalid value: .*must be a duration such as 30s/,
  ],
  'a duration with a fraction': [
    { ...smallest, jobTimeout: '1.5h' },
    /whole numbers with the units ms, s, m, h, d/,
  ],
  'an empty duration': [{ ...smallest, jobTimeout: '' }, /spec\.jobTimeout.*should be at least 1 chars long/],
  'a domain with a dot at the end': [{ ...smallest, domain: 'docs.example.com.' }, /no dot at the end/],
  'a key that no Secret can have': [
    { ...smallest, api: { keySecretRef: { name: 'export-api', key: 'api key' } } },
    /keySecretRef\.key: Invalid value: .*must be a key of a Secret or ConfigMap/,
  ],
  'a namespace that is none': [
    { ...smallest, targets: [{ name: 'argo', type: 'Values', values: { ...values, namespace: 'Apps' } }] },
    /values\.namespace: Invalid value: .*must be the name of a namespace/,
  ],
  'a negative duration': [
    { ...smallest, jobTimeout: '-1h' },
    /spec\.jobTimeout: Invalid value: .*must be a duration such as 30s, 15m, 1h30m or 7d/,
  ],
  'a refresh too early': [
    { ...smallest, linkRefresh: { atPercent: 9 } },
    /spec\.linkRefresh\.atPercent: Invalid value.*greater than or equal to 10/,
  ],
  'a refresh too late': [
    { ...smallest, linkRefresh: { atPercent: 91 } },
    /spec\.linkRefresh\.atPercent: Invalid value.*less than or equal to 90/,
  ],
  'a shrink past all': [{ ...smallest, promotion: { maxShrinkPercent: 101 } }, /less than or equal to 100/],
  'negative pages': [{ ...smallest, promotion: { minPages: -1 } }, /greater than or equal to 0/],
  'an unknown mode': [{ ...smallest, promotion: { mode: 'Sometimes' } }, /Unsupported value: "Sometimes"/],
  'gates without inspection': [
    { ...smallest, promotion: { inspect: 'Never', minPages: 3 } },
    /minPages, requireHomePage, maxShrinkPercent and maxBundleSize need an inspected archive/,
  ],
  'a home page without inspection': [
    { ...smallest, promotion: { inspect: 'Never', requireHomePage: true } },
    /minPages, requireHomePage, maxShrinkPercent and maxBundleSize need an inspected archive/,
  ],
  'a limit without inspection': [
    { ...smallest, promotion: { inspect: 'Never', maxBundleSize: '1Gi' } },
    /minPages, requireHomePage, maxShrinkPercent and maxBundleSize need an inspected archive/,
  ],
  'a size in another unit': [
    { ...smallest, promotion: { maxBundleSize: '512MiB' } },
    /must be a size such as 512Mi or 2Gi/,
  ],
  'an empty pin': [{ ...smallest, pin: {} }, /pin needs exactly one of version and jobId/],
  'a pin of both': [
    { ...smallest, pin: { version: 'v', jobId: 'j' } },
    /pin needs exactly one of version and jobId; to end a pin, remove spec\.pin/,
  ],
  'no history': [{ ...smallest, historyLimit: 0 }, /spec\.historyLimit: Invalid value/],
  'a history without bound': [{ ...smallest, historyLimit: 51 }, /spec\.historyLimit: Invalid value/],
  'an output name that is none': [
    { ...smallest, output: { name: 'Published_Docs' } },
    /spec\.output\.name: Invalid value: .*must be the name of an object: lower-case letters/,
  ],
  'a target type that does not exist': [
    { ...smallest, targets: [{ name: 'argo', type: 'Kustomization' }] },
    /Unsupported value: "Kustomization"/,
  ],
  'a target without its object': [
    { ...smallest, targets: [{ name: 'argo', type: 'Values' }] },
    /type names the one field that the target needs/,
  ],
  'a target with the object of another type': [
    { ...smallest, targets: [{ name: 'flux', type: 'HelmRelease', values }] },
    /type names the one field that the target needs/,
  ],
  'a target with two objects': [
    {
      ...smallest,
      targets: [
        { name: 'flux', type: 'HelmRelease', helmRelease: { name: 'docs' }, application: { name: 'docs' } },
      ],
    },
    /type names the one field that the target needs/,
  ],
  'the link in a HelmRelease': [
    {
      ...smallest,
      targets: [{ name: 'flux', type: 'HelmRelease', write: ['bundleUrl'], helmRelease: { name: 'docs' } }],
    },
    /the link may be written into a Secret only/,
  ],
  'the link in a ConfigMap': [
    { ...smallest, targets: [{ name: 'argo', type: 'Values', write: ['bundleUrl'], values }] },
    /the link may be written into a Secret only/,
  ],
  'a leaf twice': [
    { ...smallest, targets: [{ name: 'argo', type: 'Values', write: ['version', 'version'], values }] },
    /write names the same key twice/,
  ],
  'two targets of one name': [
    {
      ...smallest,
      targets: [
        { name: 'argo', type: 'Values', values },
        { name: 'argo', type: 'Values', values },
      ],
    },
    /Duplicate value: .*argo/,
  ],
  'a target without a name': [
    { ...smallest, targets: [{ type: 'Values', values }] },
    /targets\[0\]\.name: Required/,
  ],
  'seventeen targets': [
    {
      ...smallest,
      targets: Array.from({ length: 17 }, (_, at) => ({ name: `t${at}`, type: 'Values', values })),
    },
    /must have at most 16 items|Too many/,
  ],
  'a repair without a rule': [repairBy(), /transform\.repair\.rules.*should have at least 1 items/],
  'a repair by an unknown rule': [repairBy({ name: 'footnotes' }), /Unsupported value: "footnotes"/],
  'a rule of a repair twice': [
    repairBy({ name: 'sitemap' }, { name: 'sitemap' }),
    /Duplicate value: .*sitemap/,
  ],
  'canonical without a mode': [repairBy({ name: 'canonical' }), /canonical needs mode Set or Strip/],
  'a mode of another rule': [repairBy({ name: 'sitemap', mode: 'All' }), /other rules have no mode/],
  'mode Set without a host': [repairBy({ ...canonical, host: undefined }), /mode Set needs host/],
  'a host for mode Strip': [repairBy({ ...canonical, mode: 'Strip' }), /host needs mode Set/],
  'a host that is not a name': [repairBy({ ...canonical, host: 'Docs' }), /bare host name in lower case/],
  'a host that was not known': [repairBy({ ...canonical, host: 'undefined.a' }), /not undefined or null/],
  'a repair with a mirror that may fail': [
    { ...repairBy(canonical), mirror: { ...mirror, policy: 'BestEffort' } },
    needsMirror,
  ],
  'a repair without inspection': [
    { ...repairBy(canonical), mirror: undefined, promotion: { inspect: 'Never' } },
    needsMirror,
  ],
  'a repair with a link': [{ ...repairBy(canonical), output: { link: 'Always' } }, needsMirror],
  'a repair with the link in a target': [
    {
      ...repairBy(canonical),
      targets: [
        { name: 's', type: 'Values', write: ['bundleUrl'], values: { kind: 'Secret', name: 'docs-values' } },
      ],
    },
    needsMirror,
  ],
  'an unknown word for a search': [
    { ...smallest, mirror, transform: { search: 'enabled' } },
    /transform\.search: Unsupported value: "enabled"/,
  ],
  'a search with a link': [
    { ...smallest, mirror, transform: searching, output: { link: 'Always' } },
    needsMirror,
  ],
  'a search with a mirror that may fail': [
    { ...smallest, mirror: { ...mirror, policy: 'BestEffort' }, transform: searching },
    needsMirror,
  ],
  'an unknown field': [{ ...smallest, domian: 'docs' }, /unknown field "spec.domian"/],
};

for (const [name, [spec, message]] of Object.entries(refused)) {
  test(`refused: ${name}`, async () => {
    const said = await cluster.api
      .create(staticExport(spec), true)
      .then(() => assert.fail('it was accepted'), String);
    assert.match(said, message);
    assert.doesNotMatch(said, /should match/, 'a pattern says nothing to whoever reads it');
  });
}

test('kubectl shows what the server says of every wrong field', async () => {
  const input = manifest({ ...smallest, domain: 'https://docs.example.com', schedule: 'daily' });
  const { code, stderr } = await cluster.kubectl(['create', '--dry-run=server', '-f', '-'], { input });
  assert.notEqual(code, 0);
  assert.match(stderr, /^The StaticExport "docs" is invalid: /);
  for (const words of [
    /must be a bare host name such as docs\.example\.com: no scheme, no port, no path/,
    /schedule must be a cron expression of five fields/,
  ])
    assert.match(stderr, words);
});

test('the resolved output name cannot change; naming its default is allowed', async () => {
  const apply = async (spec: unknown, name: string) =>
    cluster.kubectl(['apply', '-f', '-'], { input: manifest(spec, name) });
  assert.equal((await apply({ ...smallest, output: { name: 'one' } }, 'named')).code, 0);
  assert.equal((await apply(smallest, 'plain')).code, 0);
  const attempts = [
    await apply({ ...smallest, output: { name: 'two' } }, 'named'),
    await apply(smallest, 'named'),
    await apply({ ...smallest, output: { name: 'one' } }, 'plain'),
  ];
  for (const { code, stderr } of attempts) {
    assert.notEqual(code, 0);
    assert.match(stderr, /the resolved output name is immutable .*delete the resource and create it again/);
  }
  const same = [
    await apply({ ...smallest, output: { name: 'one' }, suspend: true }, 'named'),
    await apply({ ...smallest, output: { name: 'plain-bundle' } }, 'plain'),
    await apply({ ...smallest, output: {} }, 'plain'),
  ];
  assert.deepEqual(
    same.map(({ code }) => code),
    [0, 0, 0],
  );
});

test('a fresh object does not read as ready, and nothing of its spec is defaulted', async () => {
  await cluster.api.create(staticExport(smallest, 'fresh'));
  const object: { spec: unknown; status: unknown } = await cluster.api.read('sx', 'fresh', namespace);
  assert.deepEqual(object.status, { observedGeneration: -1 });
  assert.deepEqual(object.spec, smallest);
});

test('the table a user sees has the columns that answer "is it up, which version, until when"', async () => {
  const status = {
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Published',
        message: 'm',
        lastTransitionTime: '2026-01-05T12:00:00Z',
      },
    ],
    pages: 20,
    job: { id: 'se_1', state: 'completed', progress: 100 },
    active: {
      version: '20260105-120000-0123abcd',
      jobId: 'se_1',
      pages: 20,
      linkExpirationTime: '2126-01-05T12:15:00Z',
    },
  };
  await cluster.api.create(staticExport(smallest, 'shown'));
  await cluster.api.patch('sx', 'shown', { status }, { namespace, subresource: 'status' });
  const { stdout } = await cluster.kubectl([
    'get',
    'static-export',
    '-n',
    namespace,
    '--field-selector=metadata.name=shown',
  ]);
  assert.match(stdout, /NAME\s+READY\s+REASON\s+EXPORTED\s+VERSION\s+LINK-EXPIRES\s+AGE$/m);
  assert.match(stdout, /shown\s+True\s+Published\s+20260105-120000-0123abcd\s+2126-01-05T12:15:00Z/);
});

test('kubectl explain says what a field means, down to the last one', async () => {
  for (const [field, words] of [
    ['status.failures.link.retryTime', /No retry before this time/],
    ['status.active.linkExpirationTime', /Time when its link expires/],
    ['status.conditions.reason', /Alerts match it/],
    ['spec.targets.values.key', /Default: values\.yaml/],
  ] as const) {
    const { code, stdout, stderr } = await cluster.kubectl(['explain', `staticexport.${field}`]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, words);
  }
});
