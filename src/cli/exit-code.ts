// How a command ended, and the exit code that says so to a pipeline. Codes are API: scripts branch on them, so a code
// never changes its meaning. README.md explains each, and a test compares the two.

export const exitCodes = {
  /** Done, or nothing to do. */
  done: 0,
  /** The answer is no: archives differ, an archive is not whole, a check failed. */
  no: 1,
  /** Wrong usage, or a confirmation is missing. */
  usage: 2,
  /** The export API refused the key, or there is none. */
  key: 3,
  /** The export job failed, or no longer exists. */
  exportFailed: 4,
  /** A later run may succeed. */
  temporary: 5,
  /** The archive is not a bundle that can be published, or the kit is refused. */
  archiveRejected: 6,
  /** A promotion gate, `spec.suspend` or `spec.pin` holds the export. */
  held: 7,
  /** The Kubernetes API server refused the call, or the object does not exist, such as a candidate or a version. */
  cluster: 8,
  /** The export or the kit is complete, but a destination could not be written. */
  notWritten: 9,
  /** Nothing was changed, because Flux or Argo CD manages the object; the change is printed for git. */
  managed: 10,
  /** There are as many new gaps as `--fail-on-new` names. */
  newGaps: 11,
  /** No export API answers at its address: a typing error, or a certificate that is not accepted. */
  address: 12,
  /** A bug of this program. */
  bug: 70,
  /** `--timeout` has passed. */
  deadline: 124,
  /** SIGINT (128 + 2). */
  interrupted: 130,
  /** SIGTERM (128 + 15). */
  terminated: 143,
} as const;

export type Outcome = keyof typeof exitCodes;
