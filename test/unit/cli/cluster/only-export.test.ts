// Which StaticExport `request` means where none is named.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CliError } from '#cli/cli-error.ts';
import { readOnly } from '#cli/cluster/edit-command.ts';
import { silentProgress } from '#cli/output/progress.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';

const objectOf = (name: string): StaticExportObject => ({
  metadata: {
    ...{ namespace: 'team', name, uid: 'u', resourceVersion: '1' },
    ...{ annotations: {}, labels: {}, ownerReferences: [] },
  },
  spec: { domain: `${name}.example.com`, api: { keySecretRef: { name: 'k' } } },
  status: {},
});

async function read(names: readonly string[]) {
  const notes: string[] = [];
  const progress = { ...silentProgress, note: (text: string) => void notes.push(text) };
  const client = { namespace: 'team', list: async () => names.map(objectOf) };
  return { object: await readOnly('request', client, { progress }), notes };
}

test('the only one is taken, and its name is shown', async () => {
  const { object, notes } = await read(['docs']);
  assert.equal(object.metadata.name, 'docs');
  assert.deepEqual(notes, ['The only StaticExport of namespace team is docs']);
});

test('of several none is taken, and five are named', async () => {
  await assert.rejects(read(['a', 'b', 'c', 'd', 'e', 'f', 'g']), (error: unknown) => {
    assert.ok(error instanceof CliError);
    assert.deepEqual([error.outcome, error.code], ['usage', 'NameMissing']);
    assert.equal(error.message, 'namespace team has 7 StaticExports; name one of them');
    assert.equal(error.next.length, 6);
    assert.equal(error.next[0], 'static-export request a -n team  # a.example.com');
    assert.equal(error.next[5], 'static-export get -n team  # lists all');
    return true;
  });
});

test('of none the namespace is named', async () => {
  await assert.rejects(read([]), {
    outcome: 'cluster',
    code: 'NotFound',
    message: 'namespace team has no StaticExport; check --namespace',
  });
});
