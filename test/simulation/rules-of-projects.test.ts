// The project-scoped form of the export API, as the operator lives with it: one job at a time, the link in the answer to a
// poll, and starts that the vendor does not recognise when they are sent again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePublishedBundle } from '#bundle/published-bundle.ts';
import { ExportApiError } from '#export-api/answers.ts';
import { annotations } from '#operator/staticexport/names.ts';
import { readInstant } from '#platform/wire/instant.ts';
import { noFaults } from './faults.ts';
import { Oracles, quietTime } from './oracles.ts';
import { hourMs, minuteMs, request } from './published-simulation.ts';
import { outputName, resource, Simulation, type SimulationOptions } from './simulation.ts';

const site = 'docs.example.com';
const ofProject = (options: SimulationOptions = {}, spec: object = {}): Simulation =>
  new Simulation({
    ...options,
    spec: { api: { keySecretRef: { name: 'export-api' }, projectId: 'p1' }, ...spec },
  });
const startTimes = (simulation: Simulation): readonly number[] =>
  simulation.vendor.calls.filter(({ kind }) => kind === 'start').map(({ at }) => at);

test('a day is exported, refreshed and served as in the first form', async () => {
  const simulation = ofProject({}, { schedule: '0 3 * * *' });
  const oracles = new Oracles(simulation);
  await simulation.run(24 * hourMs, (step) => oracles.check(step));
  oracles.checkSettled();
  assert.equal(simulation.condition('Ready'), 'True/Published');
  assert.equal(simulation.status().active?.projectId, 'p1');
});

test('a first export needs no call for its link: the completed job brings one', async () => {
  const simulation = ofProject();
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  assert.deepEqual([simulation.callsOf('start'), simulation.callsOf('issue')], [1, 0]);
  assert.ok(simulation.isLinkValid());
});

test('a link that is refused on arrival is asked for again', async () => {
  const simulation = ofProject();
  simulation.vendor.unusableLinks = 1;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  assert.equal(simulation.callsOf('issue'), 1);
});

test('a job is shown without progress and pages', async () => {
  const simulation = ofProject();
  simulation.vendor.jobMs = 10 * minuteMs;
  await simulation.until(() => simulation.status().job?.state === 'running');
  const { progress, pageCount } = simulation.status().job ?? {};
  assert.deepEqual([progress, pageCount, simulation.status().pages], [undefined, undefined, undefined]);
});

test('while another export of the project runs, the start waits and says so, and then one job starts', async () => {
  const simulation = ofProject();
  simulation.vendor.jobMs = 20 * minuteMs;
  simulation.vendor.startElsewhere(site);
  await simulation.until(() => simulation.condition('Exported') === 'False/AnotherExportRuns');
  const { message = '' } = simulation.status().conditions?.find(({ type }) => type === 'Exported') ?? {};
  assert.match(message, /The export API at .* returned 409, because another job of project p1 runs/);
  assert.match(message, /Retrying at \d{4}-/);
  assert.notEqual(simulation.condition('Stalled'), 'True/StartRefused');
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', 3 * hourMs);
  assert.equal(simulation.vendor.jobs.size, 2);
});

test('a start is repeated after a minute at least, and within the deadline of a job at most', async () => {
  const simulation = ofProject({}, { jobTimeout: '5m' });
  simulation.vendor.ending = 'never';
  simulation.vendor.startElsewhere(site);
  await simulation.run(110 * minuteMs);
  const times = startTimes(simulation);
  const waits = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  assert.ok(waits.length > 10, `${waits.length} starts`);
  assert.ok(
    waits.every((ms) => ms >= minuteMs && ms <= 5 * minuteMs + 2000),
    waits.join(),
  );
});

test('a start that waits for another job is sent at the time in status and not before, also after an overtaken write', async () => {
  const simulation = ofProject();
  simulation.vendor.linkLifetimeMs = 7 * 24 * hourMs;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  simulation.vendor.jobMs = 6 * minuteMs;
  simulation.vendor.startElsewhere(site);
  request(simulation, 'now');
  await simulation.until(() => simulation.condition('Exported') === 'False/AnotherExportRuns');
  simulation.faults = {
    next: (call) => (call === 'cluster.writeStatus' ? 'overtaken' : 'none'),
  };
  await simulation.until(() => simulation.status().failures?.start?.count === 2);
  simulation.faults = noFaults;
  assert.equal(quietTime(simulation.object()), readInstant(simulation.status().failures?.start?.retryTime));
  const oracles = new Oracles(simulation);
  await simulation.run(10 * minuteMs, (step) => oracles.check(step));
  assert.equal(simulation.status().lastHandledRequest, 'now');
});

test('after a lost answer to a start there is exactly one more export', async () => {
  let isLost = false;
  const faults = {
    next: (call: string) => {
      if (call !== 'api.startJob' || isLost) return 'none';
      isLost = true;
      return 'lost';
    },
  } as const;
  const simulation = ofProject({ faults });
  simulation.vendor.jobMs = 5 * minuteMs;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', 3 * hourMs);
  await simulation.run(6 * hourMs);
  assert.equal(simulation.vendor.jobs.size, 2);
});

test('a refused key is used again once a day, because a plan may change', async () => {
  const simulation = ofProject();
  const { validKey } = simulation.vendor;
  simulation.vendor.validKey = 'svc_of-another-plan';
  await simulation.run(70 * hourMs);
  assert.equal(simulation.condition('Stalled'), 'True/KeyRefused');
  assert.equal(simulation.callsOf('start'), 3);
  simulation.vendor.validKey = validKey;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', 25 * hourMs);
});

test('a change of the form exports again, and the published link is refreshed by the form that made its job', async () => {
  const simulation = ofProject({}, { jobTimeout: '12h' });
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  simulation.vendor.jobMs = 10 * hourMs;
  simulation.editSpec({ api: { keySecretRef: { name: 'export-api' } } });
  await simulation.run(2 * hourMs);
  assert.ok(simulation.isLinkValid());
  assert.equal(simulation.status().active?.projectId, 'p1');
  assert.equal(simulation.callsOf('start'), 2);
  await simulation.until(() => simulation.status().active?.projectId === undefined, 12 * hourMs);
});

test('a request while another export runs waits like every start', async () => {
  const simulation = ofProject();
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  simulation.vendor.jobMs = 10 * minuteMs;
  simulation.vendor.startElsewhere(site);
  request(simulation, 'now');
  await simulation.until(() => simulation.status().lastHandledRequest === 'now', 2 * hourMs);
  assert.equal(simulation.vendor.jobs.size, 3);
});

test('a pinned job is refreshed in the form in which it was found, also after an edit of the form', async () => {
  const domainOnly = { keySecretRef: { name: 'export-api' } };
  const simulation = ofProject({}, { domain: site });
  const jobId = simulation.vendor.startElsewhere(site);
  simulation.vendor.jobMs = minuteMs;
  simulation.editSpec({ api: domainOnly, pin: { jobId } });
  simulation.vendor.failing = 'NotFound';
  await simulation.run(10 * minuteMs);
  simulation.vendor.failing = undefined;
  simulation.editSpec({ api: { ...domainOnly, projectId: 'p1' } });
  await simulation.until(() => simulation.condition('Ready') === 'True/Pinned', 3 * hourMs);
  assert.equal(simulation.status().active?.projectId, 'p1');
  await simulation.run(2 * hourMs, () => assert.ok(simulation.isLinkValid()));
});

test('a wait for another export is not a failure of this one', async () => {
  const simulation = ofProject();
  simulation.vendor.jobMs = 40 * minuteMs;
  simulation.vendor.startElsewhere(site);
  await simulation.until(() => (simulation.status().failures?.start?.count ?? 0) > 3, 2 * hourMs);
  simulation.vendor.ending = 'failed';
  await simulation.until(() => simulation.condition('Exported') === 'False/JobFailed', 4 * hourMs);
  assert.equal(simulation.status().failures?.export?.count, 1);
});

test('a limit of starts stops no poll and no refresh', async () => {
  const simulation = ofProject();
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  let isLimited = true;
  const real = simulation.vendor.connect.bind(simulation.vendor);
  simulation.vendor.connect = (address, key) => ({
    ...real(address, key),
    ...(isLimited && {
      startJob: async () => {
        throw new ExportApiError('RateLimited', 'ten an hour', { status: 429, retryAfterMs: hourMs });
      },
    }),
  });
  request(simulation, 'now');
  await simulation.run(50 * minuteMs, () => assert.ok(simulation.isLinkValid()));
  assert.equal(simulation.condition('Exported'), 'False/StartRefused');
  isLimited = false;
  await simulation.until(() => simulation.status().lastHandledRequest === 'now', 2 * hourMs);
});

test('after 429 for a start, links are issued and judged at once, and no start is sent before Retry-After', async () => {
  const simulation = ofProject();
  const oracles = new Oracles(simulation);
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  const real = simulation.vendor.connect.bind(simulation.vendor);
  let isLimited = true;
  simulation.vendor.connect = (address, key) => {
    const api = real(address, key);
    return {
      ...api,
      startJob: async (asked, signal) => {
        simulation.vendor.failing = isLimited ? 'RateLimited' : undefined;
        simulation.vendor.retryAfterMs = 2 * hourMs;
        return api.startJob(asked, signal).finally(() => {
          simulation.vendor.failing = undefined;
        });
      },
    };
  };
  const issuedBefore = simulation.vendor.links.size;
  request(simulation, 'now');
  await simulation.run(50 * minuteMs, (step) => oracles.check(step));
  assert.ok(simulation.vendor.links.size > issuedBefore);
  isLimited = false;
  await simulation.until(() => simulation.status().lastHandledRequest === 'now', 4 * hourMs);
});

test('the eleventh start of an hour waits, says so with the time, and is sent', async () => {
  const simulation = ofProject();
  const oracles = new Oracles(simulation);
  await simulation.run(5 * minuteMs, (step) => oracles.check(step));
  for (let count = 1; count <= 10; count += 1) {
    request(simulation, `token-${count}`);
    await simulation.run(3 * minuteMs, (step) => oracles.check(step));
  }
  assert.equal(startTimes(simulation).length, 10);
  assert.equal(simulation.condition('Exported'), 'False/StartBudgetUsed');
  const { message = '' } = simulation.status().conditions?.find(({ type }) => type === 'Exported') ?? {};
  assert.match(message, /All 10 starts that this key has in an hour are used.*Retrying at \d{4}-/);
  assert.equal(simulation.condition('Ready'), 'True/Published');
  await simulation.until(() => simulation.status().lastHandledRequest === 'token-10', hourMs);
  await simulation.until(() => simulation.condition('Exported') !== 'False/StartBudgetUsed');
});

test('a new process counts the starts of the one before it', async () => {
  const simulation = ofProject();
  const oracles = new Oracles(simulation);
  await simulation.run(5 * minuteMs, (step) => oracles.check(step));
  for (let count = 1; count <= 12; count += 1) {
    simulation.restart();
    request(simulation, `token-${count}`);
    await simulation.run(2 * minuteMs, (step) => oracles.check(step));
  }
  assert.equal(startTimes(simulation).length, 10);
});

test('a schedule of every two minutes starts about nine exports in an hour, and leaves one to a person', async () => {
  const simulation = ofProject({}, { schedule: '*/2 * * * *' });
  const oracles = new Oracles(simulation);
  await simulation.run(5 * hourMs, async (step) => {
    await oracles.check(step);
    assert.notEqual(simulation.condition('Exported'), 'False/StartBudgetUsed');
  });
  const before = startTimes(simulation).length;
  assert.ok(before >= 40 && before <= 46, `${before} starts in five hours`);
  request(simulation, 'now');
  await simulation.until(() => simulation.status().lastHandledRequest === 'now', minuteMs);
});

test('409 and then 404: the message follows, and the published version stays', async () => {
  const simulation = ofProject();
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  simulation.vendor.jobMs = 2 * hourMs;
  simulation.vendor.startElsewhere(site);
  request(simulation, 'now');
  await simulation.until(() => simulation.condition('Exported') === 'False/AnotherExportRuns');
  const real = simulation.vendor.connect.bind(simulation.vendor);
  simulation.vendor.connect = (address, key) => ({
    ...real(address, key),
    startJob: async () => {
      throw new ExportApiError('NotFound', 'no such project', { status: 404 });
    },
  });
  await simulation.until(() => simulation.condition('Exported') === 'False/StartRefused');
  const { message = '' } = simulation.status().conditions?.find(({ type }) => type === 'Exported') ?? {};
  assert.match(message, /returned 404 for project p1/);
  assert.equal(simulation.condition('Ready'), 'True/Published');
  assert.ok(simulation.isLinkValid());
});

test('an API that leaves the form by domain says so, serves on, and is exported by project', async () => {
  const simulation = new Simulation();
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  const real = simulation.vendor.connect.bind(simulation.vendor);
  const gone = async (): Promise<never> => {
    throw new ExportApiError('NotFound', 'no such endpoint', { status: 404 });
  };
  simulation.vendor.connect = (address, key) =>
    address.project === undefined ? { startJob: gone, readJob: gone, issueLink: gone } : real(address, key);
  const { version } = simulation.status().active ?? {};
  await simulation.run(3 * hourMs);
  assert.equal(simulation.condition('LinkFresh'), 'False/JobGone');
  assert.equal(simulation.status().active?.version, version);
  const { message = '' } = simulation.status().conditions?.find(({ type }) => type === 'Exported') ?? {};
  assert.match(message, /This API may be project-scoped: then set spec\.api\.projectId/);
  simulation.editSpec({ api: { keySecretRef: { name: 'export-api' }, projectId: 'p1' } });
  await simulation.until(() => simulation.condition('LinkFresh') === 'True/Fresh', hourMs);
  assert.equal(simulation.status().active?.projectId, 'p1');
});

const apiFor = (basePath?: string) => ({
  api: { keySecretRef: { name: 'export-api' }, projectId: 'p1', ...(basePath !== undefined && { basePath }) },
});
const publishedPath = (simulation: Simulation): string | undefined => {
  const text = simulation.output()?.['bundle.json'];
  return text === undefined ? 'nothing' : parsePublishedBundle(text).basePath;
};

test('bundle.json names the base path of the job that made its version, through edits, refreshes, pins and a release', async () => {
  const simulation = ofProject({}, { ...apiFor('/docs'), jobTimeout: '12h' });
  const oracles = new Oracles(simulation);
  const until = async (isReached: () => boolean, ms = hourMs): Promise<void> => {
    for (let waited = 0; !isReached(); waited += minuteMs) {
      assert.ok(waited < ms, 'in time');
      await simulation.run(minuteMs, (step) => oracles.check(step));
    }
  };
  const edit = (name: string, spec: Record<string, unknown>): void => {
    simulation.vendor.contents.set(site, { name, pages: 20 });
    simulation.editSpec(spec);
  };
  await until(() => publishedPath(simulation) === '/docs');
  const first = simulation.status().active?.version;
  simulation.vendor.jobMs = 2 * hourMs;
  edit('second', apiFor('/documentation'));
  await simulation.run(100 * minuteMs, () => assert.equal(publishedPath(simulation), '/docs'));
  assert.ok(simulation.isLinkValid());
  await until(() => publishedPath(simulation) === '/documentation', 3 * hourMs);
  simulation.editSpec({ pin: { version: first } });
  await until(() => simulation.status().active?.version === first, hourMs);
  assert.equal(publishedPath(simulation), '/docs');
  edit('third', { pin: undefined, promotion: { mode: 'Manual' }, ...apiFor('') });
  await until(() => simulation.status().candidate !== undefined, 4 * hourMs);
  assert.deepEqual([publishedPath(simulation), simulation.status().candidate?.basePath], ['/docs', '']);
  simulation.annotate({ [annotations.promote]: simulation.status().candidate?.version ?? '' });
  await until(() => publishedPath(simulation) === '', hourMs);
  edit('fourth', { promotion: { mode: 'Auto' }, ...apiFor() });
  await until(() => publishedPath(simulation) === undefined, 4 * hourMs);
  const named = simulation.status().history?.map(({ basePath }) => basePath);
  assert.deepEqual(named, [undefined, '', '/documentation', '/docs']);
});

test('the same content for another base path is published for it, and without one the known path stays', async () => {
  const simulation = ofProject({}, apiFor('/docs'));
  await simulation.until(() => publishedPath(simulation) === '/docs');
  const { version } = simulation.status().active ?? {};
  simulation.editSpec(apiFor('/documentation'));
  await simulation.until(() => publishedPath(simulation) === '/documentation', hourMs);
  simulation.editSpec(apiFor());
  await simulation.until(
    () => simulation.callsOf('start') === 3 && simulation.status().job?.verdict === 'Unchanged',
    hourMs,
  );
  assert.deepEqual(
    [publishedPath(simulation), simulation.status().active?.version],
    ['/documentation', version],
  );
});

test('a pinned job that was started elsewhere is taken for one of the base path that the spec names', async () => {
  const simulation = ofProject({}, apiFor('/docs'));
  await simulation.until(() => publishedPath(simulation) === '/docs');
  simulation.vendor.contents.set(site, { name: 'elsewhere', pages: 20 });
  const jobId = simulation.vendor.startElsewhere(site);
  simulation.editSpec({ pin: { jobId } });
  await simulation.until(() => simulation.status().active?.jobId === jobId, hourMs);
  assert.equal(publishedPath(simulation), '/docs');
});

test('the base path is published again after the output Secret is deleted', async () => {
  const simulation = ofProject({}, apiFor('/docs'));
  await simulation.until(() => publishedPath(simulation) === '/docs');
  simulation.cluster.secrets.delete(`${resource.namespace}/${outputName}`);
  await simulation.until(() => publishedPath(simulation) === '/docs', hourMs);
});
