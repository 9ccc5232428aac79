// In a bundle this takes the place of `import … from 'node:http'` (see the build script). An ES import of that module
// reads every name that it exports, and some of them make Node load its own `fetch`: 14 MB for nothing.

module.exports = process.getBuiltinModule('node:http');
