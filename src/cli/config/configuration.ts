// Values of flags from files: `static-export.yaml` of the repository, and the profiles of the user. Finds the files and
// asks who can write them; a command without such files loads no more than this. Refuses: a user's file that others can
// write. Invariant: flags and variables win over both.

import { realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { readBounded } from '#platform/runtime/bounded-file.ts';
import { type Configured, noneConfigured } from '#platform/runtime/flags/configured.ts';
import { FlagValueError, toggle } from '#platform/runtime/flags/flag-kinds.ts';
import { flagName, variableName } from '#platform/runtime/flags/flags.ts';
import { isThere } from '#platform/runtime/folder.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { keyVariable } from '../api-key.ts';
import { CliError } from '../cli-error.ts';
import { type Command, programName } from '../command.ts';
import type { ConfigurationFile } from './configuration-file.ts';

export const repositoryFileName = 'static-export.yaml';
/** No file of settings is larger. */
const longestFile = 64 * 1024;

export interface ConfigurationContext {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of this process; `undefined` where the system has none. */
  readonly userId: number | undefined;
  /** Gets what is wrong in the repository's file where the command goes on without it. */
  readonly warn?: (text: string) => void;
}

/**
 * @param args after the command's words
 * @param commands all, because the repository's file may have a section for each
 * @throws {CliError} `ConfigurationInvalid`, `ConfigurationRefused`, `ConfigurationUnreadable`, `UnknownProfile`
 */
export async function readConfiguration(
  command: Command,
  args: readonly string[],
  commands: readonly Command[],
  context: ConfigurationContext,
): Promise<Configured> {
  if (args.some((arg) => ['--help', '-h', '--version'].includes(arg))) return noneConfigured;
  const given = (key: string): string | undefined => givenText(key, args, context.env);
  const profile = given('profile');
  const warn = ({ message, code }: CliError): void =>
    context.warn?.(`${message} (${code}); the command goes on without it`);
  const repositoryFile = await findRepositoryFile(context.cwd).catch(async (error: unknown) => {
    const { takesSettings } = await import('./configuration-file.ts');
    if (!(error instanceof CliError) || takesSettings(command)) throw error;
    warn(error);
    return undefined;
  });
  const userFile = await findUserFile(context);
  if (userFile === undefined && profile !== undefined) {
    const message = `--profile names a profile, but there is no ${userFileLabel(context)}; add it there`;
    throw new CliError('usage', 'UnknownProfile', message);
  }
  if (repositoryFile === undefined && userFile === undefined) return noneConfigured;
  const { readRepositoryFile, readUserFile } = await import('./configuration-file.ts');
  const ofRepository =
    repositoryFile === undefined
      ? noneConfigured
      : readRepositoryFile(repositoryFile, command, commands, context.cwd, warn);
  const ofUser =
    userFile === undefined
      ? noneConfigured
      : readUserFile(userFile, profile, {
          apiBaseUrl: given('apiBaseUrl'),
          hasKey: hasOwnKey(args, context),
        });
  return { flags: new Map([...ofUser.flags, ...ofRepository.flags]), arguments: ofRepository.arguments };
}

/** On the command line or in the environment. */
function givenText(
  key: string,
  args: readonly string[],
  env: ConfigurationContext['env'],
): string | undefined {
  const name = `--${flagName(key)}`;
  const texts = args.flatMap((arg, at) => {
    if (arg === name) return [args[at + 1] ?? ''];
    return arg.startsWith(`${name}=`) ? [arg.slice(name.length + 1)] : [];
  });
  return texts.at(-1) ?? (env[variableName(programName, key)] || undefined);
}

/** A key of the command line or the environment wins over a profile's, as every flag does. */
function hasOwnKey(args: readonly string[], { env }: ConfigurationContext): boolean {
  return isGiven('keyStdin', args, env) || (env[keyVariable] ?? '') !== '';
}

/** A switch without a value is on. One whose value is not valid is refused later. */
function isGiven(key: string, args: readonly string[], env: ConfigurationContext['env']): boolean {
  const name = `--${flagName(key)}`;
  const last = args.findLast((arg) => arg === name || arg.startsWith(`${name}=`));
  if (last === name) return true;
  const text = last === undefined ? (env[variableName(programName, key)] ?? '') : last.slice(name.length + 1);
  try {
    return toggle('').parse([text]);
  } catch (error) {
    if (error instanceof FlagValueError) return true;
    throw error;
  }
}

/** In the current folder, or in one above it up to the repository's root. Without a repository: the current folder. */
async function findRepositoryFile(cwd: string): Promise<ConfigurationFile | undefined> {
  const folders: string[] = [];
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    folders.push(folder);
    if (await isThere(join(folder, '.git'))) break;
    if (dirname(folder) === folder) {
      folders.splice(1);
      break;
    }
  }
  const root = folders.at(-1) ?? cwd;
  for (const folder of folders) {
    const path = join(folder, repositoryFileName);
    if (!(await isThere(path))) continue;
    const label = relative(cwd, path);
    if (await leadsOut(path, root)) {
      const message = `${label} is a link out of the repository; replace it by a file`;
      throw new CliError('usage', 'ConfigurationRefused', message);
    }
    return { label, folder, text: await readText(path, label) };
  }
  return undefined;
}

/** A link that a pull request makes could quote any file of the machine in an error. */
async function leadsOut(path: string, root: string): Promise<boolean> {
  const [file, folder] = await Promise.all([realpath(path), realpath(root)]).catch(() => ['', '']);
  const inside = relative(folder, file);
  return file === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside);
}

async function findUserFile(context: ConfigurationContext): Promise<ConfigurationFile | undefined> {
  const { env, userId } = context;
  const folder = join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), programName);
  const path = join(folder, 'config.yaml');
  if (!(await isThere(path))) return undefined;
  const label = userFileLabel(context);
  for (const [what, one] of [
    [label, path],
    [`the folder of ${label}`, folder],
  ] as const) {
    const { mode, uid } = await stat(one);
    const isOwn = userId === undefined || uid === userId || uid === 0;
    if (isOwn && (mode & 0o022) === 0) continue;
    const message = `${what} can be written by other users, who could redirect your key; make it yours and run chmod go-w`;
    throw new CliError('usage', 'ConfigurationRefused', message);
  }
  return { label, folder, text: await readText(path, label) };
}

const userFileLabel = ({ env }: ConfigurationContext): string =>
  `${env['XDG_CONFIG_HOME'] ? '$XDG_CONFIG_HOME' : '~/.config'}/${programName}/config.yaml`;

async function readText(path: string, label: string): Promise<string> {
  const unreadable = (problem: string, cause?: unknown): CliError =>
    new CliError('usage', 'ConfigurationUnreadable', `${label} ${problem}`, { cause });
  let text: string | undefined;
  try {
    // Opening a pipe would wait for a writer.
    if (!(await stat(path)).isFile()) throw unreadable('is not a regular file; replace it');
    text = await readBounded(path, longestFile);
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw unreadable(`cannot be read (${publishableCode(cause)}); check its permissions`, cause);
  }
  if (text === undefined) throw unreadable('is longer than 64 KiB; shorten it');
  return text;
}
