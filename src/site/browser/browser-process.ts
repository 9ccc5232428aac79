// The browser that a user named, as a process: started without a window, spoken to over a pipe. Owns the process, its group and its
// flags. Refuses a network: each request goes to the one proxy of its caller. Invariant: when `stop` resolves, no process of the
// group runs; and the browser ends by itself when this program does, because the pipe is then closed.

import { type ChildProcess, spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { othersTurn } from '#platform/runtime/clock.ts';
import { isRecord, readJson } from '#platform/wire/json-text.ts';
import { browserNotStarted } from './browser-fault.ts';
import { createMessageReader } from './message-reader.ts';

/** As playwright-core takes it. */
export interface BrowserTransport {
  send(message: object): void;
  close(): void;
  onmessage?: (message: object) => void;
  onclose?: (reason?: string) => void;
}

export interface BrowserProcess {
  readonly pid: number;
  readonly transport: BrowserTransport;
  /** Resolves when it has ended, with why it may not have started. */
  readonly ended: Promise<{ readonly isRefusedAsRoot: boolean }>;
  stop(): Promise<void>;
}

const flags = [
  ...['--headless=new', '--remote-debugging-pipe', '--no-startup-window', '--no-first-run'],
  ...['--disable-gpu', '--disable-dev-shm-usage', '--disable-breakpad', '--disable-extensions'],
  // It has no business of its own.
  ...['--disable-background-networking', '--disable-component-update', '--disable-default-apps'],
  ...['--disable-sync', '--disable-field-trial-config', '--metrics-recording-only', '--mute-audio'],
  '--disable-features=OptimizationHints,PreconnectToSearch,NetworkTimeServiceQuerying,HttpsUpgrades,Translate',
  // A page in the background would get its turns seldom.
  ...['--disable-background-timer-throttling', '--disable-renderer-backgrounding'],
  ...['--disable-backgrounding-occluded-windows', '--disable-popup-blocking', '--password-store=basic'],
  // Peers of a call are not reached through a proxy.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--js-flags=--max-old-space-size=512',
];
const stderrKept = 4096;

/**
 * @param executable a Chromium
 * @param profile folder of its own; the caller removes it
 * @param proxyPort on loopback, for all requests
 * @throws {PublishableError} `BrowserNotStarted`
 */
export async function startBrowserProcess(
  executable: string,
  profile: string,
  proxyPort: number,
): Promise<BrowserProcess> {
  const proxy = [`--proxy-server=127.0.0.1:${proxyPort}`, '--proxy-bypass-list=<-loopback>'];
  const child = spawn(executable, [...flags, ...proxy, `--user-data-dir=${profile}`], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    // A group of its own, so that its helpers end with it.
    detached: true,
  });
  const end = endOf(child);
  const [, , , writing, reading] = child.stdio;
  const { pid } = child;
  if (pid === undefined || !(writing instanceof Writable) || !(reading instanceof Readable)) {
    const { cause } = await end;
    throw browserNotStarted(false, cause);
  }
  return {
    pid,
    transport: createTransport(writing, reading),
    ended: end,
    stop: async () => {
      endBrowser(pid);
      await end;
    },
  };
}

/** Ends the browser with all its helpers. @param pid of a browser that is this program's */
export function endBrowser(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function endOf(
  child: ChildProcess,
): Promise<{ readonly isRefusedAsRoot: boolean; readonly cause?: unknown }> {
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = `${stderr}${chunk}`.slice(0, stderrKept);
  });
  return new Promise((resolve) => {
    child.once('error', (cause) => resolve({ isRefusedAsRoot: false, cause }));
    child.once('close', () => resolve({ isRefusedAsRoot: /without --no-sandbox/i.test(stderr) }));
  });
}

function createTransport(writing: Writable, reading: Readable): BrowserTransport {
  const transport: BrowserTransport = {
    send: (message) => void writing.write(`${JSON.stringify(message)}\0`),
    close: () => void writing.end(),
  };
  // The reader below sees the end.
  writing.on('error', () => {});
  const deliver = async (): Promise<void> => {
    const messages = createMessageReader();
    for await (const chunk of reading) {
      for (const text of messages.read(chunk)) {
        // What waits for a message must run before the next one comes.
        await othersTurn();
        const message = readJson(text);
        if (isRecord(message)) transport.onmessage?.(message);
      }
    }
  };
  deliver().then(
    () => transport.onclose?.(),
    () => transport.onclose?.(),
  );
  return transport;
}
