// The check that ends a test file: what it finds, and what it does not take for a secret.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../../support/command.ts';
import { SecretWatch } from '../../support/secret-watch.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const secret = 'svc_good-Kx81h/T2mQ9?~>';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const places: Readonly<Record<string, string>> = {
  'as such': `Authorization: Bearer ${secret}.`,
  'in base64': base64(secret),
  'in base64 after one character': base64(`a${secret}bc`),
  'in base64 after two characters': base64(`ab${secret}c`),
  'in base64 in a long text': base64(`user:${secret}@example.com`),
  'in the base64 of URLs': Buffer.from(`ab${secret}c`).toString('base64url'),
  'in the path of a URL': `https://example.com/${encodeURIComponent(secret)}`,
};
for (const [name, text] of Object.entries(places)) {
  test(`a secret is found ${name}`, () => {
    const watch = new SecretWatch();
    watch.declare('the key', secret);
    watch.see('the log', text);
    assert.throws(() => watch.conclude(), { actual: ['the log holds the key'] });
  });
}

test('a finding does not show the secret', () => {
  const watch = new SecretWatch();
  watch.declare('the key', secret);
  watch.see('the log', secret);
  assert.throws(
    () => watch.conclude(),
    (error: Error) => !error.message.includes(secret),
  );
});

test('a text without the secret is no finding', () => {
  const watch = new SecretWatch();
  watch.declare('the key', secret);
  watch.see('the log', `${secret.slice(0, -1)} ${base64('svc_other')}`);
  watch.conclude();
});

const support = join(import.meta.dirname, '../../support');
const ways: Readonly<Record<string, string>> = {
  'a program in a process of its own': `
    const { startProgram } = await import('${support}/child-program.ts');
    await startProgram(process.execPath, { args: [process.argv[1], 'say'] }).exited;`,
  'a command in the process of its test': `
    const { runInProcess } = await import('${support}/cli-in-process.ts');
    // A command shows none of its words.
    declareSecret('the key', 'there is no such command');
    await runInProcess(['none']);`,
  'a command in a process of its own': `
    const { runCommand } = await import('${support}/command.ts');
    await runCommand([process.argv[1].replace('test-file', 'static-export'), 'say']);`,
};
for (const [name, code] of Object.entries(ways)) {
  test(`a test file ends as failed where ${name} shows a secret`, async (t) => {
    const folder = temporaryFolder(t);
    const text = (watched: string): string => `#!${process.execPath}
      const secret = 'svc_shown-7f3b';
      if (process.argv[2] === 'say') console.error(secret);
      else { ${watched} }`;
    const declared = `const { declareSecret } = await import('${support}/secret-watch.ts');
      declareSecret('the key', secret); ${code}`;
    await writeFile(join(folder, 'test-file.mjs'), text(declared));
    await writeFile(join(folder, 'static-export.mjs'), text(''), { mode: 0o755 });
    const { code: exitCode, stderr } = await runCommand([process.execPath, join(folder, 'test-file.mjs')]);
    assert.notEqual(exitCode, 0);
    assert.match(stderr, / holds the key/);
  });
}
