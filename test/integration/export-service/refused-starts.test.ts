// Reasons to refuse a start: each has a stable code and a message, and leaves no port and no lock.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ExportServiceOptions } from '#export-service/service.ts';
import { openJobDatabase } from '#export-service/store/database.ts';
import { createJobStore } from '#export-service/store/jobs.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { domain, startService } from './running-service.ts';

const folder = temporaryFolder();

function file(name: string, content: string): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

test('a refused start has a code and a message, and releases the data folder', async () => {
  const taken = await startService();
  const port = Number(new URL(taken.url).port);
  const directory = join(folder, 'data');
  const rows: readonly (readonly [Partial<ExportServiceOptions>, string, RegExp])[] = [
    [{ originMappings: ['nonsense'] }, 'OriginInvalid', /DOMAIN=URL/],
    [{ projectMappings: ['jobs=docs.example.com'] }, 'ProjectInvalid', /cannot have the id jobs/],
    [{ keysFile: join(folder, 'absent') }, 'ENOENT', /cannot read the keys file/],
    [{ keysFile: file('empty', '# none\n') }, 'KeysFileInvalid', /holds no key/],
    [{ conversations: join(folder, 'absent') }, 'ENOENT', /cannot read the conversations file/],
    [{ conversations: file('bad', '{}\n') }, 'ConversationsInvalid', /line 1 of the conversations file/],
    [{ listen: { host: '127.0.0.1', port } }, 'EADDRINUSE', /cannot listen/],
    [{ adminListen: { host: '127.0.0.1', port } }, 'EADDRINUSE', /cannot listen/],
    [{ directory: join(taken.folder, 'data') }, 'StoreBusy', /another export-service/],
    [{ directory: file('no-folder', '') }, 'StoreUnusable', /data folder cannot be used/],
  ];
  for (const [options, code, words] of rows) {
    await assert.rejects(
      () => startService({ directory, ...options }),
      (error) => error instanceof PublishableError && error.code === code && words.test(error.message),
      code,
    );
  }
  const own = await startService({ directory });
  await own.close();
  await taken.close();
});

test('a start whose port is in use puts its running job back into the queue, uncounted', async () => {
  const taken = await startService();
  const directory = join(folder, 'interrupted');
  const withStore = async <T>(use: (store: ReturnType<typeof createJobStore>) => T): Promise<T> => {
    const database = await openJobDatabase(directory);
    try {
      return use(createJobStore(database));
    } finally {
      database.close();
    }
  };
  await withStore((store) => store.start({ id: 'a', domain, now: 1, maxQueued: 1 }));
  const listen = { host: '127.0.0.1', port: Number(new URL(taken.url).port) };
  await assert.rejects(() => startService({ directory, listen }), { code: 'EADDRINUSE' });
  const job = await withStore((store) => store.find('a'));
  assert.deepEqual([job?.status, job?.attempts], ['queued', 0]);
  await taken.close();
});
