// What the two files of settings may say. A file of the repository sets flags of commands, but none that changes where a
// key or the words of visitors go, or what is trusted: a pull request must not be able to redirect them. A file of the user
// holds profiles, which name a key's file and never a key. Refuses: unknown fields. Invariant: no error repeats a value, which
// may be a key, nor a name that is not one of a field.

import { lstatSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import * as z from 'zod';
import { type Configured, type ConfiguredFlag, noneConfigured } from '#platform/runtime/flags/configured.ts';
import { flagName, variableName } from '#platform/runtime/flags/flags.ts';
import { nearest } from '#platform/runtime/flags/nearest.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { CliError } from '../cli-error.ts';
import { type Command, programName } from '../command.ts';
import { PlainYamlError, readPlainYaml } from '../plain-yaml.ts';

/** A file as people know it, and its content. */
export interface ConfigurationFile {
  readonly label: string;
  readonly folder: string;
  readonly text: string;
}

/**
 * Flags that a repository may set, by command. Any other is refused there, also one that is added later: `to` of a
 * conversation's command would put words of visitors where a pull request says.
 */
export const repositoryFlags: Readonly<Record<string, readonly string[]>> = {
  export: [
    'projectId',
    'basePath',
    'to',
    'values',
    'minPages',
    'allowMissingHomePage',
    'maxShrink',
    'baseline',
    'unchangedExitCode',
  ],
  run: ['file', 'once', 'publish', 'values', 'inspectTimeout'],
  'bundle inspect': ['files'],
  'bundle serve': ['basePath'],
  'kit create': ['to'],
  'conversations gaps': ['basePath'],
};
/** And these of every command that has them. */
const limitFlags: readonly string[] = ['timeout', 'requestTimeout', 'maxArchiveSize', 'maxBundleSize'];
const shownFlags: readonly string[] = ['output', 'ci', 'resultsDir', 'quiet'];
/** Of every command, so at the top of the file. */
const commonFields: readonly string[] = [...shownFlags, 'profile'];

const maySet = ({ words }: Command, key: string): boolean =>
  [...(repositoryFlags[words] ?? []), ...limitFlags, ...shownFlags].includes(key);
/** Their values are paths inside the folder of the file. `publish` has one after `=`. */
const pathFlags: ReadonlySet<string> = new Set(['resultsDir', 'to', 'values', 'baseline', 'file', 'publish']);

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const flagValue = z.union([scalar, z.array(scalar)]);
const section = z.record(z.string(), z.unknown());

const profileSchema = z.strictObject({
  apiBaseUrl: z.string().optional(),
  allowedApiHosts: z.array(z.string()).optional(),
  keyFile: z.string().optional(),
  extraCaFile: z.string().optional(),
  allowPrivateLinks: z.boolean().optional(),
  kubeconfig: z.string().optional(),
  context: z.string().optional(),
  namespace: z.string().optional(),
});
const userSchema = z.strictObject({
  currentProfile: z.string().optional(),
  profiles: z.record(z.string(), profileSchema),
});
/** Where people look for a place for the key itself. */
const keyNames = /^(?:api-?key|key|token|secret|password)$/i;

/** Such a command must not run with other settings than its repository's. Limits alone do not matter so much. */
export const takesSettings = ({ words }: Command): boolean => Object.hasOwn(repositoryFlags, words);

/**
 * @param warn gets what is wrong where the command takes no settings and has no part in it
 * @throws {CliError} `ConfigurationInvalid`, `ConfigurationRefused`
 */
export function readRepositoryFile(
  file: ConfigurationFile,
  command: Command,
  commands: readonly Command[],
  cwd: string,
  warn: (error: CliError) => void,
): Configured {
  const isStrict = takesSettings(command);
  const attempt = <T>(work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      if (isStrict || !(error instanceof CliError)) throw error;
      warn(error);
      return undefined;
    }
  };
  const flags = new Map<string, ConfiguredFlag>();
  const args = new Map<string, string>();
  const readFlag = (of: Command, key: string, value: unknown, field: string): void => {
    const known = Object.keys(of.description.flags);
    if (!known.includes(key))
      throw unknownField(
        file,
        field,
        known.filter((one) => maySet(of, one)),
      );
    if (!maySet(of, key)) throw refusedFlag(file, field, key);
    const texts = textsOf(value, file, field);
    const placed = pathFlags.has(key) ? texts.map((text) => pathInside(text, file, field, cwd)) : texts;
    if (of === command) flags.set(key, { texts: placed, source: `${file.label}: ${field}` });
  };
  const readSection = (words: string, value: unknown): void => {
    const field = words.replaceAll(' ', '.');
    const of = commands.find((one) => one.words === words);
    const isGroup = commands.some((one) => one.words.startsWith(`${words} `));
    if (of === undefined && !isGroup) {
      const isFlag = commands.some(({ description }) => Object.hasOwn(description.flags, words));
      const owner = commands.find((one) => maySet(one, words));
      if (isFlag && owner !== undefined) throw misplacedFlag(file, field, owner);
      if (isFlag) throw refusedFlag(file, field, words);
      const groups = commands.map((one) => one.words.split(' ')[0] ?? '');
      throw unknownField(file, field, ['domain', ...commonFields, ...groups]);
    }
    for (const [key, one] of Object.entries(sectionOf(value, file, field))) {
      if (of === undefined) readPart(`${words} ${key}`, one);
      else readFlag(of, key, one, `${field}.${key}`);
    }
  };
  const readPart = (words: string, value: unknown): void => {
    // An own section that is not valid is refused also by a command that other sections do not matter to.
    if (words === command.words) readSection(words, value);
    else attempt(() => readSection(words, value));
  };
  const fields = attempt(() => sectionOf(parseYaml(file), file, '')) ?? {};
  for (const [key, value] of Object.entries(fields)) {
    if (key === 'domain') attempt(() => args.set('DOMAIN', textsOf(value, file, key)[0] ?? ''));
    else if (commonFields.includes(key)) attempt(() => readFlag(command, key, value, key));
    else if (command.words.startsWith(`${key} `)) readSection(key, value);
    else readPart(key, value);
  }
  return { flags, arguments: args };
}

/**
 * @param name of the profile; `undefined` for the current one
 * @param given what the command line or the environment says
 * @throws {CliError} `ConfigurationInvalid`, `ConfigurationRefused`, `UnknownProfile`
 */
export function readUserFile(
  file: ConfigurationFile,
  name: string | undefined,
  given: { readonly apiBaseUrl: string | undefined; readonly hasKey: boolean },
): Configured {
  const read = userSchema.safeParse(parseYaml(file));
  if (!read.success) throw invalidUserFile(file, read.error.issues);
  const { profiles, currentProfile } = read.data;
  const wanted = name ?? currentProfile;
  if (wanted === undefined) return noneConfigured;
  if (!Object.hasOwn(profiles, wanted)) {
    const source = name === undefined ? `${file.label}: currentProfile` : '--profile';
    const names = Object.keys(profiles).map((one) => printable(one, 64));
    const message = `${source} names no profile of ${file.label}; it has ${names.join(', ') || 'none'}`;
    throw new CliError('usage', 'UnknownProfile', message);
  }
  const profile = profiles[wanted] ?? {};
  if (profile.keyFile !== undefined && profile.apiBaseUrl === undefined) {
    const message = `${file.label}: profiles.${printable(wanted, 64)}.keyFile needs apiBaseUrl in the same profile, because a key belongs to one export API`;
    throw new CliError('usage', 'ConfigurationInvalid', message);
  }
  // Another address than the profile's must not get the profile's key.
  const isOther = given.apiBaseUrl !== undefined && !isSameUrl(given.apiBaseUrl, profile.apiBaseUrl);
  const flags = Object.entries(profile)
    .filter(([key, value]) => value !== undefined && !(key === 'keyFile' && (isOther || given.hasKey)))
    .map(([key, value]): [string, ConfiguredFlag] => {
      const isPath = ['keyFile', 'extraCaFile', 'kubeconfig'].includes(key);
      const texts = [value].flat().map((one) => (isPath ? userPath(String(one), file.folder) : String(one)));
      return [key, { texts, source: `${file.label}: profiles.${printable(wanted, 64)}.${key}` }];
    });
  return { flags: new Map(flags), arguments: new Map() };
}

function parseYaml({ label, text }: ConfigurationFile): unknown {
  const invalid = (problem: string, cause?: unknown): CliError =>
    new CliError('usage', 'ConfigurationInvalid', `${label} ${problem}`, { cause });
  try {
    const [value, ...more] = readPlainYaml(text);
    if (more.length > 0) throw invalid('has more than one YAML document');
    return value ?? {};
  } catch (error) {
    if (!(error instanceof PlainYamlError)) throw error;
    const { code, line } = error;
    if (code === 'ALIAS') throw invalid(`uses a YAML alias in line ${line}; write the value out`, error);
    throw invalid(`is not valid YAML in line ${line} (${code})`, error);
  }
}

function sectionOf(
  value: unknown,
  { label }: ConfigurationFile,
  field: string,
): Readonly<Record<string, unknown>> {
  const read = section.safeParse(value ?? {});
  if (read.success) return read.data;
  const what = field === '' ? label : `${label}: ${shown(field)}`;
  throw new CliError('usage', 'ConfigurationInvalid', `${what} must be a map of fields`);
}

function textsOf(value: unknown, { label }: ConfigurationFile, field: string): readonly string[] {
  const read = flagValue.safeParse(value);
  if (read.success) return [read.data].flat().map(String);
  const message = `${label}: ${shown(field)} must be a text, a number, true, false, or a list of them`;
  throw new CliError('usage', 'ConfigurationInvalid', message);
}

/** A path of the repository, as the command sees it. */
function pathInside(text: string, { label, folder }: ConfigurationFile, field: string, cwd: string): string {
  const [, type = '', path = ''] = /^((?:dir|archive)=)?(.*)$/s.exec(text) ?? [];
  const inside = relative(folder, resolve(folder, path));
  // A dash is standard output.
  if (path === '-' || isAbsolute(path) || isOutside(inside) || isLinkedOut(folder, join(folder, inside))) {
    const message = `${label}: ${shown(field)} must be a path inside the folder of the file; use --${flagName(field.split('.').at(-1) ?? '')} for others`;
    throw new CliError('usage', 'ConfigurationRefused', message);
  }
  return `${type}${relative(cwd, join(folder, inside)) || '.'}`;
}

const isOutside = (inside: string): boolean =>
  isAbsolute(inside) || inside === '..' || inside.startsWith('../');

/** A symbolic link of the repository may lead anywhere. What does not exist yet is made in what exists. */
function isLinkedOut(folder: string, path: string): boolean {
  const existing = existingPart(path);
  try {
    return isOutside(relative(realpathSync(folder), realpathSync(existing)));
  } catch {
    // A link to nothing, or to itself.
    return true;
  }
}

function existingPart(path: string): string {
  try {
    lstatSync(path);
    return path;
  } catch {
    return dirname(path) === path ? path : existingPart(dirname(path));
  }
}

const userPath = (text: string, folder: string): string =>
  text.startsWith('~/') ? join(homedir(), text.slice(2)) : resolve(folder, text);

function isSameUrl(one: string, other: string | undefined): boolean {
  return one.replace(/\/+$/, '') === other?.replace(/\/+$/, '');
}

function refusedFlag({ label }: ConfigurationFile, field: string, key: string): CliError {
  const profile = Object.hasOwn(profileSchema.shape, key) ? ' or a profile' : '';
  const message = `${label}: ${shown(field)} may not be set by a repository, whose changes must not redirect a key or the words of visitors, or change what is trusted; use --${flagName(key)}${profile === '' ? ' or' : ','} ${variableName(programName, key)}${profile}`;
  return new CliError('usage', 'ConfigurationRefused', message);
}

function misplacedFlag({ label }: ConfigurationFile, field: string, { words }: Command): CliError {
  const message = `${label}: ${shown(field)} is a flag of ${words}; put it below ${words}`;
  return new CliError('usage', 'ConfigurationInvalid', message);
}

function unknownField({ label }: ConfigurationFile, field: string, known: readonly string[]): CliError {
  const name = field.split('.').at(-1) ?? '';
  const meant = nearest(name, known, Math.max(2, name.length / 3));
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  return new CliError('usage', 'ConfigurationInvalid', `${label}: ${shown(field)} is not a field${hint}`);
}

function invalidUserFile(file: ConfigurationFile, issues: readonly z.core.$ZodIssue[]): CliError {
  const [issue] = issues;
  const path = (issue?.path ?? []).map(String);
  if (issue?.code !== 'unrecognized_keys') {
    const what = path.length === 0 ? file.label : `${file.label}: ${shown(path.join('.'))}`;
    const expected = issue?.code === 'invalid_type' ? `must be of type ${issue.expected}` : 'is not valid';
    return new CliError('usage', 'ConfigurationInvalid', `${what} ${expected}`);
  }
  const name = issue.keys[0] ?? '';
  const field = [...path, name].join('.');
  if (keyNames.test(name)) {
    const message = `${file.label}: ${shown(field)} may not be set, because the file holds no keys; name the key's file with keyFile`;
    return new CliError('usage', 'ConfigurationRefused', message);
  }
  return unknownField(file, field, Object.keys((path.length === 0 ? userSchema : profileSchema).shape));
}

/** A part that is not the name of a field may be a line of another file. */
const shown = (field: string): string =>
  field
    .split('.')
    .map((part) => (/^[A-Za-z][\w-]{0,40}$/.test(part) ? part : '…'))
    .join('.');
