// Troubles of a resource in a scenario run: of the vendor, the key, the cluster and the process, and edits of users.
// Each starts, lasts, and returns its end; `stopsLinks` while no fresh link can be issued. Their names are keys of
// the campaign's record and therefore stay.

import { ClusterError } from '#platform/wire/cluster-error.ts';
import { gitTroubles } from './git-troubles.ts';
import { mirrorTroubles } from './mirror-troubles.ts';
import { objectTroubles } from './object-troubles.ts';
import type { Oracles } from './oracles.ts';
import { foreignData } from './publication-oracles.ts';
import { keySecret, outputName, resource, type Simulation } from './simulation.ts';
import { targetTroubles } from './target-troubles.ts';

export interface Script {
  readonly simulation: Simulation;
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
  codes: readonly NonNullable<Simulation['vendor']['failing']>[],
  waitsMs: readonly (number | undefined)[],
) {
  return ({ simulation }: Script): Begun => {
    const { vendor } = simulation;
    vendor.failing = simulation.dice.pick(codes);
    vendor.retryAfterMs = simulation.dice.pick(waitsMs);
    const end = (): void => {
      vendor.failing = undefined;
      vendor.retryAfterMs = undefined;
      // A refused key is used again after a write of its Secret, which a user does here.
      simulation.cluster.putSecret(keySecret, { apiKey: vendor.validKey });
    };
    return { end, stopsLinks: true };
  };
}

function edited(
  change: (simulation: Simulation) => Record<string, unknown>,
  undone: Record<string, unknown>,
): Trouble {
  return ({ simulation }) => {
    simulation.editSpec(change(simulation));
    return { end: () => simulation.editSpec(undone), stopsLinks: false };
  };
}

/** The vendor's links contain their expiry meanwhile, and another source of it is missing or wrong. */
function signing(begin: (simulation: Simulation) => void): Trouble {
  return ({ simulation }) => {
    const { vendor } = simulation;
    vendor.isSigning = true;
    begin(simulation);
    const end = (): void => {
      Object.assign(vendor, { isSigning: false, hidesExpiry: false, isDated: true, overclaimMs: 0 });
    };
    return { end, stopsLinks: false };
  };
}

export const troubles: Readonly<Record<string, Trouble>> = {
  ...targetTroubles,
  ...objectTroubles,
  ...gitTroubles,
  ...mirrorTroubles,
  outage: failing(['ServerError', 'NetworkError', 'RequestTimeout', 'UnexpectedAnswer'], [undefined]),
  'Retry-After storm': failing(['RateLimited', 'ServerError'], [30_000, 5 * minuteMs, 120 * minuteMs]),
  '401 spell': failing(['Unauthorized'], [undefined]),
  '403 spell': failing(['Forbidden'], [undefined]),
  'the same link until expiry': ({ simulation: { vendor } }) => {
    vendor.isCachingLinks = true;
    // After the same link the operator retries just after its expiry, so the vendor counts as slow until then.
    const end = (): void => {
      vendor.isCachingLinks = false;
    };
    return { end, stopsLinks: true };
  },
  'links that live shorter and shorter': ({ simulation: { vendor } }) => {
    const before = vendor.linkLifetimeMs;
    vendor.lifetimeShrinks = 0.8;
    const end = (): void => {
      vendor.lifetimeShrinks = 1;
      vendor.linkLifetimeMs = before;
    };
    return { end, stopsLinks: false };
  },
  'links that are dead on arrival': ({ simulation: { vendor, dice } }) => {
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
  'a wrong clock at the vendor': ({ simulation: { vendor, dice } }) => {
    vendor.skewMs = dice.between(-36_000, 36_000) * 1000;
    return harmless;
  },
  'a status nobody knows': ({ simulation }) => {
    simulation.vendor.ending = 'never';
    simulation.vendor.unfinishedState = 'archiving';
    simulation.annotate({ 'staticexport.dev/requestedAt': `unknown-${simulation.dice.roll()}` });
    const end = (): void => {
      simulation.vendor.ending = 'completed';
    };
    return { end, stopsLinks: false };
  },
  'jobs that fail': ({ simulation }) => {
    simulation.vendor.ending = 'failed';
    simulation.annotate({ 'staticexport.dev/requestedAt': `failing-${simulation.dice.roll()}` });
    const end = (): void => {
      simulation.vendor.ending = 'completed';
    };
    return { end, stopsLinks: false };
  },
  'the published job is lost': ({ simulation }) => {
    simulation.vendor.jobs.delete(simulation.status().active?.jobId ?? '');
    return harmless;
  },
  'every job is lost': ({ simulation }) => {
    simulation.vendor.jobs.clear();
    return harmless;
  },
  'our clock jumps': ({ simulation }) => {
    simulation.jump(simulation.dice.between(-7200, 7200) * 1000);
    return harmless;
  },
  'our clock jumps ahead by days': ({ simulation }) => {
    simulation.jump(simulation.dice.between(24, 72) * hourMs);
    return harmless;
  },
  'the key is changed at the vendor first': ({ simulation }) => {
    const { vendor } = simulation;
    vendor.validKey = `svc_secret-${simulation.dice.between(100_000, 999_999)}`;
    return {
      end: () => simulation.cluster.putSecret(keySecret, { apiKey: vendor.validKey }),
      stopsLinks: true,
    };
  },
  'the key is gone': ({ simulation }) => {
    simulation.cluster.secrets.delete(`${keySecret.namespace}/${keySecret.name}`);
    const { validKey } = simulation.vendor;
    return { end: () => simulation.cluster.putSecret(keySecret, { apiKey: validKey }), stopsLinks: true };
  },
  'a Secret that cannot be read': ({ simulation }) => {
    const { bend, dice } = simulation;
    const name = dice.pick([keySecret.name, outputName]);
    const code = dice.pick(['Forbidden', 'Unavailable'] as const);
    simulation.bend = (context, own) => {
      const bent = bend(context, own);
      const { cluster } = bent;
      const readSecret: typeof cluster.readSecret = (key, signal) =>
        key.name === name
          ? Promise.reject(new ClusterError(code, `the Secret "${name}" cannot be read`))
          : cluster.readSecret(key, signal);
      return { ...bent, cluster: { ...cluster, readSecret } };
    };
    const end = (): void => {
      simulation.bend = bend;
    };
    return { end, stopsLinks: true };
  },
  'the outputs are deleted': ({ simulation }) => {
    simulation.cluster.secrets.delete(outputId);
    simulation.cluster.configMaps.delete(outputId);
    return harmless;
  },
  'the output Secret belongs to somebody else': ({ simulation }) => {
    simulation.cluster.secrets.delete(outputId);
    simulation.cluster.putSecret(outputKey, foreignData);
    return { end: () => simulation.cluster.secrets.delete(outputId), stopsLinks: true };
  },
  'the output ConfigMap belongs to somebody else': ({ simulation }) => {
    simulation.cluster.configMaps.delete(outputId);
    simulation.cluster.putConfigMap(outputKey, foreignData);
    return { end: () => simulation.cluster.configMaps.delete(outputId), stopsLinks: false };
  },
  'the content changes': ({ simulation }) => {
    const name = `content-${simulation.dice.between(1, 9)}`;
    simulation.vendor.contents.set('docs.example.com', { name, pages: simulation.dice.between(8, 30) });
    simulation.annotate({ 'staticexport.dev/requestedAt': `edit-${simulation.dice.roll()}` });
    return harmless;
  },
  'the held candidate is rejected': ({ simulation }) => {
    simulation.vendor.contents.set('docs.example.com', { name: 'shrunk', pages: 1 });
    simulation.annotate({ 'staticexport.dev/requestedAt': `shrunk-${simulation.dice.roll()}` });
    const end = (): void => {
      simulation.annotate({ 'staticexport.dev/reject': simulation.status().candidate?.version ?? '' });
      simulation.vendor.contents.set('docs.example.com', { name: 'whole', pages: 20 });
    };
    return { end, stopsLinks: false };
  },
  'a burst of hooks': ({ simulation }) => {
    simulation.vendor.contents.set('docs.example.com', {
      name: 'pushed',
      pages: simulation.dice.between(15, 30),
    });
    simulation.hook(simulation.dice.between(1, 50), simulation.dice.between(0, 5000));
    return harmless;
  },
  'hooks without end': ({ simulation }) => {
    simulation.hook(simulation.dice.between(50, 300), simulation.dice.between(10, 59) * 1000);
    return harmless;
  },
  'hooks while exports fail': ({ simulation }) => {
    const { vendor, dice } = simulation;
    vendor.failing = dice.pick(['ServerError', 'BadRequest'] as const);
    simulation.hook(dice.between(5, 50), dice.between(30, 300) * 1000);
    const end = (): void => {
      vendor.failing = undefined;
    };
    return { end, stopsLinks: true };
  },
  'a new link is requested': ({ simulation }) => {
    simulation.annotate({ 'staticexport.dev/refreshRequestedAt': `leaked-${simulation.dice.roll()}` });
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
    (simulation) => ({
      pin: {
        version: simulation.dice.pick([...(simulation.status().history ?? []), { version: 'none' }]).version,
      },
    }),
    { pin: undefined },
  ),
  'a pin of a job from elsewhere': edited(
    (simulation) => ({ pin: { jobId: simulation.vendor.startElsewhere('docs.example.com') } }),
    { pin: undefined },
  ),
  'manual promotion': edited(() => ({ promotion: { mode: 'Manual' } }), { promotion: { mode: 'Auto' } }),
  'an edit to nonsense': ({ simulation }) => {
    simulation.editSpec({ domain: 42 });
    return { end: () => simulation.editSpec({ domain: 'docs.example.com' }), stopsLinks: true };
  },
  'a cluster that takes no output': ({ simulation }) => {
    const { faults } = simulation;
    simulation.faults = { next: (name) => (name === 'cluster.applySecret' ? 'refused' : faults.next(name)) };
    const end = (): void => {
      simulation.faults = faults;
    };
    return { end, stopsLinks: true };
  },
  'the process is killed': ({ simulation }) => {
    simulation.restart();
    return harmless;
  },
  'an edit that no event told of': ({ simulation }) => {
    const { wakeAt } = simulation;
    simulation.annotate({ 'staticexport.dev/requestedAt': `unheard-${simulation.dice.roll()}` });
    simulation.wakeAt = wakeAt;
    return harmless;
  },
  'events that come twice': ({ simulation }) => {
    simulation.echoes = simulation.dice.pick([0.2, 1]);
    const end = (): void => {
      simulation.echoes = 0;
    };
    return { end, stopsLinks: false };
  },
  'two processes that both lead': ({ simulation, oracles }) => {
    const { faults, dice } = simulation;
    const isSharing = (name: string): boolean => !name.startsWith('bundles') && dice.isBelow(0.1);
    simulation.faults = {
      next: (name) => {
        if (!isSharing(name)) return faults.next(name);
        oracles.share();
        return 'overtaken';
      },
    };
    const end = (): void => {
      simulation.faults = faults;
    };
    return { end, stopsLinks: true };
  },
  'deleted and made again': ({ simulation, oracles }) => {
    const { spec } = simulation.object() ?? { spec: {} };
    simulation.cluster.remove(resource);
    const end = (): void => {
      simulation.cluster.create(resource, spec);
      oracles.startOver();
    };
    simulation.prompt();
    return { end, stopsLinks: true };
  },
};
