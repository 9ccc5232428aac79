// The hosts that the hostile tenant names besides its vendor: a git host and a registry. A name in the address is the plan:
// repositories of awkward shapes as they are, with a byte changed on the way, or any answer of the hostile vendor.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { GitEntry } from '../../support/gitops/git-repository.ts';
import { type GitServer, startGitServer } from '../../support/gitops/git-server.ts';
import { noise } from '../../support/noise.ts';
import { createAuthority } from '../../support/pki.ts';
import { portOf } from '../../support/storage-server.ts';
import { changeBytes, type Dice, diceOf } from '../mutation.ts';
import { type AnswerContext, stages } from './answer.ts';
import { listAnswerKinds, makeAnswer } from './answers.ts';
import { fill, isLucky, pick, Tally } from './choice.ts';
import { play } from './vendor.ts';

export interface HostileHosts {
  /** `https://…` */
  readonly gitOrigin: string;
  /** Of the git host's certificate. */
  readonly caPem: string;
  /** `host:port` of a registry over HTTP. */
  readonly registry: string;
  readonly answered: Tally;
  close(): Promise<void>;
}

const mib = 1024 * 1024;
const values = 'staticExport:\n  version: none\n';
type Files = Readonly<Record<string, GitEntry>>;
const counted = (count: number, of: (at: number) => readonly [string, string]): Files =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => of(at)));
const logsOf = (from: number): Files =>
  counted(10, (at) => [
    `${from + at}.log`,
    `${fill('x', 9 * mib - 9)}${String(from + at).padStart(8, '0')}\n`,
  ]);

/** Repositories that git accepts: what each of their commits adds to the file of the target. */
const shapes: Readonly<Record<string, () => readonly Files[]>> = {
  small: () => [],
  // Kilobytes as packed, a gigabyte as files: each file is a delta of the one before.
  logs: () => Array.from({ length: 11 }, (_, at) => logsOf(at * 10)),
  wide: () => [counted(20_000, (at) => [`f/${at}.txt`, `${at}`])],
  deep: () => [{ [`${fill('d/', 4_000)}x`]: 'x' }],
  heavy: () => [{ 'big.bin': noise(10 * mib, 'big').toString('hex') }],
  link: () => [{ 'v.yaml': { mode: '120000', content: '../../etc/passwd' } }],
  long: () => [{ 'v.yaml': `staticExport:\n  version: ${fill('v', 9 * mib)}\n` }],
};
export const shapeNames = Object.keys(shapes);

/** The path of a repository: a shape, `mutant`, or `answer`. @param serial chooses among mutants and answers */
export const repositoryPath = (plan: string, serial: number): string => `${plan}-${serial}.git`;

/** @param host an address of the loopback network */
export async function startHostileHosts(seed: number, host: string): Promise<HostileHosts> {
  const answered = new Tally();
  const stopped = new AbortController();
  const backend = await startGitServer({ host });
  for (const [name, commits] of Object.entries(shapes)) {
    const repository = await backend.createRepository(name, { 'v.yaml': values });
    for (const files of commits()) await repository.commit(files);
    // As a host packs what was pushed to it.
    await repository.git('repack', '-adq', '--depth=200', '--window=20');
  }
  const authority = await createAuthority();
  const tls = await authority.issueServer({ dns: [], ips: [host] });
  let requests = 0;
  const nextDice = (): Dice => {
    requests += 1;
    return diceOf(Math.imul(seed, 0x9e3779b1) + requests);
  };
  const listener =
    (answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      answer(request, response).catch(() => request.socket.destroy());
    };
  const playAny = (request: IncomingMessage, serial: number, dice: Dice, where: string): Promise<void> => {
    const stage = pick(dice, stages);
    const kinds = listAnswerKinds(stage);
    const kind = kinds[serial % kinds.length] ?? '';
    answered.add(`${where}: ${kind}`);
    const context: AnswerContext = { jobId: 'j', key: 'k', filesUrl: '', trapUrl: '', now: Date.now() };
    return play(makeAnswer(stage, dice, context, kind), request.socket, stopped.signal);
  };
  const git = createTlsServer(
    { cert: tls.certificatePem, key: tls.keyPem },
    listener(async (request, response) => {
      const [, plan = '', serial = '0', rest = ''] =
        /^\/([a-z]+)-(\d+)\.git(.*)$/.exec(request.url ?? '') ?? [];
      const dice = nextDice();
      if (plan === 'answer') return await playAny(request, Number(serial), dice, 'git');
      const isMutant = plan === 'mutant';
      const shape = isMutant ? (shapeNames[Number(serial) % shapeNames.length] ?? 'small') : plan;
      answered.add(isMutant ? `git: ${shape}, a byte changed` : `git: ${shape}`);
      await forward(backend, `/${shape}.git${rest}`, request, response, (bytes) =>
        isMutant && isLucky(dice, 60) && bytes.length > 0 ? changeBytes(bytes, dice) : bytes,
      );
    }),
  );
  const registry = createServer(listener(registryAnswers(answered, nextDice, playAny)));
  for (const server of [git, registry]) {
    server.on('clientError', (_error, socket) => socket.destroy());
    server.listen(0, host);
    await once(server, 'listening');
  }
  return {
    gitOrigin: `https://${host}:${portOf(git)}`,
    caPem: authority.certificatePem,
    registry: `${host}:${portOf(registry)}`,
    answered,
    close: async () => {
      stopped.abort();
      for (const server of [git, registry]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
      await backend.close();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

async function forward(
  backend: GitServer,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  change: (bytes: Buffer) => Buffer,
): Promise<void> {
  const { method = 'GET', headers } = request;
  const kept = ['content-type', 'git-protocol', 'content-encoding', 'accept'] as const;
  const answer = await fetch(`${backend.origin}${path}`, {
    method,
    headers: Object.fromEntries(
      kept.flatMap((name) => {
        const value = headers[name];
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    ),
    ...(method === 'POST' && { body: await bodyOf(request) }),
  });
  const type = answer.headers.get('content-type') ?? 'text/plain';
  response.writeHead(answer.status, { 'content-type': type });
  response.end(change(Buffer.from(await answer.arrayBuffer())));
}

/** A registry that keeps what it gets, and answers one request in three with anything. */
function registryAnswers(
  answered: Tally,
  nextDice: () => Dice,
  playAny: (request: IncomingMessage, serial: number, dice: Dice, where: string) => Promise<void>,
) {
  const kept = new Map<string, Buffer>();
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const dice = nextDice();
    const url = new URL(request.url ?? '/', 'http://registry');
    const content = await bodyOf(request);
    if (isLucky(dice, 30)) {
      if (isLucky(dice, 30)) {
        answered.add('registry: a large document');
        const piece = pick(dice, ['[],', '{"a":', '"', '[[']);
        response.writeHead(200, { 'content-type': 'application/vnd.oci.image.manifest.v1+json' });
        response.end(fill(piece, pick(dice, [1, 4, 30]) * mib));
        return;
      }
      return await playAny(request, dice(1_000), dice, 'registry');
    }
    answered.add('registry: honest');
    const digest = url.searchParams.get('digest');
    if (request.method === 'POST') {
      response.writeHead(202, { location: `${url.pathname}${dice(1e9)}` }).end();
    } else if (request.method === 'PUT' || request.method === 'PATCH') {
      const place = digest === null ? url.pathname : url.pathname.replace(/uploads\/.*$/, digest);
      kept.set(place, content);
      response.writeHead(request.method === 'PUT' ? 201 : 202, { location: url.pathname }).end();
    } else {
      const found = kept.get(url.pathname);
      response.writeHead(found === undefined ? 404 : 200, {
        'content-type': 'application/vnd.oci.image.manifest.v1+json',
        'content-length': found?.length ?? 0,
      });
      response.end(request.method === 'HEAD' ? undefined : found);
    }
  };
}
