// The container of the site's CronJob, run as it is rendered, with its folders moved: it exports from a running export
// service, and the next run exports what was added. Files are only their owner's.

import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { RenderedObject } from '../../charts/rendered-chart.ts';
import { one, render } from '../../charts/site-chart.ts';
import { runCommand } from '../../support/command.ts';
import { programFile } from '../../support/program-file.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { key, startService } from '../export-service/running-service.ts';

const folder = temporaryFolder();

const day = 86_400_000;
const line = (id: string, daysAgo: number): string =>
  `${JSON.stringify({
    id,
    timestamp: new Date(Date.now() - daysAgo * day).toISOString(),
    query: `how ${id}?`,
    response: 'so.',
    sources: [],
    queryCategory: null,
    pageUrl: null,
  })}\n`;

test("the CronJob's container exports new turns to its volume, and the next run what was added", async () => {
  const data = join(folder, 'data');
  mkdirSync(data);
  writeFileSync(join(folder, 'apiKey'), `${key}\n`, { mode: 0o600 });
  const turns = join(folder, 'turns.ndjson');
  writeFileSync(turns, line('a', 3) + line('b', 2));
  const service = await startService({ conversations: turns, defaultProject: 'docs' });

  const objects = await render('conversations', { values: { conversations: { apiBaseUrl: service.url } } });
  const pod = 'spec.jobTemplate.spec.template.spec';
  const container = new RenderedObject(one(objects, 'CronJob').at(`${pod}.initContainers.0`));
  const report = new RenderedObject(one(objects, 'CronJob').at(`${pod}.containers.0`));
  const moved = (text: string): string =>
    text.replace('/var/lib/conversations', data).replace('/etc/static-export-conversations', folder);
  const [program, ...args] = container.textsAt('args').map(moved);
  assert.equal(program, 'static-export');
  const runWith = (given: readonly string[]) =>
    runCommand([process.execPath, programFile('static-export'), ...given], {
      env: { XDG_STATE_HOME: moved(String(container.at('env.0.value'))), HOME: '/nonexistent' },
    });
  const run = () => runWith(args);
  const exported = (): readonly string[] => {
    const files = readdirSync(join(data, 'turns'), { recursive: true, encoding: 'utf8' })
      .map((name) => join(data, 'turns', name))
      .filter((file) => file.endsWith('.ndjson'));
    return files
      .flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'))
      .map((text): string => JSON.parse(text).conversation)
      .toSorted();
  };

  const first = await run();
  assert.equal(first.code, 0, first.stderr);
  assert.deepEqual(exported(), ['a', 'b']);
  appendFileSync(turns, line('c', 1));
  const second = await run();
  assert.equal(second.code, 0, second.stderr);
  assert.deepEqual(exported(), ['a', 'b', 'c']);
  const gaps = [await runWith(report.textsAt('args').map(moved).slice(1))];
  gaps.push(await runWith(report.textsAt('args').map(moved).slice(1)));
  for (const { code, stderr } of gaps) assert.equal(code, 0, stderr);
  assert.deepEqual(readdirSync(join(data, 'reports')).toSorted(), ['gaps.html', 'gaps.json']);
  for (const name of readdirSync(data, { recursive: true, encoding: 'utf8' })) {
    assert.equal(statSync(join(data, name)).mode & 0o077, 0, name);
  }
  for (const { stdout, stderr } of gaps) assert.doesNotMatch(stdout + stderr, /how|svc_/);
  assert.doesNotMatch(first.stdout + first.stderr + second.stdout + second.stderr, /how [abc]\?|svc_/);
  await service.close();
});
