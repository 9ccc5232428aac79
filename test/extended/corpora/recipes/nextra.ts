// Nextra with its docs theme, as a running server. Its search is Pagefind in a folder of public files.

import { corpusPages, markdownOf, pictureNames, pictureOf } from '../content.ts';
import type { Corpus } from '../corpus.ts';

const layout = `import { Layout, Navbar } from 'nextra-theme-docs';
import { Head } from 'nextra/components';
import { getPageMap } from 'nextra/page-map';
import 'nextra-theme-docs/style.css';
export const metadata = { title: 'Corpus' };
export default async function RootLayout({ children }) {
  return (
    <html lang="en" dir="ltr" suppressHydrationWarning>
      <Head />
      <body>
        <Layout navbar={<Navbar logo={<b>Corpus</b>} />} pageMap={await getPageMap()}>{children}</Layout>
      </body>
    </html>
  );
}
`;
const page = `import { generateStaticParamsFor, importPage } from 'nextra/pages';
import { useMDXComponents as getMDXComponents } from '../../mdx-components';
export const generateStaticParams = generateStaticParamsFor('mdxPath');
export async function generateMetadata(props) {
  const { mdxPath } = await props.params;
  return (await importPage(mdxPath)).metadata;
}
const Wrapper = getMDXComponents().wrapper;
export default async function Page(props) {
  const params = await props.params;
  const { default: Content, toc, metadata, sourceCode } = await importPage(params.mdxPath);
  return <Wrapper toc={toc} metadata={metadata} sourceCode={sourceCode}><Content {...props} params={params} /></Wrapper>;
}
`;
const components = `import { useMDXComponents as getThemeComponents } from 'nextra-theme-docs';
export const useMDXComponents = (components) => ({ ...getThemeComponents(), ...components });
`;

export const nextraCorpus: Corpus = {
  name: 'nextra',
  packages: {
    next: '15.5.29',
    nextra: '4.6.1',
    'nextra-theme-docs': '4.6.1',
    pagefind: '1.6.0',
    react: '19.2.0',
    'react-dom': '19.2.0',
    // Its theme refuses every layout with the releases of zod after this one.
    zod: '4.1.12',
  },
  files: {
    'next.config.mjs': "import nextra from 'nextra';\nexport default nextra({})({});\n",
    'mdx-components.js': components,
    'app/layout.jsx': layout,
    'app/[[...mdxPath]]/page.jsx': page,
    'content/index.mdx': '# Corpus\n\n[Install](/guides/install)\n\n![Home](/pictures/one.png)\n',
    ...Object.fromEntries(
      corpusPages.map((one) => [
        `content/${one.path}.mdx`,
        markdownOf(one, { link: (path) => `/${path}`, picture: (name) => `/pictures/${name}` }),
      ]),
    ),
    ...Object.fromEntries(pictureNames.map((name) => [`public/pictures/${name}`, pictureOf(name)])),
  },
  commands: [
    ['next', 'build'],
    ['pagefind', '--site', '.next/server/app', '--output-path', 'public/_pagefind'],
  ],
  env: { NEXT_TELEMETRY_DISABLED: '1' },
  serve: ['node_modules/next/dist/bin/next', 'start', '--hostname', '127.0.0.1', '--port', 'PORT'],
  output: '.next',
  search: {
    path: '/guides/install',
    input: '.nextra-search input',
    results: '.nextra-search-results',
    tools: ['pagefind'],
  },
  navigations: [
    { from: '/guides/install', link: 'article a[href="/guides/configure"]', to: '/guides/configure' },
  ],
  pages: 13,
};
