// What `helm test` runs in a pod of its own, with nothing but Node: asks the status until a bundle is served, then
// fetches the home page through the site's Service, and once more with its ETag. Fails with what was missing.

const { SITE_ADDRESS, SITE_NAME, SITE_PORT, BASE_PATH, ADMIN_ADDRESS, ADMIN_NAME, ADMIN_PORT } = process.env;
const timeoutMs = Number(process.env.TIMEOUT_SECONDS) * 1000;

/** Service variables need no cluster DNS; where there are none, Kubernetes leaves their reference as it stands. */
function hostOf(address, name) {
  if (address === undefined || address === '' || address.includes('_SERVICE_HOST')) return name;
  return address.includes(':') ? `[${address}]` : address;
}

const site = `http://${hostOf(SITE_ADDRESS, SITE_NAME)}:${SITE_PORT}`;
const admin = `http://${hostOf(ADMIN_ADDRESS, ADMIN_NAME)}:${ADMIN_PORT}`;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function readStatus() {
  const answer = await fetch(`${admin}/status`, { signal: AbortSignal.timeout(5000) });
  if (answer.status !== 200) throw new Error(`/status answers ${answer.status}`);
  return answer.json();
}

async function awaitBundle() {
  const giveUpAt = Date.now() + timeoutMs;
  let missing = 'nothing answers';
  do {
    try {
      const status = await readStatus();
      if (status.active !== null) return status.active;
      missing = status.source.lastError?.message ?? status.source.reason;
    } catch (error) {
      missing = error.cause?.code ?? error.message;
    }
    await pause(1000);
  } while (Date.now() < giveUpAt);
  throw new Error(`no bundle was served within ${process.env.TIMEOUT_SECONDS} s: ${missing}`);
}

async function fetchHome(basePath, headers) {
  const home = `${site}${basePath.replace(/\/$/, '')}/`;
  const answer = await fetch(home, { headers, redirect: 'follow', signal: AbortSignal.timeout(10_000) });
  return { answer, text: await answer.text() };
}

const active = await awaitBundle();
console.log(`serving version ${active.version}, digest ${active.digest}, ${active.files} files`);

// Where the values name no path, the export may.
const basePath = active.basePath ?? BASE_PATH;
const { answer, text } = await fetchHome(basePath, {});
if (answer.status !== 200 || text === '')
  throw new Error(`the home page answers ${answer.status}, ${text.length} characters`);
const etag = answer.headers.get('etag');
console.log(`home page: 200, ${answer.headers.get('content-type')}, ${text.length} characters, etag ${etag}`);

const again = await fetchHome(basePath, { 'If-None-Match': etag });
if (again.answer.status !== 304)
  throw new Error(`the home page asked for with its ETag answers ${again.answer.status}, not 304`);
console.log('home page with its ETag: 304');
