// nginx and Caddy over a folder of files, as somebody would set them up who knows what they are doing: clean
// addresses, the site's own 404 page, variant files made beforehand. Started and ended by the test that asks them.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChildProgram, startProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { maySkip } from '../../support/may-skip.ts';

export interface OtherServer {
  readonly name: 'nginx' | 'Caddy';
  readonly port: number;
  readonly program: ChildProgram;
}

const binaries = { nginx: '/usr/sbin/nginx', caddy: '/usr/bin/caddy' } as const;

/** Why they cannot be asked here; `false` when they can. */
export const othersAreMissing: string | false = maySkip(
  'peers',
  !Object.values(binaries).every((file) => existsSync(file)) &&
    'nginx and caddy are not installed (test/integration/install-packages.sh)',
);

/** @param folder of the files; gets a `.conf` beside it */
export async function startNginx(root: string, work: string): Promise<OtherServer> {
  const port = await findFreePort();
  const conf = join(work, 'nginx.conf');
  await mkdir(join(work, 'nginx'), { recursive: true });
  await writeFile(
    conf,
    `daemon off; master_process off; pid ${work}/nginx/pid; error_log ${work}/nginx/error.log;
worker_processes 1; worker_rlimit_nofile 4096;
events { worker_connections 1024; }
http {
  include /etc/nginx/mime.types; default_type application/octet-stream; charset utf-8;
  access_log off; server_tokens off; sendfile on; tcp_nopush on; keepalive_requests 1000000; gzip_static on;
  client_body_temp_path ${work}/nginx; proxy_temp_path ${work}/nginx; fastcgi_temp_path ${work}/nginx;
  uwsgi_temp_path ${work}/nginx; scgi_temp_path ${work}/nginx;
  server { listen 127.0.0.1:${port}; root ${root}; absolute_redirect off; error_page 404 /404.html;
    location / { try_files $uri $uri.html $uri/ =404; } } }
`,
  );
  // A worker that drops its rights could not read a test's own folder.
  const args = ['-c', conf, '-p', join(work, 'nginx'), ...(isRoot() ? ['-g', 'user root;'] : [])];
  return ready({ name: 'nginx', port, program: startProgram(binaries.nginx, { args }) });
}

export async function startCaddy(root: string, work: string): Promise<OtherServer> {
  const port = await findFreePort();
  const conf = join(work, 'Caddyfile');
  await writeFile(
    conf,
    `{
  admin off
  auto_https off
}
http://:${port} {
  bind 127.0.0.1
  root * ${root}
  try_files {path} {path}.html {path}/
  file_server {
    precompressed br gzip
  }
  handle_errors {
    rewrite * /404.html
    file_server
  }
}
`,
  );
  const args = ['run', '--config', conf, '--adapter', 'caddyfile'];
  const env = { XDG_DATA_HOME: work, XDG_CONFIG_HOME: work, HOME: work, GOMAXPROCS: '1' };
  return ready({ name: 'Caddy', port, program: startProgram(binaries.caddy, { args, env }) });
}

/** The precompressed variants, beside the files, as both servers look for them. */
export function compressBeforehand(root: string): void {
  execFileSync('find', [
    root,
    '-type',
    'f',
    '(',
    ...['html', 'js', 'json', 'css'].flatMap((one, at) => [...(at === 0 ? [] : ['-o']), '-name', `*.${one}`]),
    ')',
    ...['-exec', 'gzip', '-9kf', '{}', '+'],
  ]);
}

async function ready(server: OtherServer): Promise<OtherServer> {
  await eventually(`${server.name} answers`, async () => {
    if (server.program.hasExited()) throw new Error(server.program.tail());
    const answer = await fetch(`http://127.0.0.1:${server.port}/`);
    await answer.arrayBuffer();
    return answer.ok ? true : undefined;
  });
  return server;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
