// Permissions withdrawn while the operator runs: status, events and metrics name the missing one, a link that expires
// meanwhile is reported as expired, no blind call or write is made, and a granted permission ends it. The tests mostly
// wait, so each has its own namespace and Role, and they run at the same time.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { fastClock } from '../../support/fast-clock.ts';
import { startEnvironment } from './operator-environment.ts';
import { createReader, requirePublishedLink } from './resource-reader.ts';
import { staticExportOf } from './resources.ts';
import { withoutRight } from './role-rights.ts';

const namespaces = ['lost-rights-a', 'lost-rights-b'] as const;
/** Of the fast clock. */
const lifetimeMs = 90_000;

type Reader = ReturnType<typeof createReader>;

/** A namespace, and its readers. */
interface Team {
  readonly namespace: string;
  readonly reader: Reader;
}

const { world, vendor, start } = await startEnvironment({ namespaces, isFast: true });
const operator = await start(['--request-timeout=5s']);

const teamOf = (namespace: (typeof namespaces)[number]): Team => ({
  namespace,
  reader: createReader(world, namespace),
});

async function publish({ namespace, reader }: Team, name: string): Promise<void> {
  vendor.script(`${name}.example.com`, { lifetimeMs });
  await world.apply(staticExportOf(name, { linkRefresh: { minInterval: '1s' } }, namespace));
  await reader.awaitCondition(name, 'Ready', 'True', 'Published');
}

async function notesOf({ reader }: Team, name: string, reason: string): Promise<readonly string[]> {
  const events = await reader.eventsOf(name);
  return events.filter((one) => one.reason === reason).map(({ note }) => note);
}

async function gauge({ namespace }: Team, metric: string, name: string): Promise<number | undefined> {
  const { text } = await operator.get('/metrics');
  const line = new RegExp(`^${metric}\\{namespace="${namespace}",name="${name}"\\} (\\S+)$`, 'm').exec(text);
  return line?.[1] === undefined ? undefined : Number(line[1]);
}

describe('permissions that are removed', { concurrency: true }, () => {
  test('a resource whose Secret may not be read reports that and its expired link, and recovers', async () => {
    const team = teamOf('lost-rights-a');
    const { reader } = team;
    await publish(team, 'blind');
    await withoutRight(world, { namespace: team.namespace, resource: 'secrets', verb: 'get' }, async () => {
      const { message } = await reader.awaitCondition('blind', 'Ready', 'False', 'OutputUnreadable', 60_000);
      assert.match(
        message,
        /does not allow "get" on secrets "blind-bundle" in namespace lost-rights-a; add the verb/,
      );
      const issues = vendor.issues('blind.example.com');
      const { secret } = await reader.readOutput('blind');
      const dead = await reader.awaitCondition('blind', 'LinkFresh', 'False', 'Expired', 60_000);
      assert.match(dead.message, /expired at /);
      assert.equal((await reader.condition('blind', 'Stalled'))?.reason, 'OutputUnreadable');
      assert.equal(await gauge(team, 'staticexport_ready', 'blind'), 0);
      assert.equal(await gauge(team, 'staticexport_failing', 'blind'), 1);
      assert.deepEqual((await notesOf(team, 'blind', 'OutputUnreadable')).length, 1, 'told once');
      assert.equal(vendor.issues('blind.example.com'), issues, 'a link was asked for blindly');
      const { metadata } = (await reader.readOutput('blind')).secret;
      assert.equal(metadata.resourceVersion, secret.metadata.resourceVersion);
    });
    await reader.awaitCondition('blind', 'Ready', 'True', 'Published', 150_000);
    await eventually(
      'the metric of the recovery',
      async () => (await gauge(team, 'staticexport_ready', 'blind')) === 1 || undefined,
    );
    assert.equal(vendor.jobs('blind.example.com').length, 1);
    reader.assertRulesKept();
  });

  test('without permission to write status, an event and metrics report the resource, and its link is refreshed', async () => {
    const team = teamOf('lost-rights-b');
    const { reader } = team;
    await publish(team, 'mute');
    const before = await reader.read('sx', 'mute');
    await withoutRight(
      world,
      { namespace: team.namespace, resource: 'staticexports/status', verb: 'patch' },
      async () => {
        const [note = ''] = await eventually(
          'an event that says so',
          async () => {
            const notes = await notesOf(team, 'mute', 'StatusWriteFailed');
            return notes.length > 0 ? notes : undefined;
          },
          { timeoutMs: 60_000 },
        );
        assert.match(
          note,
          /does not allow "patch" on staticexports\.staticexport\.dev\/status "mute".*add the verb/,
        );
        assert.equal(await gauge(team, 'staticexport_failing', 'mute'), 1);
        assert.ok(((await gauge(team, 'staticexport_failed_reconciles', 'mute')) ?? 0) >= 1);
        await eventually(
          'a link that outlives what status says',
          async () => {
            const { published } = await reader.readOutput('mute');
            const told = Date.parse(before.status.active.linkExpirationTime);
            const { expiresAt } = requirePublishedLink(published);
            return fastClock.now() > told && expiresAt > fastClock.now() ? true : undefined;
          },
          { timeoutMs: 60_000 },
        );
        assert.equal(await gauge(team, 'staticexport_ready', 'mute'), 1);
      },
    );
    await eventually(
      'no failed passes',
      async () =>
        (await gauge(team, 'staticexport_failed_reconciles', 'mute')) === undefined ? true : undefined,
      { timeoutMs: 60_000 },
    );
    const { active } = (await reader.read('sx', 'mute')).status;
    assert.ok(Date.parse(active.linkExpirationTime) > Date.parse(before.status.active.linkExpirationTime));
    assert.equal(await gauge(team, 'staticexport_failing', 'mute'), 0);
  });
});
