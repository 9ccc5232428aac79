// How many requests each client may send: a bucket for each network that fills again with time. Holds a bounded number of
// them, and forgets those that are full again first. Refuses text that is not an address: it would be a key of any length.

import { isIP } from 'node:net';
import type { Clock } from '#platform/runtime/clock.ts';

const minuteMs = 60_000;
const mostAddresses = 10_000;

interface Bucket {
  readonly left: number;
  readonly at: number;
}

export interface ClientRate {
  /**
   * Takes one request of this client.
   * @param client as {@link clientOf} names it
   * @returns how long the client must wait, in ms; `undefined` if it may proceed
   */
  take(client: string): number | undefined;
  /** For a request that does not count after all. */
  giveBack(client: string): void;
}

/** @param perMinute requests of one client in a minute, all at once if it was quiet before */
export function createClientRate(clock: Pick<Clock, 'monotonic'>, perMinute: number): ClientRate {
  const buckets = new Map<string, Bucket>();
  const refilled = ({ left, at }: Bucket, now: number): number =>
    Math.min(perMinute, left + ((now - at) / minuteMs) * perMinute);
  const forget = (now: number): void => {
    for (const [key, bucket] of buckets) if (refilled(bucket, now) >= perMinute) buckets.delete(key);
    const [oldest] = buckets.keys();
    if (buckets.size >= mostAddresses && oldest !== undefined) buckets.delete(oldest);
  };
  return {
    take: (key) => {
      const now = clock.monotonic();
      const before = buckets.get(key);
      const left = before === undefined ? perMinute : refilled(before, now);
      if (left < 1) return Math.ceil(((1 - left) * minuteMs) / perMinute);
      if (before === undefined && buckets.size >= mostAddresses) forget(now);
      // At the end of the order, so that the first key is the address that was quiet for longest.
      buckets.delete(key);
      buckets.set(key, { left: left - 1, at: now });
      return undefined;
    },
    giveBack: (key) => {
      const bucket = buckets.get(key);
      if (bucket !== undefined) buckets.set(key, { ...bucket, left: Math.min(perMinute, bucket.left + 1) });
    },
  };
}

/**
 * @param named what a trusted proxy, or the connection, says of the client; some proxies add a port
 * @param connected the address of the connection, which counts where that is not an address
 */
export function clientOf(named: string | undefined, connected: string | undefined): string {
  const text = named?.replace(/^\[(.*)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/, '$1$2') ?? '';
  return networkOf(isIP(text) === 0 ? (connected ?? '') : text);
}

/** An IPv4 address, or the /64 of an IPv6 address, because one client has all addresses in it. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').toLowerCase();
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.replace(/%.*$/, '').split('::', 2);
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  const groups = tail === undefined ? before : [...before, ...zeros, ...after];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
