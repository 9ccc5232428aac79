// What every client of the S3 library would otherwise read from the environment and from files of a home folder. Refuses
// its console: with a logger other than its own default, it prints no warnings.

const silence = (): void => {};

export const silentLibraryLogger = {
  trace: silence,
  debug: silence,
  info: silence,
  warn: silence,
  error: silence,
};

export const librarySettings = {
  // The retries of this project re-open the source of a body and wait by its own clock.
  maxAttempts: 1,
  retryMode: 'standard',
  defaultsMode: 'standard' as const,
  useDualstackEndpoint: false,
  useFipsEndpoint: false,
  // A machine whose clock is wrong signs by the service's clock.
  disableClockSkewCorrection: false,
  authSchemePreference: ['sigv4'],
  sigv4aSigningRegionSet: [],
  userAgentAppId: async (): Promise<string | undefined> => undefined,
  // The library's own reads files to find a version of TypeScript.
  defaultUserAgentProvider: async (): Promise<[string, string][]> => [['static-export-operator', 's3']],
  logger: silentLibraryLogger,
};
