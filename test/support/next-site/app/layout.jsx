// Around every page: the links, and a word from the client that the page has come to life.

import Link from 'next/link';
import { Life } from './life.jsx';

export const metadata = { title: 'Docs' };

const links = [
  ['/', 'Home'],
  ['/guides', 'Guides'],
  ['/guides/install', 'Install'],
  ['/guides/deploy', 'Deploy'],
  ['/reference/flags', 'Flags'],
];

export default function Layout({ children }) {
  return (
    <html lang="en">
      <head>
        <link rel="icon" href="data:," />
      </head>
      <body>
        <nav>
          {links.map(([href, text]) => (
            <Link key={href} href={href} style={{ marginRight: '1em' }}>
              {text}
            </Link>
          ))}
          {/* The one whose payload is asked for when it is clicked, and not as soon as it is in view. */}
          <Link href="/reference/metrics" prefetch={false}>
            Metrics
          </Link>
        </nav>
        <main>{children}</main>
        <Life />
      </body>
    </html>
  );
}
