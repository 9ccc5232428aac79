// In a bundle this replaces `undici` (see .ci/bundle.ts): its connections and their requests, which is all that a
// program calls. The package's own index loads fetch, web sockets, caches and mocks too: two thirds of the time that it
// takes each thread to load. Invariant: what `src` imports from `undici` is here; a test says what is missing.

const Dispatcher = require('../../node_modules/undici/lib/dispatcher/dispatcher.js');

Object.assign(Dispatcher.prototype, require('../../node_modules/undici/lib/api/index.js'));

module.exports = {
  Dispatcher,
  Agent: require('../../node_modules/undici/lib/dispatcher/agent.js'),
  EnvHttpProxyAgent: require('../../node_modules/undici/lib/dispatcher/env-http-proxy-agent.js'),
  Pool: require('../../node_modules/undici/lib/dispatcher/pool.js'),
  ProxyAgent: require('../../node_modules/undici/lib/dispatcher/proxy-agent.js'),
  getGlobalDispatcher: require('../../node_modules/undici/lib/global.js').getGlobalDispatcher,
};
