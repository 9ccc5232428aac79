// In a bundle this replaces `node:http2` (see .ci/bundle.ts), which no program uses: every connection of undici is
// made with `allowH2: false`. undici itself falls back to the same value where Node was built without HTTP/2.

module.exports = { constants: {} };
