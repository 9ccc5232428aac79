// In a bundle this replaces the packages `socks` and `socks-proxy-agent` (see .ci/bundle.ts), which client-node loads for
// kubeconfigs with a SOCKS proxy. connection.ts refuses these before anything connects.

class NoSocks {
  constructor() {
    throw new Error('SOCKS proxies are not supported');
  }

  static createConnection() {
    throw new Error('SOCKS proxies are not supported');
  }
}

module.exports = { SocksClient: NoSocks, SocksProxyAgent: NoSocks };
