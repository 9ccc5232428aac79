// YAML documents for `values` targets: shapes that cost a parser most, texts that parsers misread, and mutations of
// ordinary values. Pure: the same dice give the same text.

import type { Dice } from '../mutation.ts';
import { between, fill, oddCharacters, pick } from './choice.ts';

export interface HostileText {
  readonly kind: string;
  readonly text: string;
}

/** The operator reads documents up to this; what a ConfigMap holds may be four times as long. */
const mostChars = 256 * 1024;

const group = 'staticExport:\n  enabled: false # for now\n  version: none\n';
const ordinary = `# the site
replicaCount: 2
image: { repository: registry.example.com/docs, tag: "1.10" }
${group}common: &common
  labels: { team: docs }
ingress:
  <<: *common
  hosts: [docs.example.com]
  annotations:
    note: |
      several
      lines
`;

/** Shapes that cost some parser more than their length suggests. */
const shapes: Readonly<Record<string, (chars: number) => string>> = {
  'question marks in a flow map': (chars) => `a: {${fill('? ', chars - 5)}}`,
  'anchors of one node': (chars) => `a: ${fill('&a ', chars - 4)}x`,
  'flow list of ones': (chars) => `a: [${fill('1,', chars - 6)}1]`,
  'flow maps in flow maps': (chars) => `a: ${fill('{a: ', chars - 4)}`,
  'closed flow lists': (chars) => `a: ${fill('[', chars / 2 - 4)}${fill(']', chars / 2 - 4)}`,
  'open flow lists': (chars) => `a: ${fill('[', chars - 4)}`,
  'lists in lists': (chars) => fill('- ', chars),
  'maps in blocks': (chars) => {
    const levels = Math.floor(Math.sqrt(2 * chars)) - 4;
    return Array.from({ length: levels }, (_, level) => `${' '.repeat(level)}a:`).join('\n');
  },
  'aliases of one anchor': (chars) => `a: &a [1, 2, 3]\nb: [${fill('*a,', chars - 24)}*a]\n`,
  'many anchors': (chars) =>
    `a:\n${Array.from({ length: Math.floor(chars / 16) }, (_, at) => `  - &a${at} x`).join('\n')}\n`,
  'anchors and aliases in turn': (chars) =>
    `a:\n${Array.from({ length: Math.floor(chars / 26) }, (_, at) => `  - &a${at} x\n  - *a${at}`).join('\n')}\n`,
  'billion laughs': () => {
    const lines = Array.from(
      { length: 12 },
      (_, at) => `a${at + 1}: &a${at + 1} [${fill(`*a${at},`, 40)}*a${at}]`,
    );
    return `a0: &a0 ha\n${lines.join('\n')}\n`;
  },
  'merges of merges': (chars) => {
    const count = Math.floor(chars / 40);
    const lines = Array.from(
      { length: count },
      (_, at) => `m${at + 1}: &m${at + 1} { <<: *m${at}, k${at}: 1 }`,
    );
    return `m0: &m0 { staticExport: { version: x } }\n${lines.join('\n')}\n<<: *m${count}\n`;
  },
  'one merge of many': (chars) =>
    `m: &m { staticExport: { version: x } }\n<<: [${fill('*m,', chars - 60)}*m]\n`,
  'many documents': (chars) => fill('---\na: 1\n', chars),
  'ends of documents': (chars) => fill('...\n', chars),
  'many keys': (chars) =>
    Array.from({ length: Math.floor(chars / 16) }, (_, at) => `key${at}: ${at}\n`).join(''),
  'one key many times': (chars) => fill('a: 1\n', chars),
  'keys written out': (chars) => fill('? a\n: b\n', chars),
  'keys that are maps': (chars) => `a: {${fill('? {a: b} : c, ', chars - 6)}}`,
  'one long key': (chars) => `${fill('k', chars - 8)}: 1\n`,
  'one long word': (chars) => `a: ${fill('x', chars - 8)}\n`,
  'one text of many lines': (chars) => `a: b\n${fill('  c\n', chars - 8)}`,
  'blank lines': (chars) => `a: b\n${fill('\n', chars - 12)}c: d\n`,
  blanks: (chars) => `a:${fill(' ', chars - 6)}b\n`,
  'quotes in quotes': (chars) => `a: '${fill("''", chars - 8)}'\n`,
  escapes: (chars) => `a: "${fill('\\u0061', chars - 8)}"\n`,
  'a quote without an end': (chars) => `a: "${fill('b\n ', chars - 8)}`,
  'a block of text': (chars) => `a: |2-\n${fill('   x\n', chars - 10)}`,
  'a folded text': (chars) => `a: >+\n${fill('  x\n   y\n\n', chars - 10)}`,
  comments: (chars) => `a: 1\n${fill('# c\n', chars - 6)}`,
  tags: (chars) => `a: ${fill('!x ', chars - 6)}y\n`,
  directives: (chars) => `${fill('%TAG !a! tag:x,1:\n', chars - 16)}---\na: 1\n`,
  colons: (chars) => `a: {${fill(': ', chars - 6)}}`,
  commas: (chars) => `a: [${fill(',', chars - 6)}]`,
  sixties: (chars) => `staticExport: { version: 1${fill(':1', chars - 30)} }\n`,
  digits: (chars) => `staticExport: { version: ${fill('9', chars - 30)} }\n`,
  underscores: (chars) => `staticExport: { version: 1${fill('_', chars - 30)} }\n`,
  'group of anchors': (chars) => `staticExport: {${fill('&a ', chars - 32)} version: none }\n`,
  'group of many keys': (chars) =>
    `staticExport:\n${Array.from({ length: Math.floor(chars / 12) }, (_, at) => `  k${at}: 1\n`).join('')}`,
};

/** Short texts that a parser may misread. */
const oddities: Readonly<Record<string, string>> = {
  empty: '',
  null: 'null',
  'byte order mark': `\ufeff${ordinary}`,
  'carriage returns': ordinary.replaceAll('\n', '\r\n'),
  'carriage returns alone': ordinary.replaceAll('\n', '\r'),
  NULs: ordinary.replaceAll(' ', '\0'),
  tabs: ordinary.replaceAll('  ', '\t'),
  'a list': '- 1\n- 2\n',
  'a text': 'only words\n',
  'group that is a text': 'staticExport: none\n',
  'group that is a list': 'staticExport: [1]\n',
  'group twice': `${group}${group}`,
  'group in quotes': `"staticExport": { "version": 'a', 'enabled': no }\n`,
  'group with a tag': 'staticExport: !!map { version: a }\n',
  'group that is an alias': 'a: &a { version: x }\nstaticExport: *a\n',
  'leaf that is a map': 'staticExport: { version: { a: b }, enabled: [] }\n',
  'leaf that is a block': 'staticExport:\n  version: |\n    a\n    b\n',
  'leaf without a value': 'staticExport:\n  version:\n  enabled:\n',
  prototype:
    '__proto__: { polluted: true }\nconstructor: { prototype: { polluted: true } }\nstaticExport: { __proto__: 1 }\n',
  JSON: '{"staticExport":{"enabled":false,"version":"1"}}',
  template: '{{ range .Values.sites }}\nstaticExport: {}\n{{ end }}\n',
  'end marker': `${group}...\n`,
  bidirectional: `staticExport:\n  version: "\u202eabc"\n  \u2066key: 1\n`,
};

/** Tokens of YAML. Repeating a few of them finds shapes that are not on the list above. */
const tokens: readonly string[] = [
  '? ',
  ': ',
  ', ',
  '- ',
  '{',
  '}',
  '[',
  ']',
  '&a ',
  '*a ',
  '!t ',
  '!!str ',
  '<<: ',
  '| ',
  '> ',
  '"',
  "'",
  '#',
  '%',
  '@',
  '`',
  '\n',
  '\r\n',
  '\t',
  ' ',
  '  ',
  'a',
  'a: ',
  'a: b\n',
  '- a\n',
  '---\n',
  '...\n',
  '\n\n',
  '~',
  '=',
  '1',
  '0x',
  '.inf',
  '\\',
  '\u2028',
  '\0',
  'staticExport: ',
  '  version: x\n',
];

/** The known worst shapes, as long as the operator reads, and at a size within the other bounds. */
export function listWorstDocuments(): readonly HostileText[] {
  const sized = [mostChars - 64, mostChars / 4].flatMap((chars) =>
    Object.entries(shapes).map(([kind, make]) => ({ kind, text: make(chars) })),
  );
  return [...sized, ...Object.entries(oddities).map(([kind, text]) => ({ kind, text }))];
}

/** Any of the above at any size, a run of tokens, or a mutation of ordinary values. */
export function makeDocument(dice: Dice): HostileText {
  switch (dice(8)) {
    case 0:
    case 1: {
      const [kind, make] = pick(dice, Object.entries(shapes));
      return { kind, text: around(dice, make(pickSize(dice))) };
    }
    case 2: {
      const [kind, text] = pick(dice, Object.entries(oddities));
      return { kind, text };
    }
    case 3:
    case 4:
    case 5:
      return { kind: 'a run of tokens', text: around(dice, makeRun(dice, pickSize(dice))) };
    case 6:
      return {
        kind: 'more than is read',
        text: fill(makeRun(dice, 2_000), between(dice, mostChars, 900_000)),
      };
    default:
      return { kind: 'mutated values', text: mutateText(ordinary, dice) };
  }
}

const pickSize = (dice: Dice): number => pick(dice, [100, 5_000, 60_000, mostChars - 700, mostChars - 700]);

/** Alone, or where an ordinary document has it before or behind its own group. */
function around(dice: Dice, text: string): string {
  const whole = pick(dice, [text, text, `${group}${text}`, `${text}\n${group}`]);
  return whole.slice(0, mostChars);
}

function makeRun(dice: Dice, chars: number): string {
  const unit = Array.from({ length: between(dice, 1, 4) }, () => pick(dice, tokens)).join('');
  const [open, close] = pick(dice, [
    ['', ''],
    ['a: {', '}'],
    ['a: [', ']'],
    ['a: ', ''],
    ['a: "', '"'],
    ['a:\n  ', ''],
    ['staticExport: {', '}'],
  ] as const);
  return `${open}${fill(unit, chars)}${close}`;
}

function mutateText(text: string, dice: Dice): string {
  let changed = text;
  for (let left = between(dice, 1, 6); left > 0; left -= 1) {
    const at = dice(changed.length + 1);
    const end = Math.min(changed.length, at + dice(40));
    const piece = changed.slice(at, end);
    const before = changed.slice(0, at);
    const behind = changed.slice(end);
    changed = pick(dice, [
      `${before}${behind}`,
      `${before}${piece}${piece}${behind}`,
      `${before}${pick(dice, tokens)}${piece}${behind}`,
      `${before}${pick(dice, oddCharacters)}${piece}${behind}`,
      `${before}${fill(piece, dice(20_000))}${behind}`,
      `${behind}${before}`,
    ]);
  }
  return changed.slice(0, mostChars).toWellFormed();
}
