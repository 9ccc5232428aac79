// The made site of the benchmarks: 5,000 pages and 300 assets and two files more, 126 MB in 5,302 files. Always the
// same bytes. Words are drawn so that it compresses like prose in templates do (about 5 to 1).

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { diceOf } from '../../fuzz/mutation.ts';

const pageCount = 5_000;
const assetCount = 300;
const pageBytes = 20_000;
const assetBytes = 86_000;

/** Writes the site below `folder` and packs it. @returns the path of the `.tar.gz` */
export function packMadeSite(folder: string): string {
  return packFolder(writeMadeSite(join(folder, 'made')), join(folder, 'made.tar.gz'));
}

/** @returns `site`, the folder that it was written to */
export function writeMadeSite(site: string): string {
  const dice = diceOf(5302);
  const words = Array.from({ length: 4_000 }, () =>
    Array.from({ length: 3 + dice(8) }, () => String.fromCharCode(97 + dice(26))).join(''),
  );
  const prose = (bytes: number): string => {
    const pieces: string[] = [];
    for (let length = 0; length < bytes; ) {
      // Small numbers come more often, as common words do.
      const word = words[Math.min(dice(words.length), dice(words.length), dice(words.length))] ?? '';
      pieces.push(word);
      length += word.length + 1;
    }
    return pieces.join(' ');
  };
  const put = (name: string, text: string): void => {
    mkdirSync(dirname(join(site, name)), { recursive: true });
    writeFileSync(join(site, name), text);
  };
  const frame = `<!doctype html><html><head><title>%</title></head><body><nav>${prose(1_500)}</nav>`;
  for (let at = 0; at < pageCount; at += 1) {
    put(
      `guides/${at % 50}/page-${at}.html`,
      `${frame}<main>${prose(pageBytes - frame.length)}</main></body></html>`,
    );
  }
  for (let at = 0; at < assetCount; at += 1) {
    put(`assets/chunk-${at}.${(0x1000_0000 + dice(0x1000_0000)).toString(16)}.js`, prose(assetBytes));
  }
  put('index.html', `${frame}home`);
  put('404.html', `${frame}nothing here`);
  return site;
}

/** With GNU tar and gzip, links followed. @returns `archive` */
export function packFolder(site: string, archive: string): string {
  execFileSync('tar', ['-chzf', archive, '-C', site, '.']);
  return archive;
}

/** As tar.gz, tar.zst and zip, with the machine's own tools; an earlier archive of that name goes first. */
export function packEachWay(
  site: string,
  name: string,
): { readonly gz: string; readonly zst: string; readonly zip: string } {
  const [gz, zst, zip] = [`${name}.tar.gz`, `${name}.tar.zst`, `${name}.zip`];
  for (const archive of [gz, zst, zip]) rmSync(archive, { force: true });
  packFolder(site, gz);
  execFileSync('tar', ['-ch', '--zstd', '-f', zst, '-C', site, '.']);
  execFileSync('zip', ['-qr', zip, '.'], { cwd: site });
  return { gz, zst, zip };
}
