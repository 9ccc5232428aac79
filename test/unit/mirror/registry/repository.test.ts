// Addresses of repositories: what is one, and which API it names.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiUrlOf, isDigest, isTag, readRepository } from '#mirror/registry/repository.ts';
import * as fc from '../../../support/properties.ts';

for (const [text, name, apiUrl] of [
  [
    'oci://registry.example.com/docs',
    'oci://registry.example.com/docs',
    'https://registry.example.com/v2/docs/',
  ],
  [
    'oci://Registry.Example.com:5000/a/b-c/d_e.f/g__h',
    'oci://registry.example.com:5000/a/b-c/d_e.f/g__h',
    'https://registry.example.com:5000/v2/a/b-c/d_e.f/g__h/',
  ],
  [
    'oci://registry.example.com:443/docs',
    'oci://registry.example.com/docs',
    'https://registry.example.com/v2/docs/',
  ],
  ['oci://[::1]:5000/docs', 'oci://[::1]:5000/docs', 'https://[::1]:5000/v2/docs/'],
  ['oci://docker.io/acme/docs', 'oci://docker.io/acme/docs', 'https://registry-1.docker.io/v2/acme/docs/'],
  [
    'oci://index.docker.io/acme/docs',
    'oci://index.docker.io/acme/docs',
    'https://registry-1.docker.io/v2/acme/docs/',
  ],
] as const) {
  test(`${text} is a repository`, () => {
    const repository = readRepository(text);
    assert.equal(repository.name, name);
    assert.equal(apiUrlOf(repository, 'https').href, apiUrl);
  });
}

for (const text of [
  '',
  'registry.example.com/docs',
  'https://registry.example.com/docs',
  'oci://registry.example.com',
  'oci://registry.example.com/',
  'oci:///docs',
  'oci://registry.example.com/docs/',
  'oci://registry.example.com//docs',
  'oci://registry.example.com/Docs',
  'oci://registry.example.com/docs:v1',
  `oci://registry.example.com/docs@sha256:${'a'.repeat(64)}`,
  'oci://registry.example.com/../docs',
  'oci://registry.example.com/.docs',
  'oci://registry.example.com/a___b',
  'oci://registry.example.com/docs?x',
  'oci://registry.example.com/docs\n',
  'oci://user:secret@registry.example.com/docs',
  'oci://*.example.com/docs',
  'oci://registry.example.com:70000/docs',
  `oci://registry.example.com/${'a'.repeat(256)}`,
]) {
  test(`${JSON.stringify(text.slice(0, 60))} is not a repository`, () => {
    assert.throws(() => readRepository(text), {
      code: 'InvalidReference',
      message: /oci:\/\/HOST\/REPOSITORY/,
    });
  });
}

test('no tag and no digest changes the path before it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
      if (!isTag(text) && !isDigest(text)) return;
      const base = 'https://registry.example.com/v2/docs/manifests/';
      assert.equal(new URL(text, base).href === base + text || isDigest(text), true);
      assert.equal(new URL(`manifests/${text}`, 'https://registry.example.com/v2/docs/').href, base + text);
    }),
  );
});
