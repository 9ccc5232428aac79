// The one check that nothing holds a key or a link: every secret that a test hands out is declared here, and every text
// that our programs write for everybody passes by (logs, output, admin pages, status, events, ConfigMaps). The test file
// fails at its end and names the secret and the place. Not a hook of the test runner: children are started outside of tests
// too, where a hook would start a runner.

import assert from 'node:assert/strict';

interface DeclaredSecret {
  readonly name: string;
  /** As such, and as it stands in base64 at any position, and in the path of a URL. */
  readonly forms: readonly string[];
}

/** Fewer characters may be a coincidence. */
const leastCharacters = 8;

export class SecretWatch {
  readonly #secrets = new Map<string, DeclaredSecret>();
  readonly #findings = new Set<string>();

  /** @returns the secret */
  declare(name: string, secret: string): string {
    assert.ok(secret.length >= leastCharacters, `${name} is too short to be searched for`);
    this.#secrets.set(secret, { name, forms: formsOf(secret) });
    return secret;
  }

  /** @param place what it is, for a person: `the log of bundle-server` */
  see(place: string, text: string): void {
    for (const { name, forms } of this.#secrets.values())
      if (forms.some((form) => text.includes(form))) this.#findings.add(`${place} holds ${name}`);
  }

  /** As text: the place, and the name of the secret. */
  findings(): readonly string[] {
    return [...this.#findings];
  }

  /** @throws AssertionError with what was found */
  conclude(): void {
    assert.deepEqual(this.findings(), []);
  }
}

function formsOf(secret: string): readonly string[] {
  const inBase64 = [0, 1, 2].flatMap((shift) => {
    const bytes = Buffer.from(' '.repeat(shift) + secret);
    // Both ends depend on what stands beside the secret.
    return (['base64', 'base64url'] as const).map((form) =>
      bytes.toString(form).slice(shift === 0 ? 0 : 4, -4),
    );
  });
  return [...new Set([secret, encodeURIComponent(secret), ...inBase64])];
}

const watch = new SecretWatch();
process.on('exit', () => watch.conclude());

/** Of this test file. See {@link SecretWatch}. */
export const declareSecret: SecretWatch['declare'] = (name, secret) => watch.declare(name, secret);
/** Of this test file. See {@link SecretWatch}. */
export const seeText: SecretWatch['see'] = (place, text) => watch.see(place, text);
