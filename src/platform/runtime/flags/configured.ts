// Values of flags from elsewhere than the command line and the environment, such as a file of settings. Owns types only.
// Both win over these, and these over defaults.

export interface ConfiguredFlag {
  /** As on a command line. */
  readonly texts: readonly string[];
  /** File and field, for errors. */
  readonly source: string;
}

export interface Configured {
  /** By the flag's key. */
  readonly flags: ReadonlyMap<string, ConfiguredFlag>;
  /** Values without a flag, by their placeholder. */
  readonly arguments: ReadonlyMap<string, string>;
}

export const noneConfigured: Configured = { flags: new Map(), arguments: new Map() };
