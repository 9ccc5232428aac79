// Replaces the platform's `TextDecoder`: the bytes of the fake cluster's Secrets never change in place, so each is
// decoded once. Options and streams go to the real one.

import { byIdentity } from './memory.ts';

const Anew = globalThis.TextDecoder;
const plain = new Anew();
const texts = byIdentity((bytes: Uint8Array) => plain.decode(bytes));

/** A strict decoder has its own cache. */
class RememberingDecoder extends Anew {
  readonly #isPlain: boolean;

  constructor(...options: ConstructorParameters<typeof Anew>) {
    super(...options);
    this.#isPlain = options.length === 0;
  }

  override decode(...given: Parameters<InstanceType<typeof Anew>['decode']>): string {
    const [bytes] = given;
    const isKnown = this.#isPlain && given.length === 1 && bytes instanceof Uint8Array;
    return isKnown ? texts(bytes) : super.decode(...given);
  }
}

globalThis.TextDecoder = RememberingDecoder;
