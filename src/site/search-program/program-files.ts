// The files of a search that are the same for each site but for one word: the program that pages load, the engine that it loads when a
// reader is about to search, and the file that a search without a result asks for. Invariant: the same word gives the same bytes.

import { hash } from 'node:crypto';
import type { MadeFile } from '#bundle/made-files.ts';
import type { OwnSearch } from '../own-search.ts';
import { searchFilePath, searchFolder, searchProgramPath } from '../search/search-format.ts';
import { ownSearchWord } from './own-search-files.ts';
import { searchEngineText, searchProgramText } from './program-text.ts';

/** Asked for with the text that found nothing. A server that counts such texts answers by itself; any other one has this file. */
export const missingReportPath = `${searchFolder}none`;

/** As files of the index are named. The program holds it. */
export const searchEngineName = (engine: string): string => hash('sha256', engine, 'hex').slice(0, 16);

export function searchProgramFiles(ownSearch: OwnSearch): readonly MadeFile[] {
  const program = searchProgramText.replace(ownSearchWord, () => JSON.stringify(ownSearch));
  return [
    { path: missingReportPath, bytes: Buffer.from('This file is asked for by searches without a result.\n') },
    { path: searchProgramPath, bytes: Buffer.from(program) },
    { path: searchFilePath(searchEngineName(searchEngineText)), bytes: Buffer.from(searchEngineText) },
  ];
}
