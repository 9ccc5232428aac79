// The files of the index and its engine, loaded as classic scripts: over HTTP, under a strict policy and from a disk alike. Each file
// calls `sxSearch` with its name and its content. Owns that one global name. Invariant: a file that failed is loaded again when it is
// asked for again, and the engine once.

import type { SearchEngine, SearchGlobal } from './search-engine.ts';

export interface ScriptFiles {
  /** @param address of the script @throws where it cannot be loaded, or hands over nothing */
  load(name: string, address: URL): Promise<string>;
  /** @throws where it cannot be loaded */
  loadEngine(address: URL): Promise<SearchEngine>;
}

/** @param host for the script elements; a shadow root, so that a framework never meets them */
export function createScriptFiles(host: ShadowRoot): ScriptFiles {
  const received = new Map<string, string>();
  const receive: SearchGlobal = (name, text) => {
    received.set(name, text);
  };
  window.sxSearch = receive;
  let engine: Promise<SearchEngine> | undefined;

  const run = ({ href }: URL): Promise<void> =>
    new Promise((resolve) => {
      const script = document.createElement('script');
      const end = (): void => {
        script.remove();
        resolve();
      };
      script.addEventListener('load', end);
      script.addEventListener('error', end);
      // Whatever the page is written in.
      script.charset = 'utf-8';
      script.src = href;
      host.append(script);
    });
  const runEngine = async (address: URL): Promise<SearchEngine> => {
    await run(address);
    if (receive.engine === undefined) throw new Error('no engine');
    return receive.engine;
  };

  return {
    load: async (name, address) => {
      await run(address);
      const text = received.get(name);
      received.delete(name);
      if (text === undefined) throw new Error(`no index file ${name}`);
      return text;
    },
    loadEngine: (address) => {
      engine ??= runEngine(address).catch((error: unknown) => {
        engine = undefined;
        throw error;
      });
      return engine;
    },
  };
}
