// Statuses of this operator after a rollback to the release before, on a real API server: the earlier CRD serves them, and
// admits them as a whole; the earlier operator's own reader loses nothing of what that CRD serves.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';
import { exportCauses } from '#operator/staticexport/status-schema.ts';
import { startControlPlane, type TestCluster } from '../../support/cluster.ts';
import { mustRun } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { extractPreviousSources, noPreviousRelease } from '../../support/previous/previous-sources.ts';

const project = resolve(import.meta.dirname, '../../..');
const fixtures = join(project, 'test/fixtures/status');
const definition = 'crds/staticexports.staticexport.dev.yaml';
const namespace = 'default';
const spec = { domain: 'docs.example.com', api: { keySecretRef: { name: 'export-api' } } };
const resource = (name: string): object & { readonly apiVersion: string } => ({
  ...{ apiVersion: 'staticexport.dev/v1alpha1', kind: 'StaticExport' },
  ...{ metadata: { name, namespace }, spec },
});

suite('a rollback to the previous release', { skip: noPreviousRelease() }, () => {
  const statuses = new Map<string, Readonly<Record<string, unknown>>>();
  let folder: string;
  let previous: string;
  let cluster: TestCluster;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'previous-reader-'));
    previous = (await extractPreviousSources(folder)).folder;
    await symlink(join(project, 'node_modules'), join(previous, 'node_modules'));
    for (const file of await readdir(fixtures))
      statuses.set(
        file.replace('.json', '').replaceAll('.', '-'),
        JSON.parse(await readFile(join(fixtures, file), 'utf8')),
      );
    cluster = await startControlPlane();
    await cluster.api.apply([parse(await readFile(join(project, definition), 'utf8'))]);
    await cluster.awaitDefinitions();
    for (const [name, status] of statuses) await write(name, status);
    await bringBack();
  });
  after(async () => {
    await cluster?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** The CRD of the previous release, with a field by which its arrival is seen: the server changes to it a moment later. */
  const bringBack = async (): Promise<void> => {
    const earlier = parse(await readFile(join(previous, definition), 'utf8'));
    earlier.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.arrival = { type: 'string' };
    await cluster.api.apply([earlier]);
    await eventually('the server serves the earlier CRD', async () => {
      const probe = { ...resource('probe'), spec: { ...spec, arrival: 'seen' } };
      await cluster.api.create(probe, true);
      return true as const;
    });
  };
  const write = async (name: string, status: unknown): Promise<void> => {
    const { api } = cluster;
    await api.create(resource(name));
    await api.patch('sx', name, { status }, { namespace, subresource: 'status' });
  };
  /** What a function of the previous release's reader returns. */
  const callBefore = async (name: string, value: unknown): Promise<unknown> => {
    const reader = pathToFileURL(join(previous, 'src/operator/staticexport/parse.ts')).href;
    const script = `import { ${name} } from '${reader}';
      console.log(JSON.stringify(${name}(JSON.parse(process.argv[1]))));`;
    const node = [process.execPath, '--input-type=module', '--eval', script];
    return JSON.parse(await mustRun([...node, JSON.stringify(value)]));
  };
  const parseBefore = (status: unknown): Promise<unknown> => callBefore('parseStatus', status);

  test('every status is served, admitted and read', async () => {
    assert.ok(statuses.size > 10);
    for (const [name, written] of statuses) {
      const { status } = await cluster.api.read('sx', name, namespace);
      assert.deepEqual(status.conditions, written['conditions'], name);
      assert.deepEqual(await parseBefore(status), status, name);
      assert.deepEqual(await parseBefore(written), status, `${name}, under the CRD of these sources`);
      // Where nothing was before, nothing is exempt from the schema.
      await write(`${name}-again`, status);
      const again = await cluster.api.read('sx', `${name}-again`, namespace);
      assert.deepEqual(again.status, status, name);
    }
  });

  test('a job with a cause that the release does not know is not followed, and all else is read', async () => {
    const [name = '', written] = [...statuses].find(([, one]) => 'job' in one && 'active' in one) ?? [];
    for (const cause of exportCauses) {
      const status = { ...written, job: { ...Object(written?.['job']), cause } };
      const { job, ...others } = Object(await parseBefore(status));
      const { job: _job, ...expected } = status;
      assert.deepEqual(others, expected, `${name}: ${cause}`);
      const isKnown = await write(`of-${cause.toLowerCase()}`, status).then(
        () => true,
        (error: Error) => {
          assert.match(error.message, /status\.job\.cause: Unsupported value/);
          return false;
        },
      );
      assert.equal(job !== undefined, isKnown, cause);
    }
  });

  test('a spec under the CRD of these sources is read without the fields that the release does not know', async () => {
    const mirror = { oci: { repository: 'registry.example.com/docs', secretRef: { name: 'mirror' } } };
    const object = { spec: { ...spec, mirror, transform: { search: 'Enabled' } }, status: {} };
    const read = Object(await callBefore('parseStaticExport', object));
    assert.deepEqual(read.problems, []);
    assert.deepEqual(read.spec.mirror, mirror);
  });
});
