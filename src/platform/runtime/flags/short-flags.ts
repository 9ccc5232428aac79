// Command lines as people type them, spelt out for the parser: joined short flags (`-qo json`), `-o=json`, and switches
// before an argument (`--yes docs`). Pure. Refuses: touching the value of a flag, whatever it looks like.

import type { Flag } from './flag-kinds.ts';

type NamedFlag = Pick<Flag<unknown>, 'placeholder' | 'short'> & {
  /** Without dashes. */
  readonly name: string;
};

/**
 * @param takesArguments where arguments may follow, a switch takes none of them for its value: its value follows `=`
 * @returns the same command line without joined short flags
 */
export function spellOut(
  args: readonly string[],
  flags: readonly NamedFlag[],
  takesArguments: boolean,
): readonly string[] {
  const spelt: string[] = [];
  let isValue = false;
  let isOver = false;
  for (const arg of args) {
    if (isValue || isOver) {
      spelt.push(arg);
      isValue = false;
      continue;
    }
    isOver = arg === '--';
    const words = /^-[A-Za-z]/.test(arg) ? spellCluster(arg.slice(1), flags) : [arg];
    const last = words.at(-1);
    const flag = flags.find(({ name, short }) => last === `--${name}` || last === `-${short}`);
    isValue = flag?.placeholder !== undefined;
    spelt.push(...words.map((word) => (takesArguments ? withSwitchValue(word, flags) : word)));
  }
  return spelt;
}

/** A letter that is not a flag stays with what follows it, for the parser to refuse. */
function spellCluster(letters: string, flags: readonly NamedFlag[]): readonly string[] {
  const words: string[] = [];
  for (let at = 0; at < letters.length; at += 1) {
    const flag = flags.find(({ short }) => short === letters[at]);
    if (flag === undefined) return [...words, `-${letters.slice(at)}`];
    const rest = letters.slice(at + 1);
    if (flag.placeholder !== undefined) {
      return rest === ''
        ? [...words, `-${flag.short}`]
        : [...words, `-${flag.short}`, rest.replace(/^=/, '')];
    }
    if (rest.startsWith('=')) return [...words, `--${flag.name}${rest}`];
    words.push(`-${flag.short}`);
  }
  return words;
}

function withSwitchValue(word: string, flags: readonly NamedFlag[]): string {
  const flag = flags.find(({ name, short }) => word === `--${name}` || word === `-${short}`);
  return flag === undefined || flag.placeholder !== undefined ? word : `--${flag.name}=true`;
}
