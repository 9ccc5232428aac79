// The port for the administrators of the program, never for its users: liveness, readiness, metrics and, where a
// program has one, its status. It never returns a secret. All programs share this implementation. It compares paths
// itself: Express with its parsers of bodies is a third of the program text that the operator keeps in memory.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { printable, printableValue } from '#platform/wire/printable-text.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { textsOf } from '../metric-text.ts';
import { cutStalledReader, waitForReader } from './stalled-reader.ts';

/** A reader of metrics that reads nothing for this long is cut off. */
const stalledMs = 30_000;
/** Work on metrics between two turns of others. With a turn after each metric, a scrape of a busy operator took 10 s. */
const sliceMs = 5;

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

type Page = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** Answers `/` (what there is), `/livez`, `/readyz`, `/metrics` and the given documents. */
export function adminApp(pages: AdminPages): RequestListener {
  const documents = Object.entries(pages.documents ?? {});
  const contents = listPages(documents.map(([path]) => path));
  const byPath = new Map<string, Page>([
    ...documents.map(([path, document]): [string, Page] => [
      path,
      (_request, response) => {
        const body = JSON.stringify(printableValue(document()));
        response.setHeader('Content-Type', 'application/json; charset=utf-8').end(body);
      },
    ]),
    ['/', (_request, response) => sendText(response, 200, contents)],
    ['/livez', (_request, response) => answerProbe(response, pages.liveness?.())],
    ['/readyz', (_request, response) => answerProbe(response, pages.readiness())],
    [
      '/metrics',
      (request, response) =>
        sendMetrics(pages.registry, namesAsked(request), response, pages.clock ?? systemClock),
    ],
  ]);
  return (request, response) => {
    answer(byPath.get(pathOf(request)), contents, request, response).catch((error: unknown) => {
      pages.logger?.error({ error }, 'an admin page failed');
      if (response.headersSent) response.destroy();
      else sendText(response, 500, 'internal error\n');
    });
  };
}

/** Asynchronous, so that a page that throws and one that rejects fail in the same way. */
async function answer(
  page: Page | undefined,
  contents: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (page === undefined) sendText(response, 404, `there is nothing here; ${contents}`);
  else await page(request, response);
}

/** Empty for what no page answers. A slash at the end and capitals make no difference. */
function pathOf({ method, url = '' }: IncomingMessage): string {
  if (method !== 'GET' && method !== 'HEAD') return '';
  const [path = ''] = url.toLowerCase().split('?', 1);
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'text/plain; charset=utf-8').end(text);
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
  response: ServerResponse,
  clock: Clock,
): Promise<void> {
  response.setHeader('Content-Type', registry.contentType);
  let begunAt = clock.monotonic();
  // One may be filled while another of its family is collected, as prom-client does with the heap's sizes.
  const families = new Set([...names].map(familyOf));
  for (const metric of registry.getMetricsAsArray()) {
    const { name } = metric;
    if (families.size > 0 && !families.has(familyOf(name))) continue;
    for await (const text of textsOf(registry, metric)) {
      if (response.destroyed) return;
      const isAsked = names.size === 0 || names.has(name);
      if (isAsked && !response.write(text)) await waitForReader(response, stalledMs, clock);
      if (clock.monotonic() - begunAt < sliceMs) continue;
      await othersTurn();
      begunAt = clock.monotonic();
    }
    if (names.size === 0 || names.has(name)) response.write('\n');
  }
  response.end();
  cutStalledReader(response, stalledMs, clock);
}

const familyOf = (name: string): string => name.slice(0, name.indexOf('_'));

/** `?name[]=…`, as exporters of other languages have it: selects one metric among thousands of lines. */
function namesAsked({ url = '' }: IncomingMessage): ReadonlySet<string> {
  return new Set(new URL(url, 'http://admin.invalid').searchParams.getAll('name[]'));
}

function answerProbe(response: ServerResponse, missing: string | undefined): void {
  response.setHeader('Cache-Control', 'no-store');
  const isHealthy = missing === undefined;
  sendText(response, isHealthy ? 200 : 503, `${isHealthy ? 'ok' : printable(missing)}\n`);
}
