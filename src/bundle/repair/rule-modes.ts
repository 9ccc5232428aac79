// The rules of a repair by name, the modes of each, and what a user may write for them. Refuses: the rules themselves, because
// `--help` of any command would load them. Invariant: a default loses nothing that a reader of the site is shown.

/** What a rule does: a word of its modes, or `set` with its host. */
export interface RuleMode {
  readonly word: string;
  /** Of `set`: `docs.example.com`, perhaps with a port. */
  readonly host?: string | undefined;
}

/** One `NAME=MODE`; the name `all` stands for each rule. */
export interface RuleChoice {
  readonly name: RepairRuleName | 'all';
  readonly mode: RuleMode;
}

interface RuleWords {
  readonly words: readonly string[];
  readonly usual: string;
  /** What the name alone stands for. */
  readonly on: string;
}

const onOff: RuleWords = { words: ['on', 'off'], usual: 'on', on: 'on' };

/** In the order in which they run. */
const modesOf = {
  'wrapping-folder': onOff,
  launchers: { words: ['on', 'all', 'off'], usual: 'on', on: 'on' },
  'folder-index': onOff,
  canonical: { words: ['keep', 'set=HOST', 'strip', 'off'], usual: 'keep', on: 'keep' },
  'search-box': onOff,
  sitemap: onOff,
} as const satisfies Readonly<Record<string, RuleWords>>;

export type RepairRuleName = keyof typeof modesOf;

export const repairRuleNames: readonly RepairRuleName[] = [
  'wrapping-folder',
  'launchers',
  'folder-index',
  'canonical',
  'search-box',
  'sitemap',
];

/** For a sentence: each rule with its modes. */
export const ruleList: string = repairRuleNames
  .map((name) => `${name}=${modesOf[name].words.join('|')}`)
  .join(', ');

export type RuleModes = Readonly<Record<RepairRuleName, RuleMode>>;

/** @returns the choice, or what is wrong with it, for a person */
export function readRuleChoice(text: string): RuleChoice | string {
  const equals = text.indexOf('=');
  const written = equals < 0 ? text : text.slice(0, equals);
  const mode = equals < 0 ? undefined : text.slice(equals + 1);
  const name = written === 'all' ? 'all' : repairRuleNames.find((one) => one === written);
  if (name === undefined) return `must be one of ${ruleList}, or all=on|off`;
  if (name === 'all') {
    const word = mode ?? 'on';
    return word === 'on' || word === 'off' ? { name, mode: { word } } : 'must be all=on or all=off';
  }
  const { words, on } = modesOf[name];
  if (mode === undefined) return { name, mode: { word: on } };
  if (name === 'canonical' && mode.startsWith('set=')) return readHost(mode.slice('set='.length));
  const word = [...words, 'on'].find((one) => one === mode && one !== 'set=HOST');
  if (word === undefined) return `must be ${name}=${words.join('|')}`;
  return { name, mode: { word: word === 'on' ? on : word } };
}

/** A name that DNS may have, with a port perhaps. One that the rule would repair again is not a repair. */
function readHost(host: string): RuleChoice | string {
  const isHost = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::\d{1,5})?$/i.test(host);
  if (isHost && !/^(?:undefined\b|null(?::|$))/i.test(host)) {
    return { name: 'canonical', mode: { word: 'set', host } };
  }
  return 'must be canonical=set=HOST with the host of the site, for example canonical=set=docs.example.com';
}

/** @param choices in their order: a later one wins */
export function ruleModes(choices: readonly RuleChoice[]): RuleModes {
  const modeOf = (name: RepairRuleName): RuleMode => {
    const last = choices.findLast((choice) => choice.name === name || choice.name === 'all');
    if (last === undefined) return { word: modesOf[name].usual };
    if (last.name === name) return last.mode;
    return { word: last.mode.word === 'off' ? 'off' : modesOf[name].usual };
  };
  return {
    'wrapping-folder': modeOf('wrapping-folder'),
    launchers: modeOf('launchers'),
    'folder-index': modeOf('folder-index'),
    canonical: modeOf('canonical'),
    'search-box': modeOf('search-box'),
    sitemap: modeOf('sitemap'),
  };
}

/** As it was written: `set=docs.example.com`. */
export const modeText = ({ word, host }: RuleMode): string => (host === undefined ? word : `${word}=${host}`);

/**
 * The rules that a text names, as a `--rule` for each with blanks between them. All other rules are off.
 *
 * @returns the modes, or the first choice that is not one of this program
 */
export function readRuleSet(text: string): RuleModes | string {
  const choices: RuleChoice[] = [{ name: 'all', mode: { word: 'off' } }];
  for (const written of text.split(' ')) {
    const choice = readRuleChoice(written);
    if (typeof choice === 'string') return written;
    choices.push(choice);
  }
  return ruleModes(choices);
}
