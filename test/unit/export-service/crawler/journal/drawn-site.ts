// Sites that a property draws: pages, files, redirects and missing addresses that lead to each other.

import type { Served } from '../../../../fixtures/sites/trap-site.ts';
import * as fc from '../../../../support/properties.ts';

/** One address of a drawn site, `/0` and so on; `/` leads to the first ones. */
export interface Drawn {
  readonly kind: 'page' | 'file' | 'redirect' | 'missing';
  readonly leadsTo: readonly number[];
}

export const drawnSite = fc.array(
  fc.record<Drawn>({
    kind: fc.constantFrom('page', 'page', 'page', 'file', 'redirect', 'missing'),
    leadsTo: fc.array(fc.nat({ max: 11 }), { maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 12 },
);

export function servedBy(site: readonly Drawn[]): (path: string) => Served | undefined {
  const link = (at: number): string =>
    site[at]?.kind === 'file' ? `<script src="/${at}.js"></script>` : `<a href="/${at}">`;
  return (path) => {
    if (path === '/') return html([0, 1, 2].map(link).join(''));
    const [, number, extension = ''] = /^\/(\d+)(\.js)?$/.exec(path) ?? [];
    const at = Number(number);
    const drawn = site[at];
    if (drawn === undefined || (drawn.kind === 'file') !== (extension === '.js')) return undefined;
    if (drawn.kind === 'page') return html(`${at}${drawn.leadsTo.map(link).join('')}`);
    if (drawn.kind === 'file') return { headers: { 'content-type': 'text/javascript' }, body: `var n${at}` };
    return drawn.kind === 'redirect'
      ? { status: 302, headers: { location: `/${drawn.leadsTo[0] ?? 0}` } }
      : undefined;
  };
}

const html = (body: string): Served => ({ headers: { 'content-type': 'text/html' }, body });
