// Bills of materials list what an artifact contains, and nothing that npm draws by chance.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { cyclonedxBill, spdxBill } from '../../../packaging/release/software-bill.ts';

const subject = {
  name: 'product',
  version: '1.2.3',
  commit: 'c0ffee',
  time: '2026-01-02T03:04:05.000Z',
  isPart: (name: string): boolean => name === 'a',
  more: [{ name: 'libc6', version: '2', kind: 'library', purl: 'pkg:deb/debian/libc6@2?arch=arm64' }],
} as const;

const cyclonedx = (run: string): object => ({
  bomFormat: 'CycloneDX',
  serialNumber: `urn:uuid:${run}`,
  metadata: {
    timestamp: run,
    component: { 'bom-ref': 'root@1', name: `folder-${run}`, purl: 'pkg:npm/root@1' },
  },
  components: [
    { 'bom-ref': 'a@1', name: 'a', version: '1' },
    { 'bom-ref': 'b@1', name: 'b', version: '1' },
  ],
  dependencies: [
    { ref: 'root@1', dependsOn: ['a@1', 'b@1'] },
    { ref: 'a@1', dependsOn: ['b@1'] },
    { ref: 'b@1' },
  ],
});

const spdx = (run: string): object => ({
  spdxVersion: 'SPDX-2.3',
  name: 'root@1',
  documentNamespace: `http://spdx.org/spdxdocs/root-${run}`,
  creationInfo: { created: run, creators: ['Tool: npm'] },
  documentDescribes: ['SPDXRef-root'],
  packages: [
    { SPDXID: 'SPDXRef-root', name: 'root', versionInfo: '1' },
    { SPDXID: 'SPDXRef-a', name: 'a', versionInfo: '1' },
    { SPDXID: 'SPDXRef-b', name: 'b', versionInfo: '1' },
  ],
  relationships: [
    { spdxElementId: 'SPDXRef-DOCUMENT', relatedSpdxElement: 'SPDXRef-root', relationshipType: 'DESCRIBES' },
    { spdxElementId: 'SPDXRef-b', relatedSpdxElement: 'SPDXRef-a', relationshipType: 'DEPENDENCY_OF' },
  ],
});

test('two runs of npm give the same bills', () => {
  assert.equal(cyclonedxBill(cyclonedx('1'), subject), cyclonedxBill(cyclonedx('2'), subject));
  assert.equal(spdxBill(spdx('1'), subject), spdxBill(spdx('2'), subject));
});

test('a CycloneDX bill lists the parts, what npm does not know, and no reference to another package', () => {
  const bill = z
    .looseObject({
      metadata: z.object({ timestamp: z.string(), component: z.looseObject({ name: z.string() }) }),
    })
    .parse(JSON.parse(cyclonedxBill(cyclonedx('1'), subject)));
  assert.equal(bill.metadata.timestamp, subject.time);
  assert.equal(bill.metadata.component.name, 'product');
  assert.equal(bill['serialNumber'], undefined);
  assert.deepEqual(bill['components'], [
    { 'bom-ref': 'a@1', name: 'a', version: '1' },
    {
      ...{ 'bom-ref': 'pkg:deb/debian/libc6@2?arch=arm64', type: 'library' },
      ...{ name: 'libc6', version: '2', purl: 'pkg:deb/debian/libc6@2?arch=arm64' },
    },
  ]);
  assert.deepEqual(bill['dependencies'], [
    { ref: 'root@1', dependsOn: ['a@1'] },
    { ref: 'a@1', dependsOn: [] },
    { ref: 'pkg:deb/debian/libc6@2?arch=arm64', dependsOn: [] },
  ]);
});

test('an address as git takes it for SSH becomes a URL, and others stay', () => {
  const references = (...urls: readonly string[]) => urls.map((url) => ({ type: 'vcs', url }));
  const urls = ['git@example.com:a/b.git', 'git+https://example.com/a.git', 'a/b', 'mailto:git@example.com'];
  const fromNpm = {
    ...{ metadata: { component: { 'bom-ref': 'r', externalReferences: references(...urls) } } },
    components: [{ 'bom-ref': 'a@1', name: 'a', version: '1', externalReferences: references(...urls) }],
    dependencies: [],
  };
  const { metadata, components } = JSON.parse(cyclonedxBill(fromNpm, { ...subject, more: [] }));
  const expected = references('git+ssh://git@example.com/a/b.git', ...urls.slice(1));
  assert.deepEqual(metadata.component.externalReferences, expected);
  assert.deepEqual(components[0].externalReferences, expected);
});

test('an SPDX bill lists the same, with the commit in its namespace', () => {
  const bill = z
    .looseObject({ packages: z.array(z.looseObject({ SPDXID: z.string(), name: z.string() })) })
    .parse(JSON.parse(spdxBill(spdx('1'), subject)));
  assert.equal(bill['documentNamespace'], 'https://staticexport.dev/spdx/product-1.2.3-c0ffee');
  assert.deepEqual(
    bill.packages.map(({ name }) => name),
    ['product', 'a', 'libc6'],
  );
  assert.deepEqual(bill['creationInfo'], { created: '2026-01-02T03:04:05Z', creators: ['Tool: npm'] });
  assert.deepEqual(bill['relationships'], [
    { spdxElementId: 'SPDXRef-DOCUMENT', relatedSpdxElement: 'SPDXRef-root', relationshipType: 'DESCRIBES' },
    {
      spdxElementId: 'SPDXRef-root',
      relatedSpdxElement: 'SPDXRef-Part-deb-debian-libc6-2-arch-arm64',
      relationshipType: 'CONTAINS',
    },
  ]);
});
