// In a bundle this replaces `undici` (see .ci/bundle.ts): its connections and their requests, which is all that a
// program calls. The package's own index loads fetch, web sockets, caches and mocks too: two thirds of the time that it
// takes each thread to load. Invariant: what `src` imports from `undici` is here; a test says what is missing. Also sets how
// its WebAssembly is compiled, as v8/plain-wasm.ts explains: here, because a program that never loads undici starts sooner
// with V8's flags unchanged.

const Dispatcher = require('../../../node_modules/undici/lib/dispatcher/dispatcher.js');

Object.assign(Dispatcher.prototype, require('../../../node_modules/undici/lib/api/index.js'));

module.exports = {
  Dispatcher,
  Agent: require('../../../node_modules/undici/lib/dispatcher/agent.js'),
  EnvHttpProxyAgent: require('../../../node_modules/undici/lib/dispatcher/env-http-proxy-agent.js'),
  Pool: require('../../../node_modules/undici/lib/dispatcher/pool.js'),
  ProxyAgent: require('../../../node_modules/undici/lib/dispatcher/proxy-agent.js'),
  getGlobalDispatcher: require('../../../node_modules/undici/lib/global.js').getGlobalDispatcher,
};

// Last: what Node loads after a change of flags is compiled again. The parser is compiled with the first connection.
const { setFlagsFromString } = require('node:v8');

setFlagsFromString('--no-wasm-tier-up');
setFlagsFromString('--no-wasm-dynamic-tiering');
