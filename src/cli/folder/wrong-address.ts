// Why a command ends because of the address of its export API, and the steps that help. Pure. Refuses: reading a message;
// codes and the system's code decide.

import { readAddressFault } from '#export-api/address-fault.ts';
import type { ExportApiError } from '#export-api/answers.ts';
import { CliError, failureOf } from '../cli-error.ts';

/** What a server of another kind, or none, answers where an export API is expected. */
const strangeCodes: ReadonlySet<string> = new Set(['NetworkError', 'UnexpectedAnswer', 'NotFound']);

/** The address leads to no export API, as far as the command knows. @param setting where the user wrote it */
export function wrongAddress(error: ExportApiError, setting: string): CliError {
  const { code, message } = failureOf(error);
  return new CliError('address', code, message, { cause: error, next: faultSteps(error, setting) });
}

/** What helps after a failed call. @param setting as for `wrongAddress` */
export function faultSteps(error: ExportApiError, setting: string): readonly string[] {
  return addressSteps(readAddressFault(error) === undefined ? error.code : 'UnexpectedAnswer', setting);
}

/** @param setting where the user wrote the address */
export function addressSteps(code: string, setting: string): readonly string[] {
  return strangeCodes.has(code) ? [`Check that ${setting} is the address of the export API.`] : [];
}
