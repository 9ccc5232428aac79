// What requests for assets of another host carry: the name of a browser, and nothing else. Refuses cookies, and headers that an
// administrator set for the origin. Invariant: all requests carry the same.

import type { OriginFetcher } from '../origin/origin-fetcher.ts';
import { nothingLearned, type OriginSession, type SessionAnswer } from '../origin/origin-session.ts';

/** Hosts of fonts send the formats that a browser takes, by its name: to another one they send larger, older ones. */
const browser =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

export function createAssetSession(fetcher: OriginFetcher): OriginSession {
  const how = { headers: { 'user-agent': browser } };
  const said = <A>(answer: A): SessionAnswer<A> => ({ answer, learned: nothingLearned, carried: '' });
  return {
    get: async (address, _isPage, signal, take) => said(await fetcher.get(address, signal, take, how)),
    getIfModified: async (address, _isPage, signal, take, { validators }) =>
      said(await fetcher.getIfModified(address, signal, take, validators, how)),
    carried: () => '',
    adopt: () => {},
  };
}
