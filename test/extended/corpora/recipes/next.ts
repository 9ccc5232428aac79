// Next.js in four versions, as a running server: the App Router with `next/image`, a page that is rendered for each request, and
// pages of the Pages Router. Pictures come from the optimizer of the server, and a click fetches data, not a page.

import { corpusPages, pictureNames, pictureOf } from '../content.ts';
import type { Corpus } from '../corpus.ts';

interface NextRelease {
  readonly name: string;
  readonly next: string;
  readonly react: string;
  /** The bundler of this release looks for the root of the project. */
  readonly config?: string;
}

const layout = `import Link from 'next/link';
import Counter from './counter';
export const metadata = { title: 'Corpus' };
export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>
        <nav><Link href="/">Home</Link> <Link href="/guides/install">Install</Link> <Link href="/live">Live</Link></nav>
        <Counter />
        {children}
      </body>
    </html>
  );
}
`;
const counter = `'use client';
import { useState } from 'react';
export default function Counter() {
  const [clicks, setClicks] = useState(0);
  return <button type="button" onClick={() => setClicks(clicks + 1)}>{clicks}</button>;
}
`;
const home = `import Image from 'next/image';
import Link from 'next/link';
import corpusPages from '../pages.json';
import one from '../public/pictures/one.png';
export default function Home() {
  return (
    <main>
      <h1>Corpus</h1>
      <Image src={one} alt="Home" priority sizes="50vw" />
      <ul>{corpusPages.map(({ path, title }) => <li key={path}><Link href={'/' + path}>{title}</Link></li>)}</ul>
      <a href="/legacy/install">Legacy</a>
    </main>
  );
}
`;
const article = `import Image from 'next/image';
import Link from 'next/link';
import corpusPages from '../../../pages.json';
export const dynamicParams = false;
export function generateStaticParams() {
  return corpusPages.map(({ path }) => ({ section: path.split('/')[0], name: path.split('/')[1] }));
}
export default async function Article({ params }) {
  const { section, name } = await params;
  const at = corpusPages.findIndex(({ path }) => path === section + '/' + name);
  const next = corpusPages[(at + 1) % corpusPages.length];
  const { title, word, picture } = corpusPages[at];
  return (
    <main>
      <h1>{title}</h1>
      <p>This page is about {word}. {'ä € 𝄞 '.repeat(40)}</p>
      <Image src={'/pictures/' + picture} alt={title} width={240} height={135} />
      <Image src="/pictures/two.png" alt="Wide" width={480} height={270} sizes="100vw" quality={75} />
      <pre>{('const ' + word + ' = 1;\\n').repeat(60)}</pre>
      <Link id="next" href={'/' + next.path}>{next.title}</Link>
    </main>
  );
}
`;
const live = `export const dynamic = 'force-dynamic';
export default function Live() {
  return <main><h1>Live</h1><p>Rendered for each request.</p></main>;
}
`;
const legacy = `import Image from 'next/image';
import Link from 'next/link';
const names = ['install', 'deploy', 'upgrade'];
export function getStaticPaths() {
  return { paths: names.map((name) => ({ params: { name } })), fallback: false };
}
export function getStaticProps({ params: { name } }) {
  return { props: { name, next: names[(names.indexOf(name) + 1) % names.length] } };
}
export default function Legacy({ name, next }) {
  return (
    <main>
      <h1>Legacy {name}</h1>
      <Image src="/pictures/three.png" alt="Legacy" width={240} height={135} />
      <Link id="next" href={'/legacy/' + next}>{next}</Link>
    </main>
  );
}
`;

const data = corpusPages.map((page, at) => ({ ...page, picture: pictureNames[at % pictureNames.length] }));

function nextCorpus({ name, next, react, config = '{}' }: NextRelease): Corpus {
  return {
    name,
    packages: { next, react, 'react-dom': react },
    files: {
      'next.config.mjs': `export default ${config};\n`,
      'pages.json': JSON.stringify(data),
      'app/layout.jsx': layout,
      'app/counter.jsx': counter,
      'app/page.jsx': home,
      'app/live/page.jsx': live,
      'app/[section]/[name]/page.jsx': article,
      'pages/legacy/[name].jsx': legacy,
      ...Object.fromEntries(
        pictureNames.map((picture) => [`public/pictures/${picture}`, pictureOf(picture)]),
      ),
    },
    commands: [['next', 'build']],
    env: { NEXT_TELEMETRY_DISABLED: '1' },
    serve: ['node_modules/next/dist/bin/next', 'start', '--hostname', '127.0.0.1', '--port', 'PORT'],
    output: '.next',
    navigations: [
      { from: '/guides/install', link: '#next', to: '/guides/configure' },
      { from: '/guides/install', link: 'a[href="/live"]', to: '/live' },
      { from: '/legacy/install', link: '#next', to: '/legacy/deploy' },
    ],
    pages: 17,
  };
}

export const nextCorpora: readonly Corpus[] = [
  nextCorpus({ name: 'next-13', next: '13.5.9', react: '18.3.1' }),
  nextCorpus({ name: 'next-14', next: '14.2.35', react: '18.3.1' }),
  nextCorpus({ name: 'next-15', next: '15.5.29', react: '19.2.0' }),
  nextCorpus({
    name: 'next-16',
    next: '16.4.6',
    react: '19.3.1',
    config: '{ turbopack: { root: import.meta.dirname } }',
  }),
];
