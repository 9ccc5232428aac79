// What a group of extended tests needs of its machine. There is nothing to skip: a group that cannot run here fails.

/** @throws Error where something is missing, which ends the test file as failed */
export function requireHere(missing: string | false): void {
  if (missing !== false) throw new Error(`${missing}; see test/extended/install-packages.sh`);
}
