// Finds the chunks that webpack's runtime loads by number. It builds their names at run time from a folder and one or
// two tables, `"js/"+({1:"page"}[e]||e)+"."+{1:"HASH"}[e]+".js"`. A runtime with one chunk, such as that of a worker, has no
// table: `"js/"+e+".HASH.js"`. Without them a site that hydrates goes blank, and no page names them. Owns these two
// expressions. Never runs what it reads.

/** Takes the parentheses in front of it; if the text before took some too, the match would try every split. */
const table = String.raw`\(*\{([^{}]{0,200000})\}\)*\[\w+\]`;
const expression = new RegExp(
  String.raw`"((?:[\w@.~-]{1,80}/){1,8})"\+(?:(?:${table}(?:\|\|\w+)?\)*|\w+)\+"([.-])"\+)?${table}\)*\+"(\.[\w.]{1,40})"`,
  'g',
);
/** The name of the only chunk. Its number stands where the runtime loads it. */
const single = /"((?:[\w@.~-]{1,80}\/){1,8})"\+\(?\w{1,20}\)?\+"([\w.-]{1,60}\.\w{1,5})"/g;
const loaded = /\.e\((?:"([\w-]{1,80})"|(\d{1,10}))\)/g;
/** Of one script, so that many calls and many expressions do not multiply. */
const maxLoaded = 16;
const entry = /(?:"([^"]{1,200})"|([\w$]{1,200})):"([^"]{1,200})"/g;

/** @returns paths as the runtime builds them: without the public path in front */
export function* readWebpackChunks(script: string): Generator<string> {
  // The end of a folder, which both expressions have: most scripts have none.
  if (!script.includes('/"+')) return;
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
  yield* readSingleChunk(script);
}

function* readSingleChunk(script: string): Generator<string> {
  const [expressionOfOne] = script.matchAll(single);
  if (expressionOfOne === undefined) return;
  const [, folder = '', suffix = ''] = expressionOfOne;
  const ids = new Set<string>();
  for (const [, quoted, bare = ''] of script.matchAll(loaded)) {
    ids.add(quoted ?? bare);
    if (ids.size >= maxLoaded) break;
  }
  for (const id of ids) yield `${folder}${id}${suffix}`;
}

function readTable(text: string): ReadonlyMap<string, string> {
  return new Map(
    [...text.matchAll(entry)].map(([, quoted, bare, value]) => [quoted ?? bare ?? '', value ?? '']),
  );
}
