// One control plane for all test files of a run. The runner starts it before the first file that needs one; a file that runs
// without the runner starts its own. It has the CRD of this project. Files share all that is not in a namespace, so each
// has namespaces, releases and leases with names of its own, and changes no definition that another file uses.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type ClusterAccess, openCluster, startControlPlane, type TestCluster } from './cluster.ts';
import { removeAfterUs } from './reaper.ts';

/** Where a test process finds the shared control plane: its folder. */
const folderVariable = 'SHARED_CONTROL_PLANE';

const definition = new URL('../../crds/staticexports.staticexport.dev.yaml', import.meta.url);

/** Starts the control plane that the test processes share, and names it in the environment that they inherit. */
export async function startSharedControlPlane(): Promise<Pick<TestCluster, 'stop'>> {
  const cluster = await startWithDefinition();
  process.env[folderVariable] = cluster.folder;
  return cluster;
}

/** The shared control plane, or one of its own. `stop` ends what this process started, and no more. */
export async function openSharedControlPlane(): Promise<ClusterAccess> {
  const shared = process.env[folderVariable];
  if (shared === undefined) return startWithDefinition();
  const folder = await mkdtemp(join(tmpdir(), 'static-export-cluster-'));
  removeAfterUs(folder);
  const [server, caPem, certificatePem, keyPem] = await Promise.all(
    ['server', 'ca.pem', 'admin.pem', 'admin.key'].map((name) => readFile(join(shared, name), 'utf8')),
  );
  if (server === undefined || caPem === undefined || certificatePem === undefined || keyPem === undefined)
    throw new Error('the shared control plane has no files');
  const access = await openCluster({ server, caPem, certificatePem, keyPem }, { folder, cache: shared });
  const stop = async (): Promise<void> => {
    await access.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  return { ...access, stop };
}

async function startWithDefinition(): Promise<TestCluster> {
  const cluster = await startControlPlane();
  try {
    await cluster.api.apply([parse(await readFile(definition, 'utf8'))]);
    await cluster.awaitDefinitions();
    await writeFile(join(cluster.folder, 'server'), cluster.server);
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}
