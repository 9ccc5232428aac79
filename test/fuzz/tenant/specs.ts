// Unusual specs of StaticExports: most that the CRD admits, a few that it does not. No address in them leads out of the
// loopback network. Pure: the same dice give the same spec.

import type { Dice } from '../mutation.ts';
import { between, fill, isLucky, makeOddText, pick } from './choice.ts';
import type { TenantContext } from './context.ts';

const schedules: readonly string[] = [
  '* * * * *',
  '*/1 * * * *',
  '0 0 31 2 *',
  '0 0 30 2 1-5',
  '0 0 29 2 *',
  '59 23 31 12 7',
  '0 0 * * 1#5',
  '0 0 L * *',
  '0 0 LW * *',
  '0 0 * * 5L',
  '? ? ? ? ?',
  '*/0 * * * *',
  '*/99999999 * * * *',
  '61 * * * *',
  '-1 * * * *',
  '0-59/1 0-23 1-31 1-12 0-7',
  '99999999999999999999 * * * *',
  `${fill('1,', 80)}1 * * * *`,
  '@daily',
  '@yearly',
  '@hourly',
  '*\t*\t*\t*\t*',
  '  0   0 * * * ',
  '0 0 1 JAN-DEC SUN-SAT',
  'a b c d e',
  '1-0 * * * *',
  '0 0 31 4,6,9,11 *',
  '0 0 31 2 1#5',
  '0 2 * * *',
  '30 1 26 10 *',
  '٣ * * * *',
  '0 0 1W * *',
];
const zones: readonly string[] = [
  'UTC',
  'Europe/Berlin',
  'europe/BERLIN',
  'Antarctica/Troll',
  'Africa/Casablanca',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Etc/GMT+12',
  'Etc/GMT-14',
  'Factory',
  'Mars/Olympus',
  '/etc/passwd',
  '__proto__',
  '+01',
  '-',
  'EST5EDT',
  'GMT0',
  fill('A/', 64),
];
const durations: readonly string[] = [
  '0s',
  '0ms',
  '1ms',
  '1s',
  '2s',
  '30s',
  '1h',
  '999999d',
  '999999d999999h999999m999999s',
  '999999ms',
  '0d0h0m0s',
  '1s1s1s1s',
  '24d',
  '25d',
];
const sizes: readonly string[] = ['1Mi', '2Mi', '1Gi', '999999Ti', '999999Mi'];
const domains: readonly string[] = [
  'localhost',
  '127.0.0.1',
  '1',
  'xn--bcher-kva.example',
  `${fill('a.', 250)}aaa`,
  fill('a', 63),
  'UPPER.example.COM',
  '169.254.169.254',
  'constructor',
];
const objectNames: readonly string[] = [
  'a',
  'kube-root-ca.crt',
  fill('a', 253),
  'docs-bundle',
  'export-api',
  '0',
  'a.b-c',
];

function makeBaseUrl(dice: Dice, { hostileUrl, neighbourUrl, trapUrl }: TenantContext): string {
  const { port, hostname } = new URL(hostileUrl);
  const trap = new URL(trapUrl).host;
  return pick(dice, [
    hostileUrl,
    neighbourUrl,
    trapUrl,
    hostileUrl.toUpperCase(),
    hostileUrl.replace('http:', 'https:'),
    `http://${hostname}.:${port}/api`,
    `http://${hostname}:${port}/${fill('a/', 1_800)}`,
    `http://${hostname}:${port}//..;/%2e%2e/%00`,
    `http://${hostname}:${port}/\u202e/\u00e4`,
    `http://${hostname}:${port}/ a`,
    `http://${hostname}:0/`,
    `http://${hostname}:65535/`,
    `http://${hostname}:1/`,
    `http://[::1]:${port}/`,
    `http://[::ffff:${hostname}]:${port}/`,
    'http://2130706433:1/',
    'http://0x7f000001:1/',
    'http://0:1/',
    `http://${trap}\\.${hostname}/`,
    `http://${hostname}\\@${trap}/`,
    `http://${hostname}@${trap}/`,
    `http://${trap}/${hostname}`,
    `http://${hostname}.${trap}/`,
    `http://${hostname}%2e${trap}/`,
    'http://a.invalid/',
    'http://\u202egro.invalid/',
    'http://localhost:1/',
    `http://${fill('a', 2_000)}.invalid/`,
  ]);
}

export function makeTarget(dice: Dice, { namespace, servedNamespace, servedOutput }: TenantContext): object {
  const kind = pick(dice, ['ConfigMap', 'Secret', 'Secret']);
  const values = {
    kind,
    ...(isLucky(dice, 60) && {
      namespace: pick(dice, [
        namespace,
        servedNamespace,
        'kube-system',
        'default',
        'static-export',
        'nowhere',
      ]),
    }),
    name: pick(dice, [
      ...objectNames,
      servedOutput,
      'pub-0-bundle',
      'pub-1-bundle',
      `doc-${dice(4)}-${dice(16)}`,
    ]),
    ...(isLucky(dice, 50) && {
      key: pick(dice, [
        'values.yaml',
        'bundle.json',
        'version',
        '..',
        '.',
        fill('k', 253),
        'apiKey',
        '__proto__',
      ]),
    }),
  };
  const write = pick(dice, [
    undefined,
    ['version'],
    kind === 'Secret' ? ['bundleUrl'] : ['version'],
    kind === 'Secret' ? ['version', 'bundleUrl'] : undefined,
  ]);
  return { name: `t${between(dice, 0, 99)}`, type: 'Values', values, ...(write !== undefined && { write }) };
}

/** Each part is ordinary or odd for itself. */
export function makeSpec(dice: Dice, context: TenantContext, domain: string): object {
  const odd = (): boolean => isLucky(dice, 35);
  const linkRefresh = {
    ...(odd() && { atPercent: pick(dice, [10, 90, 50, 9, 91]) }),
    ...(odd() && { minInterval: pick(dice, durations) }),
  };
  const promotion = pick<object | undefined>(dice, [
    undefined,
    { inspect: 'Never' },
    { mode: 'Manual' },
    { inspect: 'Always', minPages: pick(dice, [0, 1, 10_000_000]), maxShrinkPercent: pick(dice, [0, 100]) },
    { maxBundleSize: pick(dice, sizes), mode: 'Auto' },
    { inspect: 'Never', minPages: 1 },
  ]);
  const pin = pick<object | undefined>(dice, [
    undefined,
    undefined,
    undefined,
    undefined,
    { version: makeOddText(dice, 63) },
    {
      jobId: isLucky(dice, 50)
        ? makeOddText(dice, 500)
        : pick(dice, ['..', '../../v1/jobs', '%00', fill('\u{1f4a3}', 1_000), 'j1']),
    },
    {},
  ]);
  return {
    domain: odd() ? pick(dice, domains) : domain,
    api: {
      ...(isLucky(dice, 80) && { baseUrl: odd() ? makeBaseUrl(dice, context) : context.hostileUrl }),
      keySecretRef: {
        name: odd() ? pick(dice, [...objectNames, 'key-0', 'key-1', 'key-2']) : 'hostile-api',
        ...(odd() && { key: pick(dice, ['apiKey', '..', 'none', '__proto__', fill('k', 253)]) }),
      },
    },
    ...(odd() && { schedule: pick(dice, schedules), ...(odd() && { timeZone: pick(dice, zones) }) }),
    ...(odd() && { jobTimeout: pick(dice, durations) }),
    ...(Object.keys(linkRefresh).length > 0 && { linkRefresh }),
    ...(promotion !== undefined && { promotion }),
    ...(pin !== undefined && { pin }),
    ...(odd() && { historyLimit: pick(dice, [1, 5, 50, 0, 51]) }),
    ...(odd() && { suspend: isLucky(dice, 50) }),
    ...(odd() && { targets: Array.from({ length: between(dice, 1, 16) }, () => makeTarget(dice, context)) }),
  };
}

/** One StaticExport for each schedule: the search for its next time is work, and some have none. */
export const listSchedules = (): readonly { readonly schedule: string; readonly timeZone: string }[] =>
  schedules.map((schedule, at) => ({ schedule, timeZone: zones[at % zones.length] ?? 'UTC' }));
