// Opens pages with playwright-core. Owns how long a page may take, and when it counts as quiet. Refuses windows that a page opens. Each page has a context of its own, so that no page sees what
// another one stored.

import type { Browser, Page } from 'playwright-core';
import { type Clock, hasWaited } from '#platform/runtime/clock.ts';
import { browserEnded, browserNotStarted } from './browser-fault.ts';
import type { BrowserLibrary } from './browser-library.ts';
import type { BrowserProcess } from './browser-process.ts';
import { createPageRecord, type PageRecord } from './page-record.ts';
import { browsedOrigin } from './site-proxy.ts';
import type { VisitPage } from './verification.ts';

const startMs = 30_000;
const loadMs = 20_000;
/** After it was loaded, a page that goes on asking is left. */
const settleMs = 5000;
/** As long as nothing was asked, it is quiet. */
const quietMs = 200;
const closeMs = 10_000;

/**
 * @param folder for what the library writes
 * @throws {PublishableError} `BrowserNotStarted`; a visit: `BrowserEnded`
 */
export async function connectVisitor(
  { chromium }: BrowserLibrary,
  started: BrowserProcess,
  folder: string,
  clock: Clock,
): Promise<VisitPage> {
  let browser: Browser;
  try {
    const options = { timeout: startMs, artifactsDir: folder, isLocal: true };
    browser = await chromium.connectOverCDP(started.transport, options);
  } catch (cause) {
    await started.stop();
    throw browserNotStarted((await started.ended).isRefusedAsRoot, cause);
  }
  return async ({ address }) => {
    try {
      return await visitPage(browser, `${browsedOrigin}${address}`, clock);
    } catch (cause) {
      throw browserEnded(cause);
    }
  };
}

async function visitPage(browser: Browser, url: string, clock: Clock) {
  const record = createPageRecord(browsedOrigin);
  const context = await browser.newContext({
    acceptDownloads: false,
    locale: 'en-US',
    timezoneId: 'UTC',
    viewport: { width: 1280, height: 800 },
  });
  try {
    const page = await context.newPage();
    context.on('page', (opened) => void opened.close().catch(() => {}));
    const traffic = watchPage(page, record, clock);
    const isLate = await page.goto(url, { timeout: loadMs }).then(
      () => false,
      // A page that leads elsewhere at once ends its own load.
      (error: unknown) => error instanceof Error && error.name === 'TimeoutError',
    );
    if (!browser.isConnected()) throw new Error('the connection is closed');
    if (isLate) record.note({ type: 'exception', text: `The page was not loaded after ${loadMs / 1000} s.` });
    else await traffic.quiet();
    return record.findings();
  } finally {
    // A page that does not end holds up no other one.
    const closed = new AbortController();
    const closing = context.close().catch(() => {});
    await Promise.race([closing, hasWaited(clock, closeMs, closed.signal)]);
    closed.abort();
  }
}

function watchPage(page: Page, record: PageRecord, clock: Clock): { quiet(): Promise<void> } {
  let open = 0;
  let changedAt = clock.monotonic();
  const change = (by: number): void => {
    open += by;
    changedAt = clock.monotonic();
  };
  page.on('request', (request) => {
    change(1);
    record.note({ type: 'request', url: request.url() });
  });
  page.on('requestfinished', () => change(-1));
  page.on('requestfailed', (request) => {
    change(-1);
    record.note({ type: 'failure', url: request.url(), reason: request.failure()?.errorText ?? '' });
  });
  page.on('response', (response) =>
    record.note({ type: 'answer', url: response.url(), status: response.status() }),
  );
  page.on('websocket', (socket) => record.note({ type: 'request', url: socket.url() }));
  page.on('pageerror', ({ name, message }) =>
    record.note({ type: 'exception', text: `${name}: ${message}` }),
  );
  page.on('console', (message) => {
    const type = message.type();
    if (type === 'error' || type === 'assert') record.note({ type: 'error', text: message.text() });
  });
  return {
    quiet: async () => {
      const until = clock.monotonic() + settleMs;
      while (clock.monotonic() < until) {
        if (open <= 0 && clock.monotonic() - changedAt >= quietMs) return;
        await clock.after(quietMs / 4);
      }
    },
  };
}
