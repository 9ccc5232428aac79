// The port for the administrators of the program, never for its users: liveness, readiness, metrics and, where a
// program has one, its status. It never returns a secret. All programs share this implementation.

import { setImmediate as othersTurn } from 'node:timers/promises';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Registry } from 'prom-client';
import { printable, printableValue } from '../../wire/printable-text.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { textsOf } from '../metric-text.ts';
import { cutStalledReader, waitForReader } from './stalled-reader.ts';

/** A reader of metrics that reads nothing for this long is cut off. */
const stalledMs = 30_000;

/** `undefined` means ready; a text says what is missing, in words for the person on call. */
export type Readiness = () => string | undefined;

export interface AdminPages {
  readonly readiness: Readiness;
  /** `undefined` means alive. Report only faults that a restart fixes (never the reachability of other services). */
  readonly liveness?: Readiness;
  readonly registry: Registry;
  readonly logger?: Logger;
  /** Of the waits for readers. The system's by default. */
  readonly clock?: Clock;
  /** JSON documents by path, computed per request; every text in them comes out printable. */
  readonly documents?: Readonly<Record<string, () => unknown>>;
}

/** An express app with `/` (what there is), `/livez`, `/readyz`, `/metrics` and the given documents. */
export function adminApp(pages: AdminPages): Express {
  const app = express();
  app.disable('x-powered-by');
  app.get('/livez', (_request, response) => answerProbe(response, pages.liveness?.()));
  app.get('/readyz', (_request, response) => answerProbe(response, pages.readiness()));
  app.get('/metrics', async (request, response) => {
    await sendMetrics(pages.registry, namesAsked(request.originalUrl), response, pages.clock ?? systemClock);
  });
  for (const [path, document] of Object.entries(pages.documents ?? {})) {
    app.get(path, (_request, response) => {
      response.json(printableValue(document()));
    });
  }
  const contents = listPages(Object.keys(pages.documents ?? {}));
  app.get('/', (_request, response) => {
    response.type('text/plain').send(contents);
  });
  app.use((_request, response) => {
    response.status(404).type('text/plain').send(`there is nothing here; ${contents}`);
  });
  // Express's own handler answers with a stack trace and prints plain text between the lines of JSON.
  app.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
    pages.logger?.error({ error }, 'an admin page failed');
    if (response.headersSent) next(error);
    else response.status(500).type('text/plain').send('internal error\n');
  });
  return app;
}

/** For an administrator who knows only the port's number. */
function listPages(documents: readonly string[]): string {
  const pages = [
    ['/livez', 'whether the process is alive; 503 when only a restart would help'],
    ['/readyz', 'whether it is ready; 503 with what is missing'],
    ['/metrics', 'for Prometheus'],
    ...documents.map((path) => [path, 'JSON']),
  ];
  return `this port answers:\n${pages.map(([path = '', words]) => `  ${path.padEnd(10)} ${words}\n`).join('')}`;
}

/**
 * Sends one metric after the other, each when the previous one is being sent. The gauges of thousands of resources make
 * megabytes of text, which must neither be in memory at once nor delay other work while they are made. A reader that
 * stops reading is cut off.
 *
 * @param names none: all of them
 */
async function sendMetrics(
  registry: Registry,
  names: ReadonlySet<string>,
  response: Response,
  clock: Clock,
): Promise<void> {
  response.type(registry.contentType);
  // One may be filled while another of its family is collected, as prom-client does with the heap's sizes.
  const families = new Set([...names].map(familyOf));
  for (const metric of registry.getMetricsAsArray()) {
    const { name } = metric;
    if (families.size > 0 && !families.has(familyOf(name))) continue;
    for await (const text of textsOf(registry, metric)) {
      if (response.destroyed) return;
      if (names.size > 0 && !names.has(name)) continue;
      if (!response.write(text)) await waitForReader(response, stalledMs, clock);
      await othersTurn();
    }
    if (names.size === 0 || names.has(name)) response.write('\n');
  }
  response.end();
  cutStalledReader(response, stalledMs, clock);
}

const familyOf = (name: string): string => name.slice(0, name.indexOf('_'));

/** `?name[]=…`, as exporters of other languages have it: selects one metric among thousands of lines. */
function namesAsked(url: string): ReadonlySet<string> {
  return new Set(new URL(url, 'http://admin.invalid').searchParams.getAll('name[]'));
}

function answerProbe(response: Response, missing: string | undefined): void {
  response.set('Cache-Control', 'no-store').type('text/plain');
  response
    .status(missing === undefined ? 200 : 503)
    .send(`${missing === undefined ? 'ok' : printable(missing)}\n`);
}
