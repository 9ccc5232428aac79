// The archives that are mutated: real ones, made by GNU tar, zip and git of both layouts that a vendor packs.
// Small, so that a mutation hits structure more often than content.

import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';

export type ArchiveKind = 'tar.gz' | 'tar.zst' | 'tar' | 'zip';

export interface Sample {
  readonly name: string;
  readonly kind: ArchiveKind;
  readonly bytes: Buffer;
  /** The tar inside; for a zip its own bytes. */
  readonly plain: Buffer;
  /** Text (latin1) by path, as packed. */
  readonly contents: Readonly<Record<string, string>>;
}

const paxOption = '--pax-option=delete=atime,delete=ctime,exthdr.name=%d/PaxHeaders/%f';
/** Epoch seconds. */
const madeAt = 1_750_000_000;
const longName = `${'part/'.repeat(22)}${'n'.repeat(40)}.html`;

/** `x.html` for `/x`. */
const flatLayout: Readonly<Record<string, string>> = {
  'index.html': '<!doctype html><title>home</title>',
  '404.html': 'nothing here',
  'guides/first.html': '<p>first</p>'.repeat(60),
  'guides/zweite-Übersicht.html': 'ü',
  'assets/app.4f9d2c1b.js': 'console.log("x");\n'.repeat(30),
  'empty.txt': '',
  [longName]: 'deep',
};

/** `dir/index.html` for `/dir/`, with the files that the vendor adds to serve it. */
const folderLayout: Readonly<Record<string, string>> = {
  'index.html': '<!doctype html><title>home</title>',
  'guides/index.html': '<p>guides</p>',
  'guides/first/index.html': '<p>first</p>'.repeat(60),
  'serve.js': 'require("http")',
  'start.sh': '#!/bin/sh\nnode serve.js\n',
  'start.bat': 'node serve.js\r\n',
  '_next/static/chunks/main-0a1b2c3d.js': 'var a=1;'.repeat(50),
  '.well-known/security.txt': 'Contact: mailto:a@example.com\n',
};

/** Packed by the machine's own tools in each run; takes about a second. */
export function makeCorpus(): readonly Sample[] {
  const root = mkdtempSync(join(tmpdir(), 'fuzz-corpus-'));
  try {
    return [...packAll(root, 'flat', flatLayout), ...packAll(root, 'folders', folderLayout)];
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function packAll(root: string, layout: string, files: Readonly<Record<string, string>>): readonly Sample[] {
  const site = join(root, layout);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(site, name)), { recursive: true });
    writeFileSync(join(site, name), text);
  }
  // The same times in every run, so that a seed gives the same bytes.
  for (const name of readdirSync(site, { recursive: true, encoding: 'utf8' }).concat('.')) {
    utimesSync(join(site, name), madeAt, madeAt);
  }
  const contents = Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString('latin1')]),
  );
  const out = join(root, 'archive');
  const run = (file: string, ...args: readonly string[]): Buffer =>
    execFileSync(file, args, {
      cwd: site,
      env: {
        ...process.env,
        TZ: 'UTC',
        GIT_AUTHOR_DATE: `@${madeAt} +0000`,
        GIT_COMMITTER_DATE: `@${madeAt} +0000`,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 1 << 26,
    });
  const sample = (tool: string, kind: ArchiveKind, bytes: Buffer): Sample => {
    const plain =
      kind === 'tar.gz' ? gunzipSync(bytes) : kind === 'tar.zst' ? zstdDecompressSync(bytes) : bytes;
    return { name: `${layout}, ${tool}`, kind, bytes, plain, contents };
  };
  const tarred = (kind: ArchiveKind, ...args: readonly string[]): Sample => {
    run('tar', '-cf', out, '--sort=name', '--owner=0', '--group=0', '--mode=a+rX', ...args);
    return sample(`tar ${args.join(' ')}`, kind, readFileSync(out));
  };
  const zipped = (...args: readonly string[]): Sample => {
    rmSync(out, { force: true });
    run('zip', '-q', ...args, `${out}.zip`, '.');
    const bytes = readFileSync(`${out}.zip`);
    rmSync(`${out}.zip`);
    return sample(`zip ${args.join(' ')}`, 'zip', bytes);
  };
  const git = (...args: readonly string[]): Buffer =>
    run('git', '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args);
  const samples = [
    tarred('tar', '--format=gnu', '.'),
    tarred('tar', '--format=pax', paxOption, '.'),
    tarred('tar', '-b', '1', '--format=ustar', '.'),
    tarred('tar.gz', '--format=gnu', '-z', '.'),
    tarred('tar.gz', '--format=pax', paxOption, '-z', '.'),
    tarred('tar.zst', '--format=gnu', '--zstd', '.'),
    zipped('-rX'),
    zipped('-rX', '-0'),
    zipped('-rX', '-fz'),
  ];
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'site');
  return [
    ...samples,
    sample('git archive', 'tar', git('archive', '--format=tar', 'HEAD')),
    sample('git archive', 'tar.gz', git('archive', '--format=tar.gz', 'HEAD')),
    sample('git archive', 'zip', git('archive', '--format=zip', 'HEAD')),
  ];
}
