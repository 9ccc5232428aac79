// Finds the chunks that webpack's runtime loads by number. It builds their names at run time from a folder and one or
// two tables, `"js/"+({1:"page"}[e]||e)+"."+{1:"HASH"}[e]+".js"`. Without them a site that hydrates goes blank, and no
// page names them. Owns that one expression. Never runs what it reads.

/** Takes the parentheses in front of it; if the text before took some too, the match would try every split. */
const table = String.raw`\(*\{([^{}]{0,200000})\}\)*\[\w+\]`;
const expression = new RegExp(
  String.raw`"((?:[\w@.~-]{1,80}/){1,8})"\+(?:(?:${table}(?:\|\|\w+)?\)*|\w+)\+"([.-])"\+)?${table}\)*\+"(\.[\w.]{1,40})"`,
  'g',
);
const entry = /(?:"([^"]{1,200})"|([\w$]{1,200})):"([^"]{1,200})"/g;

/** @returns paths as the runtime builds them: without the public path in front */
export function* readWebpackChunks(script: string): Generator<string> {
  for (const [, folder = '', names = '', separator = '', hashes = '', suffix = ''] of script.matchAll(
    expression,
  )) {
    const nameOf = readTable(names);
    for (const [id, hash] of readTable(hashes)) {
      yield separator === ''
        ? `${folder}${hash}${suffix}`
        : `${folder}${nameOf.get(id) ?? id}${separator}${hash}${suffix}`;
    }
  }
}

function readTable(text: string): ReadonlyMap<string, string> {
  return new Map(
    [...text.matchAll(entry)].map(([, quoted, bare, value]) => [quoted ?? bare ?? '', value ?? '']),
  );
}
