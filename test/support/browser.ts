// A real Chromium, driven over its own protocol: pages that are opened, clicked with the mouse, and looked at. Owns
// the record of what went wrong in a page: words of error in its console, exceptions, requests that failed.
// Refuses: pretending. A click is a click at a place on the screen, on something that is visible.

import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { startProgram } from './child-program.ts';
import { connectDevtools, type Devtools, type DevtoolsEvent } from './devtools.ts';
import { eventually } from './eventually.ts';
import { maySkip } from './may-skip.ts';

const chromium = '/usr/bin/chromium';
/** Why tests with a browser are skipped here; `false` when they are not. */
export const noBrowser = maySkip(
  'chromium',
  !existsSync(chromium) && 'chromium is not installed (test/integration/install-packages.sh)',
);

export interface Browser {
  openPage(options?: PageOptions): Promise<Page>;
  close(): Promise<void>;
}

export interface PageOptions {
  /** `false`: whatever the page needs again is asked for again. */
  readonly hasCache?: boolean;
  /** Of the window, in pixels: less than 800 is a telephone's. */
  readonly width?: number;
  /** How many times slower the page's processor is. */
  readonly slowdown?: number;
}

export interface Page {
  /** Everything that went wrong so far, in words. */
  readonly troubles: readonly string[];
  /** Every answer so far: status and address. */
  readonly answers: readonly string[];
  /** Addresses of all requests so far, answered or not. */
  readonly requests: readonly string[];
  goTo(url: string): Promise<void>;
  reload(): Promise<void>;
  /** Waits until no request is under way and none has begun for a moment. A page that never ends asking is not waited for. */
  untilQuiet(): Promise<void>;
  /** Clicks in the middle of the first element that matches. @throws Error when there is none to be seen */
  click(selector: string): Promise<void>;
  /** Writes into what has the focus, as an input method does, and lets go of the last key. */
  write(text: string): Promise<void>;
  /** Presses one key, such as `Enter` or `/`, with what is held in front of it: `Control+k`. */
  press(keys: string): Promise<void>;
  /** The value of an expression in the page, which must be JSON. */
  evaluate(expression: string): Promise<unknown>;
  /** A picture of it, as PNG. */
  saveScreenshot(file: string): Promise<void>;
  /** Ends its process, which a slowdown occupies as long as it lives. */
  close(): Promise<void>;
}

/** @param options.flags further flags of Chromium, such as a proxy */
export async function startBrowser({
  flags = [],
}: {
  readonly flags?: readonly string[];
} = {}): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'browser-'));
  const { promise: address, resolve } = Promise.withResolvers<string>();
  const program = startProgram(chromium, {
    args: [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--no-first-run',
      '--disable-background-networking',
      // A page behind another is shown to nobody, and would get its turns seldom.
      '--disable-background-timer-throttling',
      '--disable-backgrounding-occluded-windows',
      '--disable-renderer-backgrounding',
      '--window-size=1280,800',
      `--user-data-dir=${profile}`,
      '--remote-debugging-port=0',
      ...flags,
      'about:blank',
    ],
    onLine: (line) => {
      const found = /^DevTools listening on (ws:\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    },
  });
  const close = async (): Promise<void> => {
    await program.stop('SIGTERM', 5000);
    await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  };
  try {
    const url = await Promise.race([
      address,
      program.exited.then((code) => {
        throw new Error(`chromium ended with ${code}: ${program.tail()}`);
      }),
    ]);
    const devtools = await connectDevtools(url);
    return {
      openPage: (options = {}) => openPage(devtools, options),
      close: async () => {
        devtools.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const createdTarget = z.object({ targetId: z.string() });
const attachedTarget = z.object({ sessionId: z.string() });
const evaluated = z.object({
  result: z.object({ value: z.unknown().optional() }),
  exceptionDetails: z
    .object({ text: z.string(), exception: z.object({ description: z.string().optional() }).optional() })
    .optional(),
});
const place = z.object({ x: z.number(), y: z.number() });
const picture = z.object({ data: z.string() });

async function openPage(
  devtools: Devtools,
  { hasCache = true, width, slowdown = 1 }: PageOptions,
): Promise<Page> {
  const { targetId } = createdTarget.parse(
    await devtools.call('Target.createTarget', { url: 'about:blank', newWindow: true }),
  );
  const { sessionId } = attachedTarget.parse(
    await devtools.call('Target.attachToTarget', { targetId, flatten: true }),
  );
  const call = (method: string, parameters: object = {}): Promise<unknown> =>
    devtools.call(method, parameters, sessionId);
  const troubles: string[] = [];
  const answers: string[] = [];
  const requests: string[] = [];
  const underWay = new Set<string>();
  let lastChange = performance.now();
  let loads = 0;
  devtools.listen(sessionId, (event) => {
    if (event.method === 'Page.loadEventFired') loads += 1;
    const request = requestOf(event);
    if (request?.url !== undefined) requests.push(request.url);
    if (request !== undefined) {
      lastChange = performance.now();
      if (request.isUnderWay) underWay.add(request.id);
      else underWay.delete(request.id);
    }
    const answer = answerOf(event);
    if (answer !== undefined) answers.push(answer);
    const trouble = troubleOf(event);
    if (trouble !== undefined) troubles.push(trouble);
  });
  for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await call(`${domain}.enable`);
  await call('Network.setCacheDisabled', { cacheDisabled: !hasCache });
  const metrics = { width, height: 800, deviceScaleFactor: 1, mobile: false };
  if (width !== undefined) await call('Emulation.setDeviceMetricsOverride', metrics);
  if (slowdown > 1) await call('Emulation.setCPUThrottlingRate', { rate: slowdown });

  const evaluate = async (expression: string): Promise<unknown> => {
    const options = { expression, returnByValue: true, awaitPromise: true };
    const { result, exceptionDetails } = evaluated.parse(await call('Runtime.evaluate', options));
    if (exceptionDetails !== undefined) {
      const { text, exception } = exceptionDetails;
      throw new Error(`in the page: ${exception?.description ?? text}`);
    }
    return result.value;
  };
  const loadsAfter = async (start: () => Promise<unknown>): Promise<void> => {
    const before = loads;
    await start();
    await eventually('the page is loaded', () => (loads > before ? true : undefined), {
      timeoutMs: 60_000,
      everyMs: 20,
    });
  };
  return {
    troubles,
    answers,
    requests,
    untilQuiet: async () => {
      const end = performance.now() + longestQuietMs;
      const isQuiet = (): boolean =>
        performance.now() - lastChange > (underWay.size === 0 ? quietMs : stalledMs);
      while (!isQuiet() && performance.now() < end) await sleep(20);
      // Those of a page that was left are not reported as ended.
      underWay.clear();
    },
    write: async (text) => {
      await call('Input.insertText', { text });
      // Some pages read what was typed only when a key goes up.
      await call('Input.dispatchKeyEvent', { type: 'keyUp', key: text.slice(-1) });
    },
    press: async (keys) => {
      const event = keyEvent(keys);
      await call('Input.dispatchKeyEvent', {
        type: event.text === undefined ? 'rawKeyDown' : 'keyDown',
        ...event,
      });
      await call('Input.dispatchKeyEvent', { type: 'keyUp', ...event, text: undefined });
    },
    goTo: (url) => loadsAfter(() => call('Page.navigate', { url })),
    reload: () => loadsAfter(() => call('Page.reload')),
    click: async (selector) => {
      const at = place.parse(await evaluate(`(${middleOf})(${JSON.stringify(selector)})`));
      for (const type of ['mouseMoved', 'mousePressed', 'mouseReleased']) {
        const button = type === 'mouseMoved' ? {} : { button: 'left', clickCount: 1 };
        await call('Input.dispatchMouseEvent', { type, ...at, ...button });
      }
    },
    evaluate,
    saveScreenshot: async (file) => {
      const { data } = picture.parse(await call('Page.captureScreenshot'));
      await writeFile(file, Buffer.from(data, 'base64'));
    },
    close: async () => void (await devtools.call('Target.closeTarget', { targetId })),
  };
}

/** The number of each key that the browser itself does something with. */
const keyNumbers: Readonly<Record<string, number>> = {
  ...{ Backspace: 8, Tab: 9, Enter: 13, Escape: 27, End: 35, Home: 36 },
  ...{ ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 },
};
const heldKeys: Readonly<Record<string, number>> = { Alt: 1, Control: 2, Meta: 4, Shift: 8 };

interface KeyEvent {
  readonly key: string;
  readonly code: string;
  readonly windowsVirtualKeyCode: number;
  readonly modifiers: number;
  /** What it writes into a text. */
  readonly text?: string;
}

function keyEvent(keys: string): KeyEvent {
  const names = keys.split('+');
  const key = names.at(-1) ?? '';
  const modifiers = names.slice(0, -1).reduce((sum, name) => sum + (heldKeys[name] ?? 0), 0);
  const windowsVirtualKeyCode = keyNumbers[key] ?? key.toUpperCase().charCodeAt(0);
  const code = /^[a-z]$/i.test(key) ? `Key${key.toUpperCase()}` : key;
  const text = key === 'Enter' ? '\r' : key.length === 1 && modifiers === 0 ? key : undefined;
  return { key, code, windowsVirtualKeyCode, modifiers, ...(text === undefined ? {} : { text }) };
}

const quietMs = 250;
/** After this without an event, what is under way is not waited for: the script of a worker never seems to end. */
const stalledMs = 800;
const longestQuietMs = 10_000;

const sent = z.object({ requestId: z.string(), request: z.object({ url: z.string() }) });
const ended = z.object({ requestId: z.string() });

interface RequestChange {
  readonly id: string;
  /** Of one that begins. */
  readonly url?: string;
  readonly isUnderWay: boolean;
}

function requestOf({ method, params }: DevtoolsEvent): RequestChange | undefined {
  if (method === 'Network.requestWillBeSent') {
    const { requestId, request } = sent.parse(params);
    return { id: requestId, url: request.url, isUnderWay: true };
  }
  if (method !== 'Network.loadingFinished' && method !== 'Network.loadingFailed') return undefined;
  return { id: ended.parse(params).requestId, isUnderWay: false };
}

/** Runs in the page. */
const middleOf = `(selector) => {
  const element = document.querySelector(selector);
  element?.scrollIntoView({ block: 'nearest', behavior: 'instant' });
  const box = element?.getBoundingClientRect();
  if (box === undefined || box.width === 0) throw new Error('not to be seen: ' + selector);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}`;

const response = z.object({ response: z.object({ status: z.number(), url: z.string() }) });

function answerOf({ method, params }: DevtoolsEvent): string | undefined {
  if (method !== 'Network.responseReceived') return undefined;
  const { status, url } = response.parse(params).response;
  return `${status} ${url}`;
}

const failure = z.object({ errorText: z.string(), canceled: z.boolean().optional() });
const logged = z.object({ entry: z.object({ level: z.string(), text: z.string() }) });
const said = z.object({
  type: z.string(),
  args: z.array(z.object({ value: z.unknown().optional(), description: z.string().optional() })),
});
const thrown = z.object({
  exceptionDetails: z.object({
    text: z.string(),
    exception: z.object({ description: z.string().optional() }).optional(),
  }),
});

/** What of an event is trouble; a request that the page itself gave up is none. */
function troubleOf({ method, params }: DevtoolsEvent): string | undefined {
  switch (method) {
    case 'Network.responseReceived': {
      const { status, url } = response.parse(params).response;
      return status >= 400 ? `answered ${status}: ${url}` : undefined;
    }
    case 'Network.loadingFailed': {
      const { errorText, canceled } = failure.parse(params);
      return canceled === true || errorText === 'net::ERR_ABORTED' ? undefined : `failed: ${errorText}`;
    }
    case 'Log.entryAdded': {
      const { level, text } = logged.parse(params).entry;
      return level === 'error' ? `logged: ${text}` : undefined;
    }
    case 'Runtime.consoleAPICalled': {
      const { type, args } = said.parse(params);
      const words = args.map(({ value, description }) => description ?? String(value)).join(' ');
      return type === 'error' || type === 'assert' ? `console: ${words}` : undefined;
    }
    case 'Runtime.exceptionThrown': {
      const { text, exception } = thrown.parse(params).exceptionDetails;
      return `thrown: ${exception?.description ?? text}`;
    }
    default:
      return undefined;
  }
}
