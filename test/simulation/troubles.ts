// What may happen to a resource in a long life: troubles of the vendor, of the key, of the cluster and of the
// process, and what users do. Each begins, lasts, and says how it ends; `stopsLinks` where no fresh link can be had.

import { ClusterError } from '../../src/wire/cluster-error.ts';
import type { Oracles } from './oracles.ts';
import { foreignData } from './publication-oracles.ts';
import { targetTroubles } from './target-troubles.ts';
import { keySecret, outputName, resource, type World } from './world.ts';

export interface Script {
  readonly world: World;
  readonly oracles: Oracles;
}

interface Begun {
  readonly end?: () => void;
  readonly stopsLinks: boolean;
}

export type Trouble = (script: Script) => Begun;

const outputKey = { namespace: resource.namespace, name: outputName };
const outputId = `${outputKey.namespace}/${outputKey.name}`;
const harmless: Begun = { stopsLinks: false };
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

function failing(
  codes: readonly NonNullable<World['vendor']['failing']>[],
  waitsMs: readonly (number | undefined)[],
) {
  return ({ world }: Script): Begun => {
    const { vendor } = world;
    vendor.failing = world.dice.pick(codes);
    vendor.retryAfterMs = world.dice.pick(waitsMs);
    const end = (): void => {
      vendor.failing = undefined;
      vendor.retryAfterMs = undefined;
      // A key that was refused is tried again when its Secret is touched; a person does that.
      world.cluster.putSecret(keySecret, { apiKey: vendor.validKey });
    };
    return { end, stopsLinks: true };
  };
}

function edited(change: (world: World) => Record<string, unknown>, undone: Record<string, unknown>): Trouble {
  return ({ world }) => {
    world.editSpec(change(world));
    return { end: () => world.editSpec(undone), stopsLinks: false };
  };
}

/** Its links name their life themselves meanwhile, and something else does not, or wrongly. */
function signing(begin: (world: World) => void): Trouble {
  return ({ world }) => {
    const { vendor } = world;
    vendor.isSigning = true;
    begin(world);
    const end = (): void => {
      Object.assign(vendor, { isSigning: false, hidesExpiry: false, isDated: true, overclaimMs: 0 });
    };
    return { end, stopsLinks: false };
  };
}

export const troubles: Readonly<Record<string, Trouble>> = {
  ...targetTroubles,
  outage: failing(['ServerError', 'NetworkError', 'RequestTimeout', 'UnexpectedAnswer'], [undefined]),
  'Retry-After storm': failing(['RateLimited', 'ServerError'], [30_000, 5 * minuteMs, 120 * minuteMs]),
  '401 spell': failing(['Unauthorized'], [undefined]),
  '403 spell': failing(['Forbidden'], [undefined]),
  'the same link until expiry': ({ world: { vendor } }) => {
    vendor.isCachingLinks = true;
    // Who was given the same link looks again just after its end, so it stays a slow vendor until then.
    const end = (): void => {
      vendor.isCachingLinks = false;
    };
    return { end, stopsLinks: true };
  },
  'links that live shorter and shorter': ({ world: { vendor } }) => {
    const before = vendor.linkLifetimeMs;
    vendor.lifetimeShrinks = 0.8;
    const end = (): void => {
      vendor.lifetimeShrinks = 1;
      vendor.linkLifetimeMs = before;
    };
    return { end, stopsLinks: false };
  },
  'links that are dead on arrival': ({ world: { vendor, dice } }) => {
    vendor.unusableLinks = dice.between(1, 7);
    const end = (): void => {
      vendor.unusableLinks = 0;
    };
    return { end, stopsLinks: true };
  },
  'links that end before it is said': signing(({ vendor, dice }) => {
    vendor.overclaimMs = dice.between(1, 30 * 24) * hourMs;
  }),
  'links that alone say when they end': signing(({ vendor }) => {
    vendor.hidesExpiry = true;
  }),
  'answers without a date': signing(({ vendor }) => {
    vendor.isDated = false;
  }),
  'a wrong clock at the vendor': ({ world: { vendor, dice } }) => {
    vendor.skewMs = dice.between(-36_000, 36_000) * 1000;
    return harmless;
  },
  'a status nobody knows': ({ world }) => {
    world.vendor.ending = 'never';
    world.vendor.unfinishedState = 'archiving';
    world.annotate({ 'staticexport.dev/requestedAt': `unknown-${world.dice.roll()}` });
    const end = (): void => {
      world.vendor.ending = 'completed';
    };
    return { end, stopsLinks: false };
  },
  'jobs that fail': ({ world }) => {
    world.vendor.ending = 'failed';
    world.annotate({ 'staticexport.dev/requestedAt': `failing-${world.dice.roll()}` });
    const end = (): void => {
      world.vendor.ending = 'completed';
    };
    return { end, stopsLinks: false };
  },
  'the published job is lost': ({ world }) => {
    world.vendor.jobs.delete(world.status().active?.jobId ?? '');
    return harmless;
  },
  'every job is lost': ({ world }) => {
    world.vendor.jobs.clear();
    return harmless;
  },
  'our clock jumps': ({ world }) => {
    world.jump(world.dice.between(-7200, 7200) * 1000);
    return harmless;
  },
  'our clock jumps ahead by days': ({ world }) => {
    world.jump(world.dice.between(24, 72) * hourMs);
    return harmless;
  },
  'the key is changed at the vendor first': ({ world }) => {
    const { vendor } = world;
    vendor.validKey = `svc_secret-${world.dice.between(100_000, 999_999)}`;
    return { end: () => world.cluster.putSecret(keySecret, { apiKey: vendor.validKey }), stopsLinks: true };
  },
  'the key is gone': ({ world }) => {
    world.cluster.secrets.delete(`${keySecret.namespace}/${keySecret.name}`);
    const { validKey } = world.vendor;
    return { end: () => world.cluster.putSecret(keySecret, { apiKey: validKey }), stopsLinks: true };
  },
  'a Secret that cannot be read': ({ world }) => {
    const { bend, dice } = world;
    const name = dice.pick([keySecret.name, outputName]);
    const code = dice.pick(['Forbidden', 'Unavailable'] as const);
    world.bend = (context, own) => {
      const bent = bend(context, own);
      const { cluster } = bent;
      const readSecret: typeof cluster.readSecret = (key, signal) =>
        key.name === name
          ? Promise.reject(new ClusterError(code, `the Secret "${name}" cannot be read`))
          : cluster.readSecret(key, signal);
      return { ...bent, cluster: { ...cluster, readSecret } };
    };
    const end = (): void => {
      world.bend = bend;
    };
    return { end, stopsLinks: true };
  },
  'the outputs are deleted': ({ world }) => {
    world.cluster.secrets.delete(outputId);
    world.cluster.configMaps.delete(outputId);
    return harmless;
  },
  'the output Secret belongs to somebody else': ({ world }) => {
    world.cluster.secrets.delete(outputId);
    world.cluster.putSecret(outputKey, foreignData);
    return { end: () => world.cluster.secrets.delete(outputId), stopsLinks: true };
  },
  'the output ConfigMap belongs to somebody else': ({ world }) => {
    world.cluster.configMaps.delete(outputId);
    world.cluster.putConfigMap(outputKey, foreignData);
    return { end: () => world.cluster.configMaps.delete(outputId), stopsLinks: false };
  },
  'the content changes': ({ world }) => {
    const name = `content-${world.dice.between(1, 9)}`;
    world.vendor.contents.set('docs.example.com', { name, pages: world.dice.between(8, 30) });
    world.annotate({ 'staticexport.dev/requestedAt': `edit-${world.dice.roll()}` });
    return harmless;
  },
  'another time of refresh': edited(
    ({ dice }) => ({
      linkRefresh: { atPercent: dice.between(10, 90), minInterval: dice.pick(['5s', '30s', '5m']) },
    }),
    { linkRefresh: undefined },
  ),
  'other inputs': edited(() => ({ domain: 'www.example.com' }), { domain: 'docs.example.com' }),
  suspension: edited(() => ({ suspend: true }), { suspend: false }),
  'a pin': edited(
    (world) => ({
      pin: { version: world.dice.pick([...(world.status().history ?? []), { version: 'none' }]).version },
    }),
    { pin: undefined },
  ),
  'a pin of a job from elsewhere': edited(
    (world) => ({ pin: { jobId: world.vendor.startElsewhere('docs.example.com') } }),
    { pin: undefined },
  ),
  'manual promotion': edited(() => ({ promotion: { mode: 'Manual' } }), { promotion: { mode: 'Auto' } }),
  'an edit to nonsense': ({ world }) => {
    world.editSpec({ domain: 42 });
    return { end: () => world.editSpec({ domain: 'docs.example.com' }), stopsLinks: true };
  },
  'a cluster that takes no output': ({ world }) => {
    const { faults } = world;
    world.faults = { next: (name) => (name === 'cluster.applySecret' ? 'refused' : faults.next(name)) };
    const end = (): void => {
      world.faults = faults;
    };
    return { end, stopsLinks: true };
  },
  'the process is killed': ({ world }) => {
    world.restart();
    return harmless;
  },
  'an edit that no event told of': ({ world }) => {
    const { wakeAt } = world;
    world.annotate({ 'staticexport.dev/requestedAt': `unheard-${world.dice.roll()}` });
    world.wakeAt = wakeAt;
    return harmless;
  },
  'events that come twice': ({ world }) => {
    world.echoes = world.dice.pick([0.2, 1]);
    const end = (): void => {
      world.echoes = 0;
    };
    return { end, stopsLinks: false };
  },
  'two processes that both lead': ({ world }) => {
    const { faults, dice } = world;
    const isSharing = (name: string): boolean => !name.startsWith('bundles') && dice.isBelow(0.1);
    world.faults = { next: (name) => (isSharing(name) ? 'overtaken' : faults.next(name)) };
    const end = (): void => {
      world.faults = faults;
    };
    return { end, stopsLinks: true };
  },
  'deleted and made again': ({ world, oracles }) => {
    const { spec } = world.object() ?? { spec: {} };
    world.cluster.remove(resource);
    const end = (): void => {
      world.cluster.create(resource, spec);
      oracles.startAnew();
    };
    world.prompt();
    return { end, stopsLinks: true };
  },
};
