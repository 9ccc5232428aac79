// Hooks of two clients at a real receiver: one has the secret and posts once a second, the other has not and sends whatever it
// may, without a pause. Judges that the first is heard, and the memory of the receiver.

import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChartedCluster } from '../../integration/operator/charted-cluster.ts';
import { receiverKubeconfig, startReceiver } from '../../integration/operator/webhook/receiver-process.ts';
import { hmacHex } from '../../unit/operator/webhook/signing.ts';
import { type Dice, diceOf } from '../mutation.ts';
import { between, fill, makeOddText, pick, Tally } from './choice.ts';

export const hookSecret = 'whsec-of-the-served-tenant-4Rk2';
/** The chart's limit of the receiver's memory. */
const limitBytes = 192 * 1024 * 1024;
const hostileAddress = '127.0.0.8';
const honestAddress = '127.0.0.9';
/** Of the honest client's hooks. */
const leastAccepted = 0.95;

export interface HookFigures {
  readonly sent: number;
  readonly accepted: number;
  /** Of the hostile client, by kind. */
  readonly attacks: Tally;
  readonly mostResidentBytes: number;
  readonly broken: readonly string[];
}

export interface HookAttack {
  figures(): HookFigures;
  stop(): Promise<void>;
}

/** @param path of the hook of the client with the secret */
export async function startHooks(cluster: ChartedCluster, seed: number, path: string): Promise<HookAttack> {
  const receiver = await startReceiver(await receiverKubeconfig(cluster), ['--client-rate=120']);
  const { port } = new URL(receiver.url);
  const attacks = new Tally();
  const stopped = new AbortController();
  const { signal } = stopped;
  let [sent, accepted, mostResidentBytes] = [0, 0, 0];
  const honest = async (): Promise<void> => {
    for (let at = 0; !signal.aborted; at += 1) {
      const body = JSON.stringify({ ref: 'refs/heads/main', at });
      const signed = { 'x-hub-signature-256': `sha256=${hmacHex(hookSecret, Buffer.from(body))}` };
      sent += 1;
      if ((await post(Number(port), path, signed, body)) === 202) accepted += 1;
      await sleep(1_000);
    }
  };
  const hostile = async (): Promise<void> => {
    const dice = diceOf(seed);
    while (!signal.aborted) {
      const [kind, bytes, isLeftOpen] = attackOf(dice, path);
      attacks.add(kind);
      const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: hostileAddress });
      socket.on('error', () => {});
      socket.write(bytes);
      const close = (): void => void socket.destroy();
      signal.addEventListener('abort', close);
      void sleep(isLeftOpen ? 20_000 : 500, undefined, { signal, ref: false }).then(close, close);
      await sleep(10);
    }
  };
  const look = async (): Promise<void> => {
    while (!signal.aborted) {
      const status = await readFile(`/proc/${receiver.child.pid}/status`, 'utf8').catch(() => '');
      mostResidentBytes = Math.max(
        mostResidentBytes,
        Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024,
      );
      await sleep(200);
    }
  };
  const running = Promise.all([honest(), hostile(), look()]);
  return {
    figures: () => {
      const isHeard = accepted >= Math.floor(sent * leastAccepted) - 1;
      return {
        ...{ sent, accepted, attacks, mostResidentBytes },
        broken: [
          ...(isHeard ? [] : [`of ${sent} hooks with the secret, ${accepted} were accepted`]),
          ...(mostResidentBytes <= limitBytes ? [] : [`the receiver came to ${mostResidentBytes} bytes`]),
          ...(receiver.child.hasExited() ? [`the receiver ended: ${receiver.child.tail().slice(-600)}`] : []),
        ],
      };
    },
    stop: async () => {
      stopped.abort();
      await running.catch(() => {});
      await receiver.child.stop();
    },
  };
}

function attackOf(dice: Dice, path: string): readonly [kind: string, bytes: string, isLeftOpen: boolean] {
  const headers = (lines: readonly string[]): string =>
    `POST ${path} HTTP/1.1\r\nhost: h\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
  const body = makeOddText(dice, 1_000);
  const length = `content-length: ${Buffer.byteLength(body)}`;
  const attacks: readonly (() => readonly [string, string, boolean])[] = [
    () => [
      'a wrong signature',
      headers([length, `x-hub-signature-256: sha256=${fill('a', 64)}`]) + body,
      false,
    ],
    () => [
      'another scheme',
      headers([length, `x-gitlab-token: ${makeOddText(dice, 100).replace(/[^ -~]/g, '')}`]) + body,
      false,
    ],
    () => [
      'an unknown path',
      headers([length]).replace(path, `/${fill('p', between(dice, 1, 4_000))}`) + body,
      false,
    ],
    () => ['another hook', headers([length]).replace(path, `/hooks/hostile/h${dice(1e6)}`) + body, false],
    () => [
      'a body that does not end',
      headers(['content-length: 200000', `x-hub-signature-256: sha256=${fill('a', 64)}`]),
      true,
    ],
    () => ['headers that do not end', `POST ${path} HTTP/1.1\r\nhost: h\r\nx-a: `, true],
    () => [
      'a name of the client',
      headers([length, `x-forwarded-for: ${fill('1', between(dice, 1, 8_000))}`]) + body,
      false,
    ],
    () => ['a large body', headers(['content-length: 99999999']) + fill('x', 300_000), false],
    () => ['no HTTP', makeOddText(dice, 5_000), false],
  ];
  return pick(dice, attacks)();
}

/** @returns the status; 0 where there was no answer */
function post(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<number> {
  return new Promise((resolve) => {
    const sending = request(
      {
        port,
        path,
        headers,
        method: 'POST',
        host: '127.0.0.1',
        localAddress: honestAddress,
        agent: false,
        timeout: 30_000,
      },
      (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode ?? 0));
      },
    );
    sending.once('error', () => resolve(0)).once('timeout', () => sending.destroy());
    sending.end(body);
  });
}
