// A real Chromium, driven over its own protocol: pages that are opened, clicked with the mouse, and looked at. Owns
// the record of what went wrong in a page: words of error in its console, exceptions, requests that failed.
// Refuses: pretending. A click is a click at a place on the screen, on something that is visible.

import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  /** @param hasCache false: whatever the page needs again is asked for again */
  openPage(options?: { readonly hasCache?: boolean }): Promise<Page>;
  close(): Promise<void>;
}

export interface Page {
  /** Everything that went wrong so far, in words. */
  readonly troubles: readonly string[];
  /** Every answer so far: status and address. */
  readonly answers: readonly string[];
  goTo(url: string): Promise<void>;
  reload(): Promise<void>;
  /** Clicks in the middle of the first element that matches. @throws Error when there is none to be seen */
  click(selector: string): Promise<void>;
  /** The value of an expression in the page, which must be JSON. */
  evaluate(expression: string): Promise<unknown>;
  /** A picture of it, as PNG. */
  saveScreenshot(file: string): Promise<void>;
}

export async function startBrowser(): Promise<Browser> {
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
      openPage: ({ hasCache = true } = {}) => openPage(devtools, hasCache),
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
  exceptionDetails: z.object({ text: z.string() }).optional(),
});
const place = z.object({ x: z.number(), y: z.number() });
const picture = z.object({ data: z.string() });

async function openPage(devtools: Devtools, hasCache: boolean): Promise<Page> {
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
  let loads = 0;
  devtools.listen(sessionId, (event) => {
    if (event.method === 'Page.loadEventFired') loads += 1;
    const answer = answerOf(event);
    if (answer !== undefined) answers.push(answer);
    const trouble = troubleOf(event);
    if (trouble !== undefined) troubles.push(trouble);
  });
  for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await call(`${domain}.enable`);
  await call('Network.setCacheDisabled', { cacheDisabled: !hasCache });

  const evaluate = async (expression: string): Promise<unknown> => {
    const options = { expression, returnByValue: true, awaitPromise: true };
    const { result, exceptionDetails } = evaluated.parse(await call('Runtime.evaluate', options));
    if (exceptionDetails !== undefined) throw new Error(`in the page: ${exceptionDetails.text}`);
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
  };
}

/** Runs in the page. */
const middleOf = `(selector) => {
  const element = document.querySelector(selector);
  element?.scrollIntoView({ block: 'nearest' });
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
