// How a flag is called: on a command line, and as a variable of the environment. Owns the two spellings, so that the
// reader and the help text cannot differ.

/** `allowedApiHosts` → `allowed-api-hosts`. */
export function flagName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function variableName(program: string, key: string): string {
  return `${program}-${flagName(key)}`.toUpperCase().replaceAll('-', '_');
}
