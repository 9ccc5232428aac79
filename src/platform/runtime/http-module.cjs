// In a bundle this replaces `import … from 'node:http'` (see .ci/bundle.ts). An ES import of that module reads every
// name that it exports, and some of them make Node load its own `fetch`: 14 MB of unused memory.

module.exports = process.getBuiltinModule('node:http');
