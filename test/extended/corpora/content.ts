// What every corpus says: the same twelve pages and four pictures, in the layout of each generator. Each page has a word that no
// other page has, so that a search shows which page it found. Invariant: the same bytes in each run.

import { crc32, deflateSync } from 'node:zlib';

export interface CorpusPage {
  /** Without slash at its ends, such as `guides/install`. */
  readonly path: string;
  readonly title: string;
  /** Only this page has it. */
  readonly word: string;
}

export const corpusPages: readonly CorpusPage[] = [
  { path: 'guides/install', title: 'Install', word: 'quokka' },
  { path: 'guides/configure', title: 'Configure', word: 'axolotl' },
  { path: 'guides/deploy', title: 'Deploy', word: 'pangolin' },
  { path: 'guides/upgrade', title: 'Upgrade', word: 'narwhal' },
  { path: 'guides/troubleshoot', title: 'Troubleshoot', word: 'wombat' },
  { path: 'reference/flags', title: 'Flags', word: 'capybara' },
  { path: 'reference/metrics', title: 'Metrics', word: 'ocelot' },
  { path: 'reference/events', title: 'Events', word: 'tapir' },
  { path: 'reference/limits', title: 'Limits', word: 'marmoset' },
  { path: 'concepts/versions', title: 'Versions', word: 'kinkajou' },
  { path: 'concepts/links', title: 'Links', word: 'echidna' },
  { path: 'concepts/mirrors', title: 'Mirrors', word: 'lemur' },
];

/** The page that each search must find. */
export const soughtPage: CorpusPage = { path: 'reference/events', title: 'Events', word: 'tapir' };

export const pictureNames: readonly string[] = ['one.png', 'two.png', 'three.png', 'four.png'];

interface MarkdownForm {
  /** How a page names another one. */
  readonly link: (path: string, from: string) => string;
  /** How a page names a picture. */
  readonly picture: (name: string, from: string) => string;
  /** Without a title of its own where the generator writes one. */
  readonly hasHeading?: boolean;
  readonly frontMatter?: (page: CorpusPage) => string;
}

/** The page in Markdown that every generator here reads in the same way. */
export function markdownOf(page: CorpusPage, form: MarkdownForm): string {
  const at = corpusPages.findIndex(({ path }) => path === page.path);
  const next = corpusPages[(at + 1) % corpusPages.length] ?? page;
  const picture = pictureNames[at % pictureNames.length] ?? '';
  return [
    ...(form.frontMatter === undefined ? [] : ['---', form.frontMatter(page), '---', '']),
    ...(form.hasHeading === false ? [] : [`# ${page.title}`, '']),
    `This page is about ${page.word}. It says what ${page.title.toLowerCase()} means, and when to use it.`,
    '',
    `![Picture of ${page.title}](${form.picture(picture, page.path)})`,
    '',
    '## Steps',
    '',
    ...Array.from(
      { length: 6 },
      (_, step) => `${step + 1}. Step ${step + 1} of ${page.title.toLowerCase()}.`,
    ),
    '',
    '| Name | Default | Meaning |',
    '| --- | ---: | --- |',
    `| \`${page.word}\` | ${at + 1} | What *${page.title}* does. |`,
    `| ${next.title} | | **Next**, see [how](${form.link(next.path, page.path)}). |`,
    '',
    '```js',
    `const ${page.word} = '${page.path}';`,
    '```',
    '',
    `Then read [${next.title}](${form.link(next.path, page.path)}).`,
    '',
  ].join('\n');
}

/** From the folder of a page to a path of the site. */
export function relativePath(to: string, from: string): string {
  return `${'../'.repeat(from.split('/').length - 1)}${to}`;
}

/** Pages by their folder, in order. */
export function pagesByFolder(): ReadonlyMap<string, readonly CorpusPage[]> {
  return Map.groupBy(corpusPages, ({ path }) => path.slice(0, path.indexOf('/')));
}

const width = 480;
const height = 270;

/** A PNG whose colours follow from its name. */
export function pictureOf(name: string): Buffer {
  const shift = 40 * (1 + pictureNames.indexOf(name));
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y += 1) {
    const row = y * (1 + width * 3) + 1;
    for (let x = 0; x < width; x += 1) {
      rows[row + x * 3] = (x + shift) & 255;
      rows[row + x * 3 + 1] = (y * 2 + shift) & 255;
      rows[row + x * 3 + 2] = ((x >> 4) * (y >> 4) + shift) & 255;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(rows, { level: 9 })),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}
