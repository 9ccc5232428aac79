// The WWW-Authenticate header of a registry (RFC 9110 §11.6.1): which schemes it offers, and where its tokens are. Pure
// and linear. Refuses nothing: what cannot be parsed ends the list, and other schemes are skipped.

export interface Challenge {
  /** In lower case. */
  readonly scheme: string;
  /** Names in lower case; of a repeated name the first value. */
  readonly parameters: ReadonlyMap<string, string>;
}

const separators = /[\s,]*/y;
const token = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
/** A scheme's only argument, such as that of Negotiate. */
const token68 = / +[A-Za-z0-9._~+/-]+=*(?=\s*(?:,|$))/y;
const assignment = /\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([!#$%&'*+.^_`|~0-9A-Za-z-]+))/y;

/** @param header all values of the header, separated by commas */
export function readChallenges(header: string): readonly Challenge[] {
  const found: { scheme: string; parameters: Map<string, string> }[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(header);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  for (;;) {
    take(separators);
    const name = take(token)?.[0].toLowerCase();
    if (name === undefined) return found;
    const value = take(assignment);
    const current = found.at(-1);
    if (value === null) {
      found.push({ scheme: name, parameters: new Map() });
      take(token68);
    } else if (current === undefined) {
      return found;
    } else if (!current.parameters.has(name)) {
      current.parameters.set(name, value[2] ?? (value[1] ?? '').replace(/\\(.)/g, '$1'));
    }
  }
}
