// Waits for work that may ignore the caller's signal, or that other callers also wait for. Refuses to end the work
// itself: it goes on, and the code that started it owns its result.

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
