// Texts that readers of YAML take for something else unless they are quoted: numbers, times, truth values, and characters
// with a meaning. Readers disagree, so each text is for all of them.

/** A digest in hexadecimal can be a number with an exponent. Our own formatter and the library disagreed about the first. */
const digests = [`e${'0'.repeat(63)}`, `1e${'0'.repeat(62)}`, '0'.repeat(64), '1'.repeat(64)];
const truths = ['yes', 'No', 'y', 'n', 'on', 'Off', 'true', 'null', '~', ''];
const numbers = [
  ...['1', '+1', '-1', '1.', '.5', '1_000', '0777', '1e3', 'e3', 'E+0', '1e1_0', '.inf', '-.Inf', '.NaN'],
  ...['0x1f', '0X1F', '0b1', '0B1', '0o7', '0O7'],
];
const times = ['12:30:45', '2026-11-27', '2026-11-27T00:00:00Z', '20261127-101112-deadbeef'];
const characters = [
  ...['- a', 'a: b', 'a #b', 'a:', '"', "'", '\\', '{', '[', '&a', '*a', '!a', '|', '>', '%a', '@a', '`a'],
  ...['=', '<<', '---', '...', ' a', 'a '],
];

export const awkwardTexts: readonly string[] = [...digests, ...truths, ...numbers, ...times, ...characters];

/** Not printable ASCII. Go's reader of YAML refuses the control character DEL, and folds the line end NEL into a space. */
export const foreignTexts: readonly string[] = [
  ...['a\nb', 'a\n', '\t', '\r', '\0', '\x7f', 'é\u0085', '\u2028', '\ufeff', '\u{1f4c4}'],
];
