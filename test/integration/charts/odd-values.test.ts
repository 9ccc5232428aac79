// What both charts render of texts that YAML reads as something else, judged by a real API server, in a namespace and a release whose
// names are numbers. What the charts do not accept, they name themselves.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { oddFixtures, oddTexts, renderOdd } from '../../charts/odd-values.ts';
import type { ClusterAccess } from '../../support/cluster.ts';
import { openSharedControlPlane } from '../../support/shared-control-plane.ts';
import { readForeignKinds } from './admission.ts';

const namespace = '7309';
/** Of a pod, admission looks up the account. The release of a dry run has made none. */
const withAccount = (manifest: string): string =>
  manifest
    .split('\n---\n')
    .map((one) =>
      /^kind: Pod$/m.test(one) ? one.replace(/serviceAccountName: .*/, 'serviceAccountName: odd') : one,
    )
    .join('\n---\n');
/** The CRD judges the fields of a StaticExport, and other namespaces of the values need not exist. Both come after decoding. */
const judgedElsewhere =
  /^(Warning: .*|The StaticExport .*(\n\* .*)*|Error from server \(NotFound\): namespaces .*)\n?/gm;
let cluster: ClusterAccess;

before(async () => {
  cluster = await openSharedControlPlane();
  const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'odd', namespace } };
  await cluster.api.apply([...(await readForeignKinds()), space, account]);
  await cluster.awaitDefinitions();
});
after(() => cluster.stop());

for (const { chart, name, fixtureNames, fixture, everything } of oddFixtures) {
  test(`${name}: an API server takes each text as a text, with every values file`, async (t) => {
    for (const [at, file] of fixtureNames.entries()) {
      await t.test(file, async () => {
        const two = [0, 1].map((more) => oddTexts[(2 * at + more) % oddTexts.length] ?? '');
        for (const text of file === 'everything' ? oddTexts : two) {
          const options = { ...everything, files: [fixture(file)], namespace, release: '7309e12' };
          const { manifest } = await renderOdd(chart, text, options);
          const { stderr } = await cluster.kubectl(
            ['apply', '--server-side', '--force-conflicts', '--dry-run=server', '--filename=-'],
            { input: withAccount(manifest) },
          );
          const errors = stderr.replaceAll(judgedElsewhere, '').trim();
          assert.equal(errors, '', text);
        }
      });
    }
  });
}
