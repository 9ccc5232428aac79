// express.static or sirv over a folder, as their own documentation sets them up: the peers that most Node users know.
// `node test/bench/server/folder-server.ts express.static|sirv FOLDER PORT`

import { createServer } from 'node:http';
import express from 'express';
import sirv from 'sirv';

const [name = '', folder = '.', port = '8080'] = process.argv.slice(2);
if (name === 'sirv') {
  const serve = sirv(folder, { extensions: ['html'], gzip: true });
  createServer((request, response) => serve(request, response)).listen(Number(port), '127.0.0.1');
} else {
  express()
    .use(express.static(folder, { extensions: ['html'] }))
    .listen(Number(port), '127.0.0.1');
}
