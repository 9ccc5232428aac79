// The file of certificate authorities that a program trusts beside the system's.
// Refuses a file that holds none: the mistake is seen at the start, and not as a failed handshake days later.

import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { PublishableError, publishableCode } from '../wire/publishable-error.ts';

/**
 * Reads what `--extra-ca-file` names; `undefined` where nothing was given.
 *
 * @returns the file's text: certificates in PEM
 * @throws {PublishableError} `ExtraCaUnreadable`, or `ExtraCaInvalid` where it is not certificates in PEM
 */
export async function readAuthorities(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const pem = await readFile(file, 'utf8').catch((cause: unknown) => {
    const words = `--extra-ca-file cannot be read (${publishableCode(cause)}); check the path and its rights`;
    throw new PublishableError('ExtraCaUnreadable', words, { cause });
  });
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [];
  if (certificates.length === 0) throw invalid('it holds no certificate in PEM');
  for (const [at, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate);
    } catch (cause) {
      throw invalid(`certificate ${at + 1} in it is damaged`, cause);
    }
  }
  return pem;
}

function invalid(why: string, cause?: unknown): PublishableError {
  const words = `--extra-ca-file cannot be used: ${why}; give the authorities' own certificates`;
  return new PublishableError('ExtraCaInvalid', words, { cause });
}
