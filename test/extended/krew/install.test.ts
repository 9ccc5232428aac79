// The archive that users install, installed by the real krew from its manifest as a plugin of the real kubectl. What the
// archive and the manifest hold is in test/integration/cli/package.test.ts.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { version } from '#platform/runtime/version.ts';
import { findClusterTools } from '../../support/cluster-tools.ts';
import { mustRun, runCommand } from '../../support/command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { findKrew } from './krew.ts';

test('krew installs the archive from its manifest, and kubectl runs it', async (t) => {
  const krew = await findKrew();
  const folder = temporaryFolder(t);
  const built = join(folder, 'built');
  // Node's own folder comes first, because the installed program starts "node".
  const pathOf = (...folders: readonly string[]): string =>
    [...folders, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const root = resolve(import.meta.dirname, '../../..');
  const building = { OUT: built, npm_config_cache: join(folder, 'npm'), npm_config_update_notifier: 'false' };
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  await mustRun(['npm', '--prefix', root, 'run', '--silent', 'build:package'], {
    env: { ...building, PATH },
  });
  const { kubectl } = await findClusterTools();
  const krewRoot = join(folder, 'krew');
  const env = { PATH, KREW_ROOT: krewRoot, HOME: folder };
  const [manifest, archive] = [
    join(built, 'static-export.yaml'),
    join(built, `static-export-cli-${version}.tgz`),
  ];
  await mustRun([krew, 'install', `--manifest=${manifest}`, `--archive=${archive}`], { env });
  const shown = await runCommand([kubectl, 'static-export', '--version'], {
    env: { PATH: pathOf(join(krewRoot, 'bin')) },
  });
  assert.deepEqual(shown, { code: 0, stdout: `static-export ${version}\n`, stderr: '' });
  const broken = join(folder, 'broken.yaml');
  writeFileSync(
    broken,
    readFileSync(manifest, 'utf8').replace(/sha256: \w{64}/, `sha256: ${'a'.repeat(64)}`),
  );
  const other = { ...env, KREW_ROOT: join(folder, 'other') };
  const refused = await runCommand([krew, 'install', `--manifest=${broken}`, `--archive=${archive}`], {
    env: other,
  });
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /checksum does not match/);
});
