// Writes the programs that the pages of a site with a search load: src/site/search-client as two classic scripts, as texts in a module.
// `--check` writes nothing and fails on a difference. The bundler is pinned, so the same sources give the same texts.

import { hash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { ownSearchWord } from '#site/search-program/own-search-files.ts';

const root = new URL('../', import.meta.url);
const file = new URL('src/site/search-program/program-text.ts', root);

/** The licence of what is inside asks for it. */
const engineNotice = '/*! With MiniSearch 7.2.0, copyright 2022 Luca Ongaro, MIT licence */';

async function bundle(name: string, define: Readonly<Record<string, string>> = {}): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [`src/site/search-client/${name}.ts`],
    absWorkingDir: root.pathname,
    ...{ bundle: true, minify: true, write: false, format: 'iife', target: 'es2022', charset: 'utf8' },
    define,
    ...(name === 'main' ? {} : { banner: { js: engineNotice } }),
    logLevel: 'warning',
  });
  return (outputFiles[0]?.text ?? '').trimEnd();
}

const engine = await bundle('engine-main');
const program = await bundle('main', {
  ownSearchOfSite: ownSearchWord,
  engineNameOfSite: JSON.stringify(hash('sha256', engine, 'hex').slice(0, 16)),
});
if (program.split(ownSearchWord).length !== 2) throw new Error(`the program must have ${ownSearchWord} once`);
const wanted = `// The programs that pages load, as texts: src/site/search-client, bundled. Written by \`npm run generate\`; never by hand.
// Kept as texts, because a reader's browser runs them and this program does not.

/** The element. It loads the engine by the name that stands in it. */
export const searchProgramText = ${JSON.stringify(program)};

/** What reads the index. */
export const searchEngineText = ${JSON.stringify(engine)};
`;
if (!process.argv.includes('--check')) {
  await writeFile(file, wanted);
} else if ((await readFile(file, 'utf8').catch(() => '')) !== wanted) {
  process.stderr.write(`${file.pathname} differs from src/site/search-client; run "npm run generate"\n`);
  process.exitCode = 1;
}
