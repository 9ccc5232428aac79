// CA certificates that a program trusts: those in a file, in addition to the system's. The file may be replaced while
// the program runs. Also defines which texts are valid.
// Refuses a file without certificates, so that the mistake appears at the start and not as a failed handshake days
// later.

import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';

/**
 * Reads what `--extra-ca-file` names; `undefined` where nothing was given.
 *
 * @returns the file's text: certificates in PEM
 * @throws {PublishableError} `ExtraCaUnreadable`, or `ExtraCaInvalid` where it is not certificates in PEM
 */
export async function readCaFile(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const pem = await readFile(file, 'utf8').catch((cause: unknown) => {
    const message = `--extra-ca-file cannot be read (${publishableCode(cause)}); check its path and permissions`;
    throw new PublishableError('ExtraCaUnreadable', message, { cause });
  });
  const fault = findFault(pem);
  if (fault === undefined) return pem;
  const message = `--extra-ca-file cannot be used: ${fault.why}; use the CA certificates themselves`;
  throw new PublishableError('ExtraCaInvalid', message, { cause: fault.cause });
}

/** What `--extra-ca-file` names, for as long as the program runs. */
export interface CaCertificates {
  /** As they are now; while the file cannot be used, as they were before. Never rejects. */
  current(): Promise<string | undefined>;
}

/**
 * @param report receives an unusable file's error, once until the file is usable again; it may be about to be replaced
 * @throws as {@link readCaFile}: at the start there are no earlier certificates to keep
 */
export async function openCaFile(
  file: string | undefined,
  report: (fault: unknown) => void,
): Promise<CaCertificates> {
  let pem = await readCaFile(file);
  let reported: string | undefined;
  return {
    current: async () => {
      try {
        pem = await readCaFile(file);
        reported = undefined;
      } catch (error) {
        const code = publishableCode(error);
        if (code !== reported) report(error);
        reported = code;
      }
      return pem;
    },
  };
}

/**
 * Whether a TLS handshake can use the text: OpenSSL accepts good certificates even if another one is damaged, and PEM
 * has two names for certificates (RFC 7468 §5).
 */
export function holdsCertificate(pem: string): boolean {
  const blocks = pem.match(/-----BEGIN (X509 )?CERTIFICATE-----.*?-----END \1?CERTIFICATE-----/gs) ?? [];
  return blocks.some((block) => {
    try {
      return new X509Certificate(block).raw.length > 0;
    } catch {
      return false;
    }
  });
}

/** Why this is not a text of PEM certificates, as words to put after a colon; `undefined` where it is one. */
export function findFault(pem: string): { readonly why: string; readonly cause?: unknown } | undefined {
  const text = pem.replace(/^\uFEFF/, '');
  const certificates = text.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [];
  if (certificates.length === 0) return { why: 'it holds no certificate in PEM' };
  // OpenSSL reads by lines (RFC 7468 §3), and silently skips a certificate that begins or ends within a line.
  if (/[^\n]-----BEGIN CERTIFICATE-----|-----END CERTIFICATE-----[^\S\n]*\S/.test(text)) {
    return { why: 'a certificate in it begins or ends in the middle of a line' };
  }
  // A file that is being written, or a copy that broke off, in a certificate or in the line that begins or ends one.
  const begun = text.match(/^-----BEGIN CERTIFICATE-----/gm) ?? [];
  if (begun.length > certificates.length || /(^|\n)-(?![^\n]*-----\s*$)[^\n]*$/.test(text)) {
    return { why: `certificate ${certificates.length + 1} in it is cut short` };
  }
  for (const [at, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate);
    } catch (cause) {
      return { why: `certificate ${at + 1} in it is damaged`, cause };
    }
  }
  return undefined;
}
