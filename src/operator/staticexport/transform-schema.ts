// The schema of `spec.transform`: steps on a checked archive before it is copied to the mirror. Refuses a mode that its rule does
// not have. Invariant: the names of rules are those of `bundle repair`, and what is not listed is not done.

import * as z from 'zod';
import { repairRuleNames } from '#bundle/repair/rule-modes.ts';
import { cel, formed, namedList } from './schema-texts.ts';

const modeRule =
  'canonical needs mode Set or Strip, launchers may have mode All, and other rules have no mode';
const hostRule = 'mode Set needs host, and host needs mode Set';
const unknownHostRule = 'host must be the host of the site, not undefined or null';

const host = formed(
  253,
  '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.])*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
  'must be a bare host name in lower case such as docs.example.com: no scheme, no port, no path',
);

const rule = z
  .object({
    name: z
      .enum(repairRuleNames)
      .describe('Name of the rule, as static-export bundle repair --help describes it.'),
    mode: z
      .enum(['Set', 'Strip', 'All'])
      .describe(
        'For canonical: Set writes host into each broken address, Strip removes these addresses. For launchers: All also drops files that would start serve.js where there is none.',
      )
      .optional(),
    host: host.describe('Host of the site, for mode Set.').optional(),
  })
  .refine(
    ({ name, mode }) =>
      name === 'canonical'
        ? mode === 'Set' || mode === 'Strip'
        : mode === undefined || (name === 'launchers' && mode === 'All'),
    { error: modeRule },
  )
  .refine((value) => (value.host !== undefined) === (value.mode === 'Set'), { error: hostRule })
  .refine((value) => !/^(?:undefined(?:[.-]|$)|null$)/.test(value.host ?? ''), { error: unknownHostRule })
  .meta(
    cel(
      {
        rule: "self.name == 'canonical' ? has(self.mode) && self.mode != 'All' : !has(self.mode) || (self.name == 'launchers' && self.mode == 'All')",
        message: modeRule,
      },
      { rule: "has(self.host) == (has(self.mode) && self.mode == 'Set')", message: hostRule },
      {
        rule: "!has(self.host) || !self.host.matches('^(undefined([.-]|$)|null$)')",
        message: unknownHostRule,
      },
    ),
  )
  .describe('One rule.');

const repair = z
  .object({
    rules: z
      .array(rule)
      .min(1)
      .max(repairRuleNames.length)
      .refine((rules) => new Set(rules.map(({ name }) => name)).size === rules.length, {
        error: 'two rules have the same name',
      })
      .describe('Rules to apply. A rule that is not listed changes nothing. The order has no meaning.')
      .meta(namedList),
  })
  .describe('Repair of known defects of exports, as static-export bundle repair does it.');

export const transformSchema = z
  .object({
    repair: repair.optional(),
    search: z
      .enum(['Enabled', 'Disabled'])
      .describe(
        'Enabled adds a search that needs no vendor and no server, as static-export bundle search does it. It comes after the repair. Default: Disabled.',
      )
      .optional(),
  })
  .describe(
    'Steps on each checked archive, before it is copied to the mirror. The published digest is that of the result. It needs a mirror, and publishes no link, because a link leads to the archive as the export API made it.',
  );

export type SpecTransform = z.infer<typeof transformSchema>;
