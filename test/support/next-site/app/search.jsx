// Client code that nobody needs until it is asked for: a chunk of its own, fetched then.

'use client';

import { useState } from 'react';

export default function Search() {
  const [text, setText] = useState('');
  return (
    <label data-search={process.env.SITE_VERSION}>
      Search in {process.env.SITE_VERSION}:{' '}
      <input value={text} onChange={(event) => setText(event.target.value)} />
    </label>
  );
}
