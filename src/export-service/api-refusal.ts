// An error answer of the service: a status, one sentence, and details where there are several errors. Code below a
// route throws it; only http/answers.ts turns it into `{error, details?}`.

import { PublishableError } from '#platform/wire/publishable-error.ts';

export class ApiRefusal extends PublishableError {
  readonly status: number;
  readonly details: readonly string[];
  readonly headers: Readonly<Record<string, string>>;

  /** @param message goes out as `error`; fixed text that never repeats the request */
  constructor(
    status: number,
    message: string,
    more: {
      readonly details?: readonly string[];
      readonly headers?: Readonly<Record<string, string>>;
      readonly cause?: unknown;
    } = {},
  ) {
    super(`Status${status}`, message, { cause: more.cause });
    this.status = status;
    this.details = more.details ?? [];
    this.headers = more.headers ?? {};
  }
}
