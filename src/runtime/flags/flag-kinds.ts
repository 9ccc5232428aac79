// What a flag's text may be, and what it becomes. Each kind is a pure parser with the words that help
// somebody who got it wrong. Used for command lines and for environment variables alike.

import type { HostPort } from '../http/http-listener.ts';

/** Says what the text should have been; the flag's name is put in front by the reader. */
export class FlagValueError extends Error {}

export interface Flag<T> {
  readonly describe: string;
  /** What stands for the value in `--help`; `undefined` for a switch. */
  readonly placeholder: string | undefined;
  readonly isRepeatable: boolean;
  readonly isRequired: boolean;
  readonly defaultText: string | undefined;
  /** @throws {FlagValueError} */
  parse(texts: readonly string[]): T;
}

interface Common {
  readonly describe: string;
  readonly placeholder?: string;
}

function single<T>(
  { describe, placeholder }: Common,
  fallback: { readonly text?: string; readonly isRequired: boolean },
  read: (text: string) => T,
): Flag<T> {
  return {
    describe,
    placeholder: placeholder ?? 'VALUE',
    isRepeatable: false,
    isRequired: fallback.isRequired,
    defaultText: fallback.text,
    parse: (texts) => read(texts.at(-1) ?? ''),
  };
}

/** A kind in its three forms: with a default, required, or optional (`undefined` when not given). */
function kind<T>(placeholder: string, read: (text: string) => T) {
  return {
    withDefault: (text: string, describe: string): Flag<T> =>
      single({ placeholder, describe }, { text, isRequired: false }, read),
    required: (describe: string): Flag<T> => single({ placeholder, describe }, { isRequired: true }, read),
    optional: (describe: string): Flag<T | undefined> =>
      single<T | undefined>({ placeholder, describe }, { isRequired: false }, read),
  };
}

export const text = kind('TEXT', (value) => {
  if (value === '') throw new FlagValueError('must not be empty');
  return value;
});
export const path = kind('PATH', (value) => {
  if (value === '') throw new FlagValueError('must be a path');
  return value;
});
export const hostPort = kind<HostPort>('HOST:PORT', readHostPort);
/** A base that paths are put behind, and that may be shown: what is signed or named into a URL is a secret. */
export const httpUrl = kind('URL', (value) => {
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
    throw new FlagValueError('must be an http:// or https:// URL');
  }
  if (/[?#]|^[A-Za-z]+:[/\\]*[^/\\]*@/.test(value)) {
    throw new FlagValueError('must be a URL without user, password, query and fragment');
  }
  return value.replace(/\/+$/, '');
});
/** Milliseconds, from `250ms`, `30s`, `15m`, `2h`, `7d`. */
export const duration = kind('DURATION', readDurationMs);
/** For what would never get done, or never rest, in no time at all. */
export const positiveDuration = kind('DURATION', (value) => positive(readDurationMs(value)));
/** Bytes, from a plain count or with `KiB`, `MiB`, `GiB`. */
export const bytes = kind('SIZE', readBytes);
/** For limits that would refuse everything. */
export const positiveBytes = kind('SIZE', (value) => positive(readBytes(value)));
export const count = kind('N', (value) => {
  if (!/^\d{1,9}$/.test(value)) throw new FlagValueError('must be a whole number');
  return Number(value);
});
/** For what there must be at least one of. */
export const positiveCount = kind('N', (value) => {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new FlagValueError('must be a whole number of at least 1');
  return Number(value);
});
/** The same, where each costs something. */
export const countUpTo = (most: number) =>
  kind('N', (value) => {
    const isWhole = /^[1-9]\d{0,8}$/.test(value);
    if (!isWhole || Number(value) > most)
      throw new FlagValueError(`must be a whole number from 1 to ${most}`);
    return Number(value);
  });

export function oneOf<const T extends string>(choices: readonly T[]) {
  return kind<T>(choices.join('|'), (value) => {
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw new FlagValueError(`must be one of ${choices.join(', ')}`);
    return found;
  });
}

/** False unless given; in the environment `true`/`1` and `false`/`0`. */
export function toggle(describe: string): Flag<boolean> {
  return {
    describe,
    placeholder: undefined,
    isRepeatable: false,
    isRequired: false,
    defaultText: 'false',
    parse: (texts) => {
      const value = (texts.at(-1) ?? '').toLowerCase();
      if (['true', '1', 'yes'].includes(value)) return true;
      if (['false', '0', 'no', ''].includes(value)) return false;
      throw new FlagValueError('must be true or false');
    },
  };
}

/** Comma-separated, and repeatable; blanks are dropped. */
export function list(placeholder: string, describe: string, defaultText = ''): Flag<readonly string[]> {
  return {
    describe,
    placeholder,
    isRepeatable: true,
    isRequired: false,
    defaultText,
    parse: (texts) =>
      texts
        .flatMap((one) => one.split(','))
        .map((one) => one.trim())
        .filter((one) => one !== ''),
  };
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

const durationUnitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** @throws {FlagValueError} */
export function readDurationMs(value: string): number {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(value);
  const unit = match?.[2];
  if (unit !== 'ms' && unit !== 's' && unit !== 'm' && unit !== 'h' && unit !== 'd') {
    throw new FlagValueError('must be a duration such as 500ms, 30s, 15m, 2h or 7d');
  }
  return Math.round(Number(match?.[1]) * durationUnitMs[unit]);
}

/** As a flag would be given, in the largest unit that holds it whole: `4GiB`, not `4096MiB`. */
export function sizeText(byteCount: number): string {
  const units = Object.entries(byteUnits).reverse();
  const [unit, size] = units.find(([, one]) => byteCount > 0 && byteCount % one === 0) ?? ['', 1];
  return `${byteCount / size}${unit}`;
}

const byteUnits = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

function readBytes(value: string): number {
  const match = /^(\d{1,12})(KiB|MiB|GiB|)$/.exec(value);
  const unit = match?.[2];
  if (unit !== '' && unit !== 'KiB' && unit !== 'MiB' && unit !== 'GiB') {
    throw new FlagValueError('must be a size such as 1048576, 512KiB, 64MiB or 2GiB');
  }
  return Number(match?.[1]) * byteUnits[unit];
}
