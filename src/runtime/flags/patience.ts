// Waiting for work that may not heed our signal, or that others wait for too. Refuses: ending the work itself, which
// goes on; what becomes of it then is for whoever began it.

/**
 * @param signal not aborted yet
 * @param reasonOf what is thrown when it aborts first
 */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  reasonOf: (signal: AbortSignal) => unknown,
): Promise<T> {
  let abort = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(reasonOf(signal));
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
