// The hostile vendor on a real socket. A domain's first label names the call with the hostile answer, and the answer, so
// that a seed gives the same run again. Reports API keys that arrive where none may.

import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Dice, diceOf } from '../mutation.ts';
import type { AnswerContext, HostileAnswer, Stage } from './answer.ts';
import { listAnswerKinds, makeAnswer, makeHonestAnswer } from './answers.ts';
import { isLucky, pick, Tally } from './choice.ts';
import { makeHostileArchives } from './hostile-archives.ts';

export const hostileKey = 'svc_hostile-Tz93kW1nB6';
/** In every link of this vendor. */
export const hostileSignature = 'aG9zdGlsZS1saW5rLXNpZ25hdHVyZQ';

export interface HostileVendor {
  readonly url: string;
  /** Where no key may arrive: on no list of hosts. */
  readonly trapUrl: string;
  /** Names of its archives; a domain names one by its place. */
  readonly archives: readonly string[];
  /** Answers by call and kind. */
  readonly answered: Tally;
  /** Requests with a key where none may arrive, as text. */
  readonly strayKeys: ReadonlySet<string>;
  close(): Promise<void>;
}

/** A domain for which one call is answered in one way always, or in any way. */
export function hostileDomain(stage: Stage | 'file', kind: number | undefined, serial: number): string {
  return `${stage}-${kind ?? 'any'}-${serial}.hostile.example.com`;
}

interface Plan {
  readonly stage: string;
  readonly kind: number | undefined;
  readonly serial: number;
}

function readPlan(domain: string): Plan {
  const [, stage = 'start', kind, serial] = /^([a-z]+)-(any|\d+)-(\d+)\./.exec(domain) ?? [];
  return {
    stage,
    kind: kind === undefined || kind === 'any' ? undefined : Number(kind),
    serial: Number(serial ?? 0),
  };
}

/**
 * @param host an address of the loopback network that the operator may send keys to
 * @param trapHost one that it may not
 */
export async function startHostileVendor(
  seed: number,
  host: string,
  trapHost: string,
): Promise<HostileVendor> {
  const archives = [...(await makeHostileArchives()).entries()];
  const answered = new Tally();
  const strayKeys = new Set<string>();
  const stopped = new AbortController();
  /** Domain by job. */
  const jobs = new Map<string, string>();
  const calls = new Map<string, number>();

  /** The n-th call of a kind for a domain has dice of its own. */
  const diceFor = (domain: string, stage: string): Dice => {
    const name = `${stage} ${domain}`;
    const count = (calls.get(name) ?? 0) + 1;
    calls.set(name, count);
    return diceOf(Math.imul(seed, 0x9e3779b1) ^ hash(`${name} ${count}`));
  };

  const answerFile = (path: string): HostileAnswer => {
    const [, name = '', domain = ''] = /^\/files\/([^/?]*)\/([^/?]*)/.exec(path) ?? [];
    const plan = readPlan(domain);
    const dice = diceFor(domain, 'file');
    const isOdd = plan.stage === 'file' || name.startsWith('odd');
    const chosen = !isOdd
      ? archives[0]
      : plan.kind === undefined
        ? pick(dice, archives)
        : archives[plan.kind % archives.length];
    const [kind, answer] = chosen ?? ['nothing', { pieces: [], end: 'close' as const }];
    answered.add(`file: ${kind}`);
    return answer;
  };

  const answerCall = async (request: IncomingMessage): Promise<HostileAnswer> => {
    const path = request.url ?? '';
    const key = (request.headers.authorization ?? '').replace(/^Bearer /, '');
    if (path.startsWith('/files/')) {
      if (key !== '') strayKeys.add('a key was sent along with a download');
      return answerFile(path);
    }
    const text = await readText(request);
    const [, id, action] = /\/jobs\/([^/]+)(\/bundle)?$/.exec(path) ?? [];
    const stage: Stage = id === undefined ? 'start' : action === undefined ? 'poll' : 'bundle';
    const domain = id === undefined ? domainOf(text) : (jobs.get(id) ?? id);
    const plan = readPlan(domain);
    const jobId = id ?? `j${jobs.size}`;
    if (id === undefined) jobs.set(jobId, domain);
    const filesUrl = `${base()}/files`;
    const context: AnswerContext = {
      jobId,
      key,
      filesUrl,
      trapUrl: `${trapBase()}/trap?signature=${hostileSignature}`,
      now: Date.now(),
    };
    const dice = diceFor(domain, stage);
    const kinds = listAnswerKinds(stage);
    if (plan.stage !== stage || (plan.kind === undefined && isLucky(dice, 20))) {
      answered.add(`${stage}: honest`);
      return withDomain(makeHonestAnswer(stage, context), domain);
    }
    const kind = plan.kind === undefined ? pick(dice, kinds) : kinds[plan.kind % kinds.length];
    answered.add(`${stage}: ${kind}`);
    return withDomain(makeAnswer(stage, dice, context, kind), domain);
  };

  const server = createServer({ requestTimeout: 0 }, (request) => {
    const { socket } = request;
    answerCall(request)
      .then((answer) => play(answer, socket, stopped.signal))
      .catch(() => socket.destroy());
  });
  const trap = createServer((request, response) => {
    if (request.headers.authorization !== undefined)
      strayKeys.add(`a key was sent to a host that is on no list (${request.url})`);
    response.writeHead(404).end();
  });
  for (const one of [server, trap]) one.on('clientError', (_error, socket) => socket.destroy());
  const base = await listen(server, host);
  const trapBase = await listen(trap, trapHost);
  return {
    url: `${base()}/api`,
    trapUrl: `${trapBase()}/api`,
    archives: archives.map(([name]) => name),
    answered,
    strayKeys,
    close: async () => {
      stopped.abort();
      for (const one of [server, trap]) {
        one.closeAllConnections();
        await new Promise((resolve) => one.close(resolve));
      }
    },
  };
}

async function listen(server: ReturnType<typeof createServer>, host: string): Promise<() => string> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('a server without an address');
  return () => `http://${host}:${address.port}`;
}

/** Bytes as they are; a peer that does not read is waited for, and one that leaves ends it. */
export async function play(
  { pieces, end }: HostileAnswer,
  socket: Socket,
  signal: AbortSignal,
): Promise<void> {
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  for (const { bytes, times, everyMs } of pieces) {
    for (let left = times; left > 0 && !socket.destroyed && !signal.aborted; left -= 1) {
      if (everyMs !== undefined) await Promise.race([sleep(everyMs, undefined, { signal }), closed]);
      else if (!socket.write(bytes))
        await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
      if (everyMs !== undefined && !socket.destroyed) socket.write(bytes);
    }
  }
  if (end === 'close') socket.end();
  else if (end === 'reset') socket.resetAndDestroy();
}

/** Links carry the domain, so that the archive behind them is of its plan. */
function withDomain({ pieces, end }: HostileAnswer, domain: string): HostileAnswer {
  const link = /(\/files\/[a-z0-9%-]+)(?=["?])/g;
  const named = pieces.map((piece) =>
    typeof piece.bytes === 'string' && piece.times === 1 && piece.bytes.length < 10_000
      ? {
          ...piece,
          bytes: piece.bytes
            .replace(link, `$1/${domain}?signature=${hostileSignature}`)
            .replace(/(signature=\w+)\?/, '$1&'),
        }
      : piece,
  );
  return { pieces: named, end };
}

function domainOf(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && 'domain' in parsed ? String(parsed.domain) : '';
  } catch {
    return '';
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

/** FNV-1a. */
function hash(text: string): number {
  let state = 0x811c9dc5;
  for (const char of text) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return state >>> 0;
}
