// Which `--project` flags are accepted, and what each refusal says.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOrigins } from '#export-service/origins.ts';
import { readProjects } from '#export-service/projects.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

const origins = readOrigins(['a.example.com=http://127.0.0.1:1', 'b.example.com=http://127.0.0.1:2']);

test('each project has its domain, in lower case', () => {
  const projects = readProjects(['5f0c9a=A.example.com', 'team:b@x=b.example.com'], origins);
  assert.deepEqual(
    [...projects],
    [
      ['5f0c9a', 'a.example.com'],
      ['team:b@x', 'b.example.com'],
    ],
  );
});

test('without an --origin, a project may have any domain', () => {
  assert.equal(readProjects(['p=any.example.org'], new Map()).get('p'), 'any.example.org');
});

const refused: readonly (readonly [name: string, mappings: readonly string[], words: RegExp])[] = [
  ['a name alone, as the flag was before', ['docs'], /must be ID=DOMAIN; .* --conversations-project/],
  ['an empty id', ['=a.example.com'], /must be ID=DOMAIN/],
  ['an empty domain', ['p='], /must be ID=DOMAIN/],
  ['a URL in place of a domain', ['p=https://a.example.com/'], /must be ID=DOMAIN/],
  ['an id with a slash', ['a/b=a.example.com'], /must be ID=DOMAIN/],
  ['an id with an encoded slash', ['a%2fb=a.example.com'], /must be ID=DOMAIN/],
  ['an id that is a parent folder', ['..=a.example.com'], /must be ID=DOMAIN/],
  ['an id with a control character', ['a\u0007b=a.example.com'], /must be ID=DOMAIN/],
  ['an id of 129 characters', [`${'a'.repeat(129)}=a.example.com`], /must be ID=DOMAIN/],
  ['the id that is a path of the first form', ['jobs=a.example.com'], /cannot have the id jobs/],
  ['a domain that no --origin names', ['p=c.example.com'], /add --origin c\.example\.com=URL/],
  ['an id twice', ['p=a.example.com', 'p=b.example.com'], /names p or b\.example\.com twice/],
  ['a domain twice', ['p=a.example.com', 'q=a.example.com'], /names q or a\.example\.com twice/],
];
for (const [name, mappings, words] of refused) {
  test(`--project refuses ${name}`, () => {
    assert.throws(
      () => readProjects(mappings, origins),
      (error) =>
        error instanceof PublishableError && error.code === 'ProjectInvalid' && words.test(error.message),
    );
  });
}
