// The command line of a Singer tap as one of `conversations export`, and what the tap says about itself. Pure, except for reading
// the configuration. Owns the names of its fields. Refuses unknown options and fields, because a misspelt "redact" would let
// addresses of visitors through, and a key on the command line of another process.

import { parseArgs } from 'node:util';
import { keyVariable } from '#cli/api-key.ts';
import { readBounded } from '#platform/runtime/bounded-file.ts';
import { version } from '#platform/runtime/version.ts';
import { isRecord, readJson } from '#platform/wire/json-text.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';

export type TapInvocation =
  | { readonly kind: 'run'; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
  | { readonly kind: 'discover' | 'help' | 'version' | 'about' }
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

const tapName = 'tap-static-export';
const longestConfig = 1024 * 1024;

const options = {
  config: { type: 'string', short: 'c' },
  state: { type: 'string', short: 's' },
  catalog: { type: 'string' },
  // The name of --catalog in Singer's first specification.
  properties: { type: 'string', short: 'p' },
  discover: { type: 'boolean', short: 'd' },
  about: { type: 'boolean' },
  format: { type: 'string' },
  version: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** @param argv after the program's name */
export async function readTapInvocation(argv: readonly string[]): Promise<TapInvocation> {
  const line = readLine(argv);
  if (typeof line === 'string') return { kind: 'refuse', reason: line };
  const asked = (['help', 'version', 'about', 'discover'] as const).find((name) => line[name] === true);
  if (asked === 'about' && line.format !== undefined && line.format !== 'json')
    return { kind: 'refuse', reason: '--format must be json' };
  if (asked !== undefined) return { kind: asked };
  if (line.config === undefined) return { kind: 'refuse', reason: '--config FILE is required' };
  const config = await readConfig(line.config);
  if (typeof config === 'string') return { kind: 'refuse', reason: config };
  const wrong = wrongField(config);
  if (wrong !== undefined) return { kind: 'refuse', reason: wrong };
  const flags = Object.entries(flagOf).flatMap(([field, flag]) => {
    const value = textOfField(config[field]);
    return value === '' ? [] : [flag, value];
  });
  const files = { '--state': line.state, '--catalog': line.catalog ?? line.properties };
  const key = config['api_key'];
  return {
    kind: 'run',
    args: [
      ...['conversations', 'export', '--format', 'singer', '--to', '-'],
      ...flags,
      ...(textOfField(config['drop_response']) === 'true' ? ['--drop-response'] : []),
      ...Object.entries(files).flatMap(([flag, path]) => (path === undefined ? [] : [flag, path])),
    ],
    env: typeof key === 'string' && key !== '' ? { [keyVariable]: key } : {},
  };
}

const textOfField = (value: unknown): string =>
  Array.isArray(value) ? value.join(',') : String(value ?? '');

/** @returns what is wrong with a field */
function wrongField(config: Readonly<Record<string, unknown>>): string | undefined {
  const known = new Set([...Object.keys(flagOf), 'api_key', 'drop_response']);
  const unknown = Object.keys(config).filter((field) => !known.has(field));
  if (unknown.length > 0) {
    const names = unknown.map((field) => printable(field, 40)).join(', ');
    return `--config has unknown fields: ${names}. Correct or remove them; --about prints all fields`;
  }
  // A variable of Meltano is a text where its setting has no kind.
  return ['', 'true', 'false'].includes(textOfField(config['drop_response']))
    ? undefined
    : 'drop_response of --config must be true or false';
}

/** A misspelt --state would read everything again, so that unknown words are refused. */
function readLine(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options, strict: true }).values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function readConfig(path: string): Promise<Readonly<Record<string, unknown>> | string> {
  try {
    const config = readJson(await readBounded(path, longestConfig));
    return isRecord(config) ? config : '--config must be a JSON object';
  } catch (error) {
    return `--config cannot be read (${publishableCode(error)}); check its path and permissions`;
  }
}

export const tapVersion = `${tapName} ${version}\n`;

/** What Singer's SDK calls about: who this is, and its settings as JSON Schema. */
export const tapAbout = {
  name: tapName,
  description: 'The turns of assistant conversations, as messages of Singer',
  version,
  capabilities: ['about', 'catalog', 'discover', 'state'],
  settings: {
    type: 'object',
    properties: {
      api_key: {
        type: 'string',
        secret: true,
        description: `Admin API key. Without it: key_file or $${keyVariable}`,
      },
      ...Object.fromEntries(
        Object.entries(flagOf).map(([field, flag]) => [
          field,
          {
            type: ['string', 'integer', 'null'],
            description: `${flag} of "static-export conversations export"`,
          },
        ]),
      ),
      drop_response: { type: 'boolean', description: 'Leave out the answers of the assistant' },
    },
    required: ['api_base_url', 'project'],
  },
};

const furtherFields = [
  ...Object.keys(flagOf).filter((field) => !['api_base_url', 'project', 'key_file'].includes(field)),
  'drop_response',
];

/** In lines that fit a terminal. */
function folded(words: readonly string[]): string {
  const lines = [' '];
  for (const [at, word] of words.entries()) {
    const next = at === words.length - 1 ? ` ${word}` : ` ${word},`;
    const line = lines.at(-1) ?? '';
    if (line.length + next.length <= 79) lines[lines.length - 1] = line + next;
    else lines.push(` ${next}`);
  }
  return lines.join('\n');
}

export const tapHelp = `Usage: ${tapName} --config FILE [--state FILE] [--catalog FILE]
       ${tapName} --discover | --about | --version | --help

A Singer tap: the turns of assistant conversations as SCHEMA, RECORD and STATE
messages on standard output.

  -c, --config FILE   configuration (JSON)
  -s, --state FILE    the last STATE of the target: the run goes on from there.
                      Leave it out for the first run
  --catalog FILE      catalog; fields that it does not select are left out
  -d, --discover      print the catalog
  --about             print settings and capabilities as JSON
  --version           print the version

Fields of the configuration:
${folded(['api_base_url and project (required)', 'api_key or key_file', ...furtherFields])}
  Each is the flag of "static-export conversations export" with its name, which
  explains it; start_date is --since, and end_date is --until. Without api_key
  and key_file the key is in $${keyVariable}. Other fields are refused.
`;
