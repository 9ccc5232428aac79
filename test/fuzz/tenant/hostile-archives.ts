// What the hostile vendor's links lead to: archive bombs, truncated archives, random bytes, slow downloads. Made once per
// campaign; the dice choose among them.

import { gzipSync, zstdCompressSync } from 'node:zlib';
import { makeArchive } from '../../integration/server/archive.ts';
import { noise } from '../../support/noise.ts';
import type { HostileAnswer, Piece } from './answer.ts';

/** The name of the one that is whole, and only slow. */
export const slowArchive = 'a byte a second';

const mib = 1024 * 1024;
const dripSeconds = 60;

/** By name. Compressed sizes are small: what is large is large only unpacked, or sent many times. */
export async function makeHostileArchives(): Promise<ReadonlyMap<string, HostileAnswer>> {
  const honest = await makeArchive({ 'index.html': '<h1>hostile</h1>' });
  const zeros = gzipSync(Buffer.alloc(16 * mib));
  const bomb = await makeArchive({ 'index.html': 'x', 'zeros.bin': Buffer.alloc(64 * mib) });
  const many = await makeArchive(
    Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`f/${at}.html`, ''])),
  );
  const names = [
    '../x',
    '/etc/passwd',
    'a\\b',
    'a\u0007b',
    'a\u202eb',
    'n'.repeat(3_000),
    'a/'.repeat(1_000),
    '.',
    'C:x',
  ];
  const odd = await makeArchive(Object.fromEntries(names.map((name) => [`${name}index.html`, name])));
  return new Map<string, HostileAnswer>([
    ['honest', send([once(honest)])],
    ['a bomb', send([once(bomb)])],
    ['a bomb of many members', send([{ bytes: zeros, times: 400 }])],
    ['a bomb in zstd', send([{ bytes: zstdCompressSync(Buffer.alloc(64 * mib)), times: 40 }])],
    ['twenty thousand files', send([once(many)])],
    ['odd names', send([once(odd)])],
    ['half an archive', send([once(honest.subarray(0, honest.length / 2))])],
    ['half an archive, then a reset', send([once(honest.subarray(0, honest.length / 2))], 'reset')],
    ['an archive in an archive', send([once(await makeArchive({ 'index.html': honest, 'a.tgz': bomb }))])],
    ['nonsense in gzip', send([once(Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0]), noise(50_000)]))])],
    ['nonsense in zip', send([once(Buffer.concat([Buffer.from('PK\u0003\u0004'), noise(50_000)]))])],
    ['a web page', send([once('<html>Sign in</html>')])],
    ['nothing', send([])],
    ['50 MiB of noise', send([{ bytes: gzipSync(noise(mib)), times: 50 }])],
    [slowArchive, send(drip(honest))],
    ['silence', { pieces: [], end: 'hang' }],
    ['a head and silence', send([], 'hang')],
    [
      'headers without end',
      {
        pieces: [once('HTTP/1.1 200 OK\r\n'), { bytes: `x-a: ${'b'.repeat(8_000)}\r\n`, times: 2_000 }],
        end: 'close',
      },
    ],
    [
      'a redirect to itself',
      { pieces: [once('HTTP/1.1 302 Found\r\nlocation: ?again\r\nconnection: close\r\n\r\n')], end: 'close' },
    ],
    [
      'a redirect to a file',
      {
        pieces: [once('HTTP/1.1 302 Found\r\nlocation: file:///etc/passwd\r\nconnection: close\r\n\r\n')],
        end: 'close',
      },
    ],
    [
      'expired',
      { pieces: [once('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n<Error/>')], end: 'close' },
    ],
  ]);
}

/** A whole archive in the end, which nothing but its pace is wrong with. */
function drip(archive: Buffer): readonly Piece[] {
  const start = archive.length - dripSeconds;
  const drops = Array.from({ length: dripSeconds }, (_, at): Piece => {
    return { bytes: archive.subarray(start + at, start + at + 1), times: 1, everyMs: 1_000 };
  });
  return [once(archive.subarray(0, start)), ...drops];
}

const once = (bytes: string | Buffer): Piece => ({ bytes, times: 1 });

function send(pieces: readonly Piece[], end: HostileAnswer['end'] = 'close'): HostileAnswer {
  return {
    pieces: [
      once('HTTP/1.1 200 OK\r\ncontent-type: application/gzip\r\nconnection: close\r\n\r\n'),
      ...pieces,
    ],
    end,
  };
}
