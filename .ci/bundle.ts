// Bundles programs: one file for each, without what none of them calls. The build script names the programs. Owns what
// takes the place of a package, or of a part of one, in every bundle; each replacement says why in its own file.
//
//   node .ci/bundle.ts OUT META ENTRY …              one file for each entry, with a source map
//   node .ci/bundle.ts OUT META ENTRY … --chunks FOLDER    shared pieces and later ones go into FOLDER

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, type Plugin } from 'esbuild';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { chunks: { type: 'string' } },
});
const [outdir = '', metafile = '', ...entryPoints] = positionals;

const alias = {
  'css-tree': './node_modules/css-tree/dist/csstree.esm.js',
  http: './src/platform/runtime/http-module.cjs',
  'node:http': './src/platform/runtime/http-module.cjs',
  'node:http2': './src/platform/runtime/no-http2.cjs',
  undici: './src/platform/runtime/undici-parts.cjs',
  // Its build of modules: a program loads the half of yaml that it calls.
  yaml: './node_modules/yaml/browser/index.js',
  socks: './src/operator/kube/transport/no-socks.cjs',
  'socks-proxy-agent': './src/operator/kube/transport/no-socks.cjs',
  '@aws-sdk/credential-provider-http': './node_modules/@aws-sdk/credential-provider-http/dist-es/index.js',
  '@aws-sdk/credential-provider-web-identity':
    './node_modules/@aws-sdk/credential-provider-web-identity/dist-es/index.js',
  '@aws-sdk/xml-builder': './node_modules/@aws-sdk/xml-builder/dist-es/index.js',
  '@smithy/signature-v4': './node_modules/@smithy/signature-v4/dist-es/index.js',
};

/**
 * Loading a module of client-node does nothing, but the package does not say so. The bundler would keep the classes of
 * every Kubernetes object: 0.6 MB of text, and as much again when they are made at each start.
 */
const clientNodeWithoutEffects: Plugin = {
  name: 'client-node-without-effects',
  setup: ({ onResolve, resolve }) => {
    onResolve({ filter: /^(\.{1,2}\/|@kubernetes\/client-node$)/ }, async (asked) => {
      const { path, kind, importer, resolveDir, pluginData } = asked;
      const isOwn = path.startsWith('@') || importer.includes('/@kubernetes/client-node/');
      if (!isOwn || pluginData === 'asked') return undefined;
      const found = await resolve(path, { kind, importer, resolveDir, pluginData: 'asked' });
      return { ...found, sideEffects: false };
    });
  },
};

/**
 * Loading yaml does nothing, but the package does not say so. A program that imports one function of a module which edits
 * documents would load all of yaml.
 */
const yamlWithoutEffects: Plugin = {
  name: 'yaml-without-effects',
  setup: ({ onResolve, resolve }) => {
    onResolve({ filter: /^yaml$/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (pluginData === 'asked') return undefined;
      const found = await resolve(path, { kind, importer, resolveDir, pluginData: 'asked' });
      return { ...found, sideEffects: false };
    });
  },
};

/** undici's second HTTP parser, which only an environment variable of its own turns on: 0.15 MB. */
const withoutMilo: Plugin = {
  name: 'without-milo',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^\.\.\/milo\/(no-)?simd\.js$/ }, ({ path }) => ({ path, namespace: 'no-milo' }));
    onLoad({ filter: /.*/, namespace: 'no-milo' }, () => ({
      contents: "throw new Error('this program is built without the parser milo; unset UNDICI_USE_MILO');",
    }));
  },
};

const built = await build({
  entryPoints,
  outdir,
  bundle: true,
  alias,
  plugins: [clientNodeWithoutEffects, yamlWithoutEffects, withoutMilo],
  // The user installs playwright-core, because few open a site in a browser and it is 10 MB.
  external: ['playwright-core', 'bufferutil', 'utf-8-validate', 'supports-color'],
  platform: 'node',
  format: 'esm',
  target: 'node24',
  minify: true,
  metafile: true,
  legalComments: 'linked',
  outExtension: { '.js': '.mjs' },
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  logLevel: 'warning',
  ...(values.chunks === undefined
    ? { sourcemap: 'external' }
    : { splitting: true, chunkNames: `${values.chunks}/[name]-[hash]` }),
});
writeFileSync(join(outdir, metafile), JSON.stringify(built.metafile));
