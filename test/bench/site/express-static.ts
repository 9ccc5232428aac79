// express.static over a folder, as its own documentation sets it up: the peer that most Node users know.
// `node test/bench/site/express-static.ts FOLDER PORT`

import express from 'express';

const [folder = '.', port = '8080'] = process.argv.slice(2);
express()
  .use(express.static(folder, { extensions: ['html'] }))
  .listen(Number(port), '127.0.0.1');
