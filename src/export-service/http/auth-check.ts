// The auth check before every endpoint under /v1: a known key, with permission for this request. Refuses before
// anything else is checked: a client without a key must not learn which addresses exist.

import type { RequestHandler, Response } from 'express';
import { ApiRefusal } from '../api-refusal.ts';
import { type Credential, findCredential, type KeyRing } from '../key-ring.ts';

/** What later handlers find in `response.locals`. */
export interface ApiCaller extends Record<string, unknown> {
  credential: Credential;
}

export type ApiResponse = Response<unknown, ApiCaller>;
export type ApiHandler<P = Record<string, string>> = RequestHandler<P, unknown, unknown, unknown, ApiCaller>;

export function requireKey(ring: () => KeyRing): ApiHandler {
  return (request, response, next) => {
    const credential = findCredential(ring(), request.headers.authorization);
    if (credential === undefined) {
      const isMissing = request.headers.authorization === undefined;
      throw new ApiRefusal(
        401,
        isMissing ? 'an API key is required as bearer credential' : 'unknown API key',
        {
          headers: {
            'WWW-Authenticate': `Bearer realm="export API"${isMissing ? '' : ', error="invalid_token"'}`,
          },
        },
      );
    }
    if (!credential.mayWrite && request.method !== 'GET' && request.method !== 'HEAD') {
      throw new ApiRefusal(403, 'this API key may only read');
    }
    response.locals.credential = credential;
    next();
  };
}
