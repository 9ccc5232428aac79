// The command line of a Singer tap as one of `conversations export`: `--config`, `--state`, `--catalog` and `--discover`. Pure,
// except for reading the configuration. Owns the names of its fields. Refuses: a key on the command line of another process.

import { readBounded } from '../../runtime/bounded-file.ts';
import { isRecord, readJson } from '../../wire/json-text.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import { keyVariable } from '../api-key.ts';

export type TapInvocation =
  | { readonly kind: 'run'; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
  | { readonly kind: 'discover' }
  | { readonly kind: 'help' }
  | { readonly kind: 'refuse'; readonly reason: string };

/** Fields of the configuration, and the flags that they are. */
const flagOf: Readonly<Record<string, string>> = {
  api_base_url: '--api-base-url',
  project: '--project',
  key_file: '--key-file',
  start_date: '--since',
  end_date: '--until',
  lag: '--lag',
  look_back: '--look-back',
  limit: '--limit',
  budget: '--budget',
  reserve: '--reserve',
  max_wait: '--max-wait',
  request_timeout: '--request-timeout',
  redact: '--redact',
  redact_key_file: '--redact-key-file',
  extra_ca_file: '--extra-ca-file',
};

const longestConfig = 1024 * 1024;

/** @param argv after the program's name */
export async function readTapInvocation(argv: readonly string[]): Promise<TapInvocation> {
  if (argv.includes('--help') || argv.includes('-h')) return { kind: 'help' };
  if (argv.includes('--discover') || argv.includes('-d')) return { kind: 'discover' };
  const optionOf = (...names: readonly string[]): string | undefined => {
    const given = argv.find((one) => names.some((name) => one.startsWith(`${name}=`)));
    if (given !== undefined) return given.slice(given.indexOf('=') + 1);
    const index = argv.findIndex((one) => names.includes(one));
    return index < 0 ? undefined : argv[index + 1];
  };
  const path = optionOf('--config', '-c');
  if (path === undefined) return { kind: 'refuse', reason: '--config FILE is required' };
  const config = await readConfig(path);
  if (typeof config === 'string') return { kind: 'refuse', reason: config };
  const state = optionOf('--state', '-s');
  const flags = Object.entries(flagOf).flatMap(([field, flag]) => {
    const value = config[field];
    if (value === undefined || value === null || value === '') return [];
    return [flag, Array.isArray(value) ? value.join(',') : String(value)];
  });
  const key = config['api_key'];
  return {
    kind: 'run',
    args: [
      ...['conversations', 'export', '--format', 'singer', '--to', '-'],
      ...flags,
      ...(config['drop_response'] === true ? ['--drop-response'] : []),
      ...(state === undefined ? [] : ['--state', state]),
    ],
    env: typeof key === 'string' && key !== '' ? { [keyVariable]: key } : {},
  };
}

async function readConfig(path: string): Promise<Readonly<Record<string, unknown>> | string> {
  try {
    const config = readJson(await readBounded(path, longestConfig));
    return isRecord(config) ? config : '--config must be a JSON object';
  } catch (error) {
    return `--config cannot be read (${publishableCode(error)})`;
  }
}

export const tapHelp = `Usage: tap-static-export --config FILE [--state FILE] [--catalog FILE] [--discover]

A Singer tap: the turns of assistant conversations as SCHEMA, RECORD and STATE messages on standard output.

Fields of the configuration (JSON):
  api_key or key_file, ${Object.keys(flagOf)
    .filter((field) => field !== 'key_file')
    .join(', ')}, drop_response
  Each is the flag of "static-export conversations export" with its name; start_date is --since.
`;
