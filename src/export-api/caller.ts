// One call of the export API: an exchange, and one parser for its answer. Owns what the clients of both forms and of the
// listing share. Refuses: retrying. Invariant: rejects with ExportApiError only.

import { isSuccess, type WholeAnswer } from '#platform/http/exchange.ts';
import { ExportApiError } from './answers.ts';
import { type ApiRequest, createExchange, type ExchangeOptions } from './exchange.ts';
import { isIdentifier } from './job-answers.ts';
import { apiErrorOf, type CallWords, unexpectedApiAnswer } from './refusals.ts';

/**
 * @returns a function that sends a request, and reads a 2xx with `read`; where that returns `undefined`, the answer lacks
 *   `wanted`
 */
export function createCaller(options: ExchangeOptions) {
  const { clock, key } = options;
  const exchange = createExchange(options);
  return async <T>(
    request: ApiRequest,
    wanted: string,
    read: (answer: WholeAnswer) => T | undefined | Promise<T | undefined>,
    signal: AbortSignal,
    words: CallWords = {},
  ): Promise<T> => {
    const answer = await exchange(request, signal);
    if (!isSuccess(answer)) throw apiErrorOf(answer, clock.now(), key, words);
    const result = await read(answer);
    if (result === undefined) throw unexpectedApiAnswer(answer, wanted, key);
    return result;
  };
}

/** @throws {ExportApiError} */
export function checkedId(id: string, what: string): string {
  if (isIdentifier(id)) return id;
  throw new ExportApiError('BadRequest', `the ${what} cannot be part of an address; nothing was sent`);
}
