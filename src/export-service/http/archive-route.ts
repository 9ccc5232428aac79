// Serves downloads as an object store does: GET of a signed link with single ranges and a strong ETag; all else is a
// 403 with an XML error. Every path outside /v1 ends here, so that a link changed in any part is refused.

import type { RequestHandler, Response } from 'express';
import { archiveFile } from '../job-runner.ts';
import { judgeLink } from '../links.ts';
import type { JobRoutesOptions } from './job-routes.ts';

export type ArchiveRouteOptions = Pick<JobRoutesOptions, 'store' | 'directory' | 'linkSecret' | 'clock'>;

export function archiveRoute({ store, directory, linkSecret, clock }: ArchiveRouteOptions): RequestHandler {
  return (request, response, next) => {
    response.set('Cache-Control', 'private, no-store');
    const verdict = judgeLink(linkSecret, request.method, request.url, clock.now());
    if (verdict.kind === 'refused') return refuse(response, 403, 'AccessDenied', 'Access Denied');
    if (verdict.kind === 'expired') return refuse(response, 403, 'AccessDenied', 'Request has expired');
    const sha256 = store.find(verdict.jobId)?.archiveSha256 ?? null;
    if (sha256 === null) return refuse(response, 404, 'NoSuchKey', 'The archive is no longer kept');
    const etag = `"${sha256}"`;
    const condition = request.headers['if-range'];
    // RFC 9110 §13.1.5: a weak or different validator, or a date (none is sent), means the whole archive.
    if (condition !== undefined && condition !== etag) delete request.headers.range;
    response.set({ ETag: etag, 'Content-Type': 'application/gzip', 'X-Content-Type-Options': 'nosniff' });
    response.sendFile(
      archiveFile('', verdict.jobId),
      { root: directory, etag: false, lastModified: false, cacheControl: false },
      (error: unknown) => {
        // A client that breaks off is not an error; every other failure is answered, or cuts the connection.
        if (error === undefined || response.destroyed || response.socket?.destroyed !== false) return;
        if (!response.headersSent) response.removeHeader('ETag');
        next(error);
      },
    );
  };
}

function refuse(response: Response, status: number, code: string, message: string): void {
  response
    .status(status)
    .type('application/xml')
    .send(
      `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>\n`,
    );
}
