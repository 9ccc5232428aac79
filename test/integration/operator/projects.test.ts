// StaticExports of the project-scoped form with the real operator, against a vendor written from its page: the starts of
// one key in an hour, also for the next process, and two exports of one project.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { eventually } from '../../support/eventually.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { projectKey, startProjectVendor } from '../cli/environment/project-vendor.ts';
import { startEnvironment } from './operator-environment.ts';

const vendor = await startProjectVendor(gzipSync(tarOf({ 'index.html': '<h1>home</h1>' })));
after(() => vendor.close());
vendor.knows = () => true;
const { world, reader, secret, staticExport, start } = await startEnvironment({
  namespaces: ['projects'],
  isFast: true,
  stopSignal: 'SIGKILL',
});
await world.apply(secret('ten', { apiKey: projectKey }), secret('shared', { apiKey: projectKey }));
const flags = [`--api-base-url=${vendor.url}`, '--workers=8'];
const ofProject = (name: string, projectId: string, keySecret: string) =>
  staticExport(name, { domain: undefined, api: { projectId, keySecretRef: { name: keySecret } } });

test('twelve resources of one key start nine exports in an hour, a person starts the tenth, and the next process counts on', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `of-ten-${index}`);
  let operator = await start(flags);
  await world.apply(...names.map((name) => ofProject(name, `p-${name}`, 'ten')));
  const waiting = async (): Promise<readonly string[]> => {
    const found = await Promise.all(
      names.map(async (name) => [name, await reader.condition(name, 'Exported')] as const),
    );
    return found.flatMap(([name, one]) => (one?.reason === 'StartBudgetUsed' ? [name] : []));
  };
  const late = await eventually('three that wait', async () => {
    const found = await waiting();
    assert.equal(found.length, 3);
    return found;
  });
  for (const name of names.filter((one) => !late.includes(one)))
    await reader.awaitCondition(name, 'Ready', 'True', 'Published');
  assert.equal(vendor.starts.length, 9);
  const { message = '' } = (await reader.condition(late[0] ?? '', 'Exported')) ?? {};
  assert.match(
    message,
    /All 10 starts that this key has in an hour are used, but for one .*Retrying at \d{4}-/,
  );
  await reader.request(late[1] ?? '', 'now');
  await reader.awaitCondition(late[1] ?? '', 'Ready', 'True', 'Published');
  assert.equal(vendor.starts.length, 10);
  await operator.child.stop('SIGKILL');
  operator = await start(flags);
  const again = ofProject('of-ten-late', 'p-late', 'ten');
  await world.apply(again);
  await reader.awaitCondition('of-ten-late', 'Exported', 'False', 'StartBudgetUsed');
  assert.equal(vendor.starts.length, 10);
  await operator.child.stop('SIGKILL');
});

test('two resources of one project take turns, and the one that waits says so', async () => {
  vendor.startsPerHour = 1000;
  vendor.jobMs = 4000;
  await start([...flags, '--starts-per-hour=0']);
  await world.apply(ofProject('turn-one', 'p-shared', 'shared'), ofProject('turn-two', 'p-shared', 'shared'));
  const waits = await eventually('one that waits', async () => {
    for (const name of ['turn-one', 'turn-two']) {
      const found = await reader.condition(name, 'Exported');
      if (found?.reason === 'AnotherExportRuns') return found;
    }
    throw new Error('none waits');
  });
  assert.match(waits.message, /another job of project p-shared runs/);
  for (const name of ['turn-one', 'turn-two'])
    await reader.awaitCondition(name, 'Ready', 'True', 'Published');
  const ofShared = [...vendor.jobs.values()].filter(({ project }) => project === 'p-shared');
  assert.equal(ofShared.length, 2);
});
