// The port for whoever runs the program, never for its users: liveness, readiness, metrics and, where a
// program has one, its status. Nothing secret is ever answered here. One implementation for all programs.

import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Registry } from 'prom-client';
import type { Logger } from './logger.ts';

/** `undefined` means ready; a text says what is missing, in words for the person on call. */
export type Readiness = () => string | undefined;

export interface AdminFacts {
  readonly readiness: Readiness;
  /** `undefined` means alive. Only what a restart would heal belongs here (never the reachability of others). */
  readonly liveness?: Readiness;
  readonly registry: Registry;
  readonly logger?: Logger;
  /** JSON documents by path, computed per request. */
  readonly documents?: Readonly<Record<string, () => unknown>>;
}

/** An express app with `/livez`, `/readyz`, `/metrics` and the given documents. */
export function adminApp(facts: AdminFacts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.get('/livez', (_request, response) => answerProbe(response, facts.liveness?.()));
  app.get('/readyz', (_request, response) => answerProbe(response, facts.readiness()));
  app.get('/metrics', async (_request, response) => {
    response.type(facts.registry.contentType).send(await facts.registry.metrics());
  });
  for (const [path, document] of Object.entries(facts.documents ?? {})) {
    app.get(path, (_request, response) => {
      response.json(document());
    });
  }
  // Express's own handler answers with a stack trace and prints plain text between the lines of JSON.
  app.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
    facts.logger?.error({ error }, 'an admin page failed');
    if (response.headersSent) next(error);
    else response.status(500).type('text/plain').send('internal error\n');
  });
  return app;
}

function answerProbe(response: Response, missing: string | undefined): void {
  response.set('Cache-Control', 'no-store').type('text/plain');
  response.status(missing === undefined ? 200 : 503).send(`${missing ?? 'ok'}\n`);
}
