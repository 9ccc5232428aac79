// YAML documents that cost a reader much more than their length: quadratic errors, anchors, aliases, tags, nesting and
// long lists. All within 256 KiB, so that length alone refuses none. Invariant: the same text on every run.

const most = 256 * 1024;
const fill = (start: string, piece: string, end = ''): string =>
  start + piece.repeat(Math.floor((most - start.length - end.length) / piece.length)) + end;
const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n');

/** By what they hold. Each is a whole `values.yaml`. */
export const costlyDocuments: Readonly<Record<string, string>> = {
  'questions in a flow map': `a: {${'? '.repeat(128_000)}}`,
  'anchors on one node': `a: ${'&a '.repeat(80_000)}x`,
  'anchors with aliases': lines(7000, (at) => `k${at}: &n${at} v\nl${at}: *n${at}`),
  'a flow list of ones': fill('a: [', '1,', '1]'),
  'a flow list of maps': fill('a: [', '{},', '{}]'),
  'a flow map of lists as keys': fill('{', '[a]: b, ', '}'),
  'open brackets': fill('a: ', '['),
  'nested brackets': `a: ${'['.repeat(130_000)}${']'.repeat(130_000)}`,
  'nested block lists': fill('', '- ', 'x'),
  'nested block maps': lines(700, (at) => `${' '.repeat(at)}k:`),
  'many documents': fill('', '---\n'),
  'tabs as indentation': fill('', '\ta\n'),
  'a key again and again': fill('', 'a: \0\n'),
  'colons alone': fill('', ':'),
  'dashes alone': fill('', '-\n'),
  'tags on one node': fill('a: ', '!!str ', 'x'),
  'directives alone': fill('', '%YAML 1.1\n'),
  'quotes alone': fill('', '"'),
  'bad escapes': fill('a: "', '\\q', '"'),
  'empty comments': fill('', '#\n'),
  'byte order marks': fill('', '\ufeff').slice(0, 100_000),
  'a block of blank lines': fill('a: |\n', ' \n'),
  'a merge of many aliases': fill('x: &x {a: 1}\n<<: [', '*x,', '*x]'),
  'maps that merge one map': `<<: &a {k: 1}\n${lines(5000, (at) => `m${at}: {<<: *a}`)}`,
  'aliases of aliases': `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghijkl']
    .map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghijk'[at]}`).join(',')}]`)
    .join('\n')}`,
  'ordinary values, 220 KiB': lines(5000, (at) => `key${at}:\n  image: "repo/name"\n  tag: v1 # pinned`),
};
