// The image as anybody builds it from the sources: the Dockerfile's own `npm ci` and bundling on local bases. What it
// holds beside its base is text, the same for every architecture, and the same as `npm run build` makes.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { z } from 'zod';
import { mustRun } from '../support/command.ts';
import { buildFromSources } from '../support/image/test-images.ts';

const manifestShape = z.tuple([z.object({ Config: z.string(), Layers: z.array(z.string()) })]);
const configShape = z.object({
  config: z.object({
    User: z.string(),
    Entrypoint: z.array(z.string()),
    Env: z.array(z.string()),
    Labels: z.record(z.string(), z.string()),
  }),
});

suite('the image, built from the sources', () => {
  let built: Awaited<ReturnType<typeof buildFromSources>>;
  let folder = '';

  before(async () => {
    built = await buildFromSources();
    folder = join(dirname(built.archive), 'unpacked');
    await mkdir(folder);
    await mustRun(['tar', '-xf', built.archive, '-C', folder]);
  });
  after(() => built?.remove());

  /** Unpacks what the layers after the base's hold below `app`. */
  const unpackApp = async (): Promise<string> => {
    const [{ Layers }] = manifestShape.parse(
      JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')),
    );
    const root = join(folder, 'root');
    await mkdir(root);
    const [, ...own] = Layers;
    for (const layer of own) await mustRun(['tar', '-xf', join(folder, layer), '-C', root]);
    assert.deepEqual(await readdir(root), ['app'], 'nothing is put anywhere else');
    return join(root, 'app');
  };

  test('its programs are those of the checkout, byte for byte, and nothing in it is machine code', async (t) => {
    const app = await unpackApp();
    const names = (await readdir(app)).sort();
    const programs = (await readdir(built.programs)).sort();
    assert.ok(programs.includes('operator.mjs') && programs.includes('bundle-server.mjs'));
    assert.deepEqual(names, [...programs, 'LICENSE', 'compiled'].sort());
    for (const name of programs) {
      assert.equal(await hashOf(join(app, name)), await hashOf(join(built.programs, name)), name);
    }
    const files = await readdir(app, { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      const start = (await readFile(join(file.parentPath, file.name))).subarray(0, 4).toString('latin1');
      assert.ok(start !== '\u007fELF' && !file.name.endsWith('.node'), file.name);
    }
    t.diagnostic(
      `${programs.length} programs; compiled code, which another architecture leaves aside, beside them`,
    );
  });

  test('it says what it is, runs as nobody, and needs no shell', async () => {
    const [{ Config }] = manifestShape.parse(
      JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')),
    );
    const { config } = configShape.parse(JSON.parse(await readFile(join(folder, Config), 'utf8')));
    assert.equal(config.User, '65532:65532');
    assert.deepEqual(config.Entrypoint, ['/nodejs/bin/node', '/app/entrypoint.mjs']);
    assert.equal(config.Labels['org.opencontainers.image.version'], '1.2.3');
    assert.equal(config.Labels['org.opencontainers.image.revision'], 'abc');
    assert.ok(
      config.Env.every((variable) => !/EXTRA_CA|TOKEN|KEY/.test(variable)),
      'nothing of the builder’s',
    );
  });
});

async function hashOf(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}
