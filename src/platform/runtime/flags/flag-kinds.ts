// Which texts a flag accepts, and which value each becomes. Each kind is a pure parser; its error names what is allowed.
// Used for command lines and for environment variables alike.

import type { HostPort } from '../http/http-listener.ts';

/** Names the expected form; the reader puts the flag's name in front. */
export class FlagValueError extends Error {}

/** What a shell offers for a value: texts, files, or what a source of the program lists, such as `contexts`. */
export type Candidates = readonly string[] | 'files' | { readonly source: string };

export interface Flag<T> {
  readonly describe: string;
  /** Stands for the value in `--help`; `undefined` for a switch. */
  readonly placeholder: string | undefined;
  /** One letter: `o` for `-o`. */
  readonly short?: string;
  /** Default: none. */
  readonly candidates?: Candidates;
  readonly isRepeatable: boolean;
  readonly isRequired: boolean;
  readonly defaultText: string | undefined;
  /** @throws {FlagValueError} */
  parse(texts: readonly string[]): T;
}

/** A kind in its three forms: with a default, required, or optional (`undefined` when not given). */
export function kind<T>(placeholder: string, read: (text: string) => T, candidates: Candidates = []) {
  const flag = {
    placeholder,
    candidates,
    isRepeatable: false,
    isRequired: false,
    defaultText: undefined,
    parse: (texts: readonly string[]) => read(texts.at(-1) ?? ''),
  };
  return {
    withDefault: (defaultText: string, describe: string): Flag<T> => ({ ...flag, describe, defaultText }),
    required: (describe: string): Flag<T> => ({ ...flag, describe, isRequired: true }),
    optional: (describe: string): Flag<T | undefined> => ({ ...flag, describe }),
  };
}

export const text = kind('TEXT', (value) => {
  if (value === '') throw new FlagValueError('must not be empty');
  return value;
});
export const path = kind(
  'PATH',
  (value) => {
    if (value === '') throw new FlagValueError('must be a path');
    return value;
  },
  'files',
);
export const hostPort = kind<HostPort>('HOST:PORT', readHostPort);
/** A base for paths, which may be shown. Signatures and credentials in a URL would be secrets. */
export const httpUrl = kind('URL', readHttpUrl);
/** Milliseconds, from `250ms`, `30s`, `15m`, `2h`, `7d`. */
export const duration = kind('DURATION', readDurationMs);
/** For limits and intervals that must not be zero. */
export const positiveDuration = kind('DURATION', (value) => positive(readDurationMs(value)));
/** Bytes, from a plain count or with `KiB`, `MiB`, `GiB`. */
export const bytes = kind('SIZE', readBytes);
/** For limits that would refuse everything at zero. */
export const positiveBytes = kind('SIZE', (value) => positive(readBytes(value)));
/** For numbers of at least one. */
export const positiveCount = kind('N', (value) =>
  readCount(value, 999_999_999, 'must be a whole number of at least 1'),
);
/** From one to a limit. */
export const countUpTo = (most: number, placeholder = 'N') =>
  kind(placeholder, (value) => readCount(value, most, `must be a whole number from 1 to ${most}`));

export function oneOf<const T extends string>(choices: readonly T[]) {
  const read = (value: string): T => {
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw new FlagValueError(`must be one of ${choices.join(', ')}`);
    return found;
  };
  return kind<T>(choices.join('|'), read, choices);
}

/** False unless given; in the environment `true`/`1` and `false`/`0`. */
export function toggle(describe: string): Flag<boolean> {
  return {
    ...kind('', readBoolean, ['true', 'false']).withDefault('false', describe),
    placeholder: undefined,
  };
}

/** Comma-separated, and repeatable; blanks are dropped. */
export function list(placeholder: string, describe: string): Flag<readonly string[]> {
  return listOf(placeholder, ',', (item) => item, describe);
}

/** A list of what `read` makes of each item. */
export function listOf<T>(
  placeholder: string,
  separator: string,
  read: (item: string) => T | readonly T[],
  describe: string,
): Flag<readonly T[]> {
  return {
    describe,
    placeholder,
    isRepeatable: true,
    isRequired: false,
    defaultText: '',
    parse: (texts) =>
      texts
        .flatMap((text) => text.split(separator))
        .map((item) => item.trim())
        .filter((item) => item !== '')
        .flatMap(read),
  };
}

/** @throws {FlagValueError} */
export function readHttpUrl(value: string): string {
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
    throw new FlagValueError('must be an http:// or https:// URL');
  }
  if (/[?#]|^[A-Za-z]+:[/\\]*[^/\\]*@/.test(value)) {
    throw new FlagValueError('must be a URL without user, password, query and fragment');
  }
  return value.replace(/\/+$/, '');
}

function readBoolean(value: string): boolean {
  const word = value.toLowerCase();
  if (['true', '1', 'yes'].includes(word)) return true;
  if (['false', '0', 'no', ''].includes(word)) return false;
  throw new FlagValueError('must be true or false');
}

function readCount(value: string, most: number, words: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value) || Number(value) > most) throw new FlagValueError(words);
  return Number(value);
}

function positive(amount: number): number {
  if (amount === 0) throw new FlagValueError('must be more than 0');
  return amount;
}

function readHostPort(value: string): HostPort {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(value);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new FlagValueError('must be HOST:PORT, for example 127.0.0.1:8080, or :8080 for every address');
  }
  return { host: match[1] ?? match[2] ?? '', port };
}

const durationUnits = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);
/** The largest first. */
const byteUnits = new Map([
  ['GiB', 1024 ** 3],
  ['MiB', 1024 ** 2],
  ['KiB', 1024],
  ['', 1],
]);

function readDurationMs(value: string): number {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)([a-z]+)$/.exec(value);
  const unit = durationUnits.get(match?.[2] ?? '');
  if (unit === undefined) {
    throw new FlagValueError('must be a duration such as 500ms, 30s, 15m, 2h or 7d');
  }
  return Math.round(Number(match?.[1]) * unit);
}

/** As a flag would be given, in the largest unit that holds it whole: `4GiB`, not `4096MiB`. */
export function sizeText(byteCount: number): string {
  const [unit, size] = [...byteUnits].find(([, one]) => byteCount > 0 && byteCount % one === 0) ?? ['', 1];
  return `${byteCount / size}${unit}`;
}

function readBytes(value: string): number {
  const match = /^(\d{1,12})([A-Za-z]*)$/.exec(value);
  const unit = match === null ? undefined : byteUnits.get(match[2] ?? '');
  if (unit === undefined) {
    throw new FlagValueError('must be a size such as 1048576, 512KiB, 64MiB or 2GiB');
  }
  return Number(match?.[1]) * unit;
}
