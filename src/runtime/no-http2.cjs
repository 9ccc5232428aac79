// In a bundle this takes the place of `node:http2` (see the build script), which no program speaks: every connection
// of undici is made with `allowH2: false`. What undici itself falls back to where Node was built without it.

module.exports = { constants: {} };
