// The check of each document that a test's program prints.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../../support/command.ts';
import { requirePublishedDocument } from '../../support/published-document.ts';

const error = {
  apiVersion: 'cli.staticexport.dev/v1alpha1',
  kind: 'Error',
  code: 'NotFound',
  message: 'x',
  retryable: false,
  next: [],
};
const print = (document: object) =>
  runCommand([process.execPath, '--print', `(${JSON.stringify(JSON.stringify(document, undefined, 2))})`]);

test('a document as published passes, in JSON and in YAML; other text passes too', async () => {
  await requirePublishedDocument(JSON.stringify(error, undefined, 2));
  await requirePublishedDocument(
    'apiVersion: cli.staticexport.dev/v1alpha1\nkind: Error\ncode: X\nmessage: x\nretryable: true\nnext: []\n',
  );
  await requirePublishedDocument('{"apiVersion": "v1", "kind": "Pod"}');
  await requirePublishedDocument('Exported docs.example.com\n');
});

test('a command that prints another field, another kind or less than published is an error', async () => {
  await assert.rejects(print({ ...error, surprise: 1 }), /surprise/);
  await assert.rejects(print({ ...error, kind: 'Unheard' }), /Unheard has no entry/);
  await assert.rejects(print({ ...error, code: undefined }), /code/);
});
