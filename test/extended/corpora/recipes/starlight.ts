// Astro with Starlight, whose search is Pagefind.

import { corpusPages, markdownOf, pictureNames, pictureOf, relativePath } from '../content.ts';
import type { Corpus } from '../corpus.ts';

const config = `import { defineConfig } from 'astro/config';
import starlight from '@astrojs/starlight';
export default defineConfig({
  site: 'https://docs.example.com',
  outDir: './out',
  integrations: [
    starlight({
      title: 'Corpus',
      sidebar: ['guides', 'reference', 'concepts'].map((name) => ({ label: name, items: [{ autogenerate: { directory: name } }] })),
    }),
  ],
});
`;

export const starlightCorpus: Corpus = {
  name: 'starlight',
  packages: { astro: '7.3.5', '@astrojs/starlight': '0.42.4', sharp: '0.34.5' },
  files: {
    'astro.config.mjs': config,
    'public/favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>\n',
    'src/content.config.ts': `import { defineCollection } from 'astro:content';
import { docsLoader } from '@astrojs/starlight/loaders';
import { docsSchema } from '@astrojs/starlight/schema';
export const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) };
`,
    'src/content/docs/index.md':
      '---\ntitle: Corpus\n---\n\n[Install](/guides/install/)\n\n![Home](../../assets/one.png)\n',
    ...Object.fromEntries(
      corpusPages.map((page) => [
        `src/content/docs/${page.path}.md`,
        markdownOf(page, {
          link: (path) => `/${path}/`,
          picture: (name, from) => `../../${relativePath(`assets/${name}`, from)}`,
          hasHeading: false,
          frontMatter: ({ title }) => `title: ${title}`,
        }),
      ]),
    ),
    ...Object.fromEntries(pictureNames.map((name) => [`src/assets/${name}`, pictureOf(name)])),
  },
  commands: [['astro', 'build']],
  env: { ASTRO_TELEMETRY_DISABLED: '1' },
  output: 'out',
  search: {
    path: '/guides/install/',
    opens: ['site-search button[data-open-modal]'],
    input: '#starlight__search input',
    results: '#starlight__search',
    tools: ['pagefind'],
  },
  navigations: [
    {
      from: '/guides/install/',
      link: '.sl-markdown-content a[href="/guides/configure/"]',
      to: '/guides/configure/',
    },
  ],
  pages: 13,
};
