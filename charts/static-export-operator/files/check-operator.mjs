// What `helm test` runs in a pod of its own, with nothing but Node: the operator is ready; the API server knows the
// resource and refuses a bad one; the leader takes up a good one and says what it lacks. That resource names a key
// Secret that does not exist, so no export API is ever called. It is deleted again, whatever comes of it.

import { readFile } from 'node:fs/promises';

const { ADMIN_ADDRESS, ADMIN_NAME, ADMIN_PORT, TEST_NAME, TEST_NAMESPACE, INSTANCE, TOKEN_FILE, EXPORT_API } =
  process.env;
const { KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT } = process.env;
const timeoutMs = Number(process.env.TIMEOUT_SECONDS) * 1000;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Service variables need no cluster DNS; where there are none, Kubernetes leaves their reference as it stands. */
function hostOf(address, name) {
  if (address === undefined || address === '' || address.includes('_SERVICE_HOST')) return name;
  return address.includes(':') ? `[${address}]` : address;
}

const admin = `http://${hostOf(ADMIN_ADDRESS, ADMIN_NAME)}:${ADMIN_PORT}`;
const apiServer = `https://${hostOf(KUBERNETES_SERVICE_HOST, 'kubernetes.default.svc')}:${KUBERNETES_SERVICE_PORT ?? 443}`;
const resources = `${apiServer}/apis/staticexport.dev/v1alpha1/namespaces/${TEST_NAMESPACE}/staticexports`;
const authorization = `Bearer ${(await readFile(TOKEN_FILE, 'utf8')).trim()}`;

/** Asks until `look` gives something. @throws {Error} with what was missing last */
async function eventually(what, look) {
  const giveUpAt = Date.now() + timeoutMs;
  let missing = '';
  do {
    try {
      const found = await look();
      if (found !== undefined) return found;
    } catch (error) {
      missing = `: ${error.cause?.code ?? error.message}`;
    }
    await pause(500);
  } while (Date.now() < giveUpAt);
  throw new Error(`${what} within ${process.env.TIMEOUT_SECONDS} s was not to be had${missing}`);
}

async function call(method, url, body) {
  const answer = await fetch(url, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  return { status: answer.status, json: await answer.json() };
}

const resource = (spec) => ({
  apiVersion: 'staticexport.dev/v1alpha1',
  kind: 'StaticExport',
  metadata: { name: TEST_NAME, ...(INSTANCE && { labels: { 'staticexport.dev/instance': INSTANCE } }) },
  spec: { domain: 'docs.example.com', api: { keySecretRef: { name: `${TEST_NAME}-no-such-key` } }, ...spec },
});

await eventually('an operator that is ready', async () => {
  const answer = await fetch(`${admin}/readyz`, { signal: AbortSignal.timeout(5000) });
  if (answer.status === 200) return true;
  throw new Error(await answer.text());
});
console.log('the operator is ready');

const refused = await call('POST', `${resources}?dryRun=All`, resource({ schedule: 'daily' }));
if (refused.status !== 422)
  throw new Error(
    `a StaticExport with a bad schedule is answered with ${refused.status}, not 422: ${refused.json.message}`,
  );
console.log('the API server refuses a bad StaticExport');

try {
  await call('DELETE', `${resources}/${TEST_NAME}`);
  const created = await eventually('a new StaticExport', async () => {
    const answer = await call('POST', resources, resource({}));
    if (answer.status === 201) return answer.json;
    throw new Error(`${answer.status} ${answer.json.message}`);
  });
  const ready = await eventually('a status from the leader', async () => {
    const { json } = await call('GET', `${resources}/${TEST_NAME}`);
    const condition = json.status?.conditions?.find(({ type }) => type === 'Ready');
    if (json.status?.observedGeneration === created.metadata.generation) return condition;
    throw new Error('none yet');
  });
  if (ready?.status !== 'False') throw new Error('a StaticExport without a key is said to be ready');
  console.log(`the leader took up a StaticExport: Ready=False, ${ready.reason}`);
} finally {
  await call('DELETE', `${resources}/${TEST_NAME}`);
}

if (EXPORT_API) {
  await eventually('the export API', async () => {
    const answer = await fetch(`${EXPORT_API}/v1/static-export/jobs/none`, {
      signal: AbortSignal.timeout(5000),
    });
    if (answer.status === 401) return true;
    throw new Error(`a call without a key is answered with ${answer.status}`);
  });
  console.log('the export API answers, and asks for a key');
}
