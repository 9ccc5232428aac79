// The certificates of a throw-away cluster: one CA, one server certificate, one client certificate a user, and
// the RSA key that signs service account tokens. Lives as long as the test; nothing here is for production.

import 'reflect-metadata';
import { generateKeyPairSync, webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

export interface CertifiedKey {
  readonly certificatePem: string;
  readonly keyPem: string;
}

export interface Authority {
  readonly certificatePem: string;
  issueServer(names: {
    readonly dns: readonly string[];
    readonly ips: readonly string[];
    /** Its time is over already. */
    readonly hasExpired?: boolean;
  }): Promise<CertifiedKey>;
  /** @param user becomes CN  @param groups become O */
  issueClient(user: string, groups: readonly string[]): Promise<CertifiedKey>;
}

type KeyPair = webcrypto.CryptoKeyPair;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const lifetimeMs = 24 * 60 * 60 * 1000;

export async function createAuthority(): Promise<Authority> {
  cryptoProvider.set(webcrypto);
  const keys = await createKeys();
  const ca = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    // Each of another name: OpenSSL takes the first of two authorities of the same.
    name: `CN=throw-away-ca-${serial()}`,
    ...validity(),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  return {
    certificatePem: ca.toString('pem'),
    issueServer: ({ dns, ips, hasExpired = false }) => {
      const names = new SubjectAlternativeNameExtension([
        ...dns.map((value) => ({ type: 'dns', value }) as const),
        ...ips.map((value) => ({ type: 'ip', value }) as const),
      ]);
      const usage = ExtendedKeyUsage.serverAuth;
      const times = validity(hasExpired ? -2 * lifetimeMs : 0);
      return issue(ca, keys.privateKey, 'CN=throw-away-server', usage, [names], times);
    },
    issueClient: (user, groups) => {
      const name = [...groups.map((group) => ({ O: [group] })), { CN: [user] }];
      return issue(ca, keys.privateKey, name, ExtendedKeyUsage.clientAuth, []);
    },
  };
}

/** The key pair of `--service-account-signing-key-file`, PEM. */
export function createServiceAccountKey(): string {
  return generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs1', format: 'pem' })
    .toString();
}

async function issue(
  ca: X509Certificate,
  signingKey: webcrypto.CryptoKey,
  subject: string | { [type: string]: string[] }[],
  usage: ExtendedKeyUsage,
  extensions: readonly SubjectAlternativeNameExtension[],
  times = validity(),
): Promise<CertifiedKey> {
  const keys = await createKeys();
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serial(),
    subject,
    issuer: ca.subject,
    ...times,
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [new ExtendedKeyUsageExtension([usage]), ...extensions],
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const keyPem = `-----BEGIN PRIVATE KEY-----\n${key.replace(/(.{64})/g, '$1\n').trimEnd()}\n-----END PRIVATE KEY-----\n`;
  return { certificatePem: certificate.toString('pem'), keyPem };
}

function createKeys(): Promise<KeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

function serial(): string {
  return Buffer.from(webcrypto.getRandomValues(new Uint8Array(8))).toString('hex');
}

function validity(shiftMs = 0): { notBefore: Date; notAfter: Date } {
  const now = Date.now() + shiftMs;
  return { notBefore: new Date(now - 60_000), notAfter: new Date(now + lifetimeMs) };
}
