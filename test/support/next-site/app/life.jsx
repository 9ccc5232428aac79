// Runs in the browser only: says that the page is alive and which build its code is of, counts what is clicked, and
// opens what was not loaded before.

'use client';

import dynamic from 'next/dynamic';
import { useEffect, useState } from 'react';

const Search = dynamic(() => import('./search.jsx'), { ssr: false });

export function Life() {
  const [isAlive, setAlive] = useState(false);
  const [isSearching, setSearching] = useState(false);
  const [clicks, setClicks] = useState(0);
  useEffect(() => setAlive(true), []);
  return (
    <footer data-alive={isAlive} data-code={process.env.SITE_VERSION} data-clicks={clicks}>
      <button type="button" onClick={() => setClicks(clicks + 1)}>
        code of {process.env.SITE_VERSION}, {clicks} clicks
      </button>
      <button type="button" data-open onClick={() => setSearching(true)}>
        Search
      </button>
      {isSearching && <Search />}
    </footer>
  );
}
