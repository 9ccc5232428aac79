// What every test of `run` needs: a scripted vendor, a manifest, a folder, and the command.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { runInProcess } from '../../../support/cli-in-process.ts';
import type { CommandResult } from '../../../support/command.ts';
import { programFile } from '../../../support/program-file.ts';
import { tarOf } from '../../../support/tar-builder.ts';
import { pages } from './export-workplace.ts';
import { key, type ScriptedVendor, startVendor } from './scripted-vendor.ts';

const program = programFile('static-export');

export interface RunWorkplace<Vendor = ScriptedVendor> {
  readonly folder: string;
  readonly to: string;
  readonly vendor: Vendor;
  /** Of a process of its own: the program, and what follows it. */
  readonly args: (...more: readonly string[]) => readonly string[];
  /** `run --once` in the process of the test. */
  readonly run: (...more: readonly string[]) => Promise<CommandResult>;
  /** With a clock that was set forward, or back. */
  readonly runAt: (clockMs: number, ...more: readonly string[]) => Promise<CommandResult>;
  /** Without this flag and its value, and without `--once`. */
  readonly runWithout: (flag: string, ...more: readonly string[]) => Promise<CommandResult>;
}

/** @param spec further lines of it. @param api further fields of spec.api */
export const runWorkplace = (t: TestContext, spec = '', api = ''): Promise<RunWorkplace> =>
  workplaceWith(
    t,
    startVendor,
    key,
    `domain: docs.example.com\n  api: { ${api}keySecretRef: { name: export-api } }\n${spec}`,
  );

/** @param start a vendor that publishes this archive. @param spec indented by two spaces after its first line */
export async function workplaceWith<Vendor extends { readonly url: string; close(): Promise<void> }>(
  t: TestContext,
  start: (archive: Buffer) => Promise<Vendor>,
  apiKey: string,
  spec: string,
): Promise<RunWorkplace<Vendor>> {
  const vendor = await start(gzipSync(tarOf(pages)));
  t.after(() => vendor.close());
  const folder = mkdtempSync(join(tmpdir(), 'cli-run-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [to, manifest, keyFile] = [join(folder, 'site'), join(folder, 'docs.yaml'), join(folder, 'key')];
  writeFileSync(keyFile, `${apiKey}\n`);
  writeFileSync(
    manifest,
    `apiVersion: staticexport.dev/v1alpha1
kind: StaticExport
metadata: { name: docs }
spec:
  ${spec}`,
  );
  const words = (...more: readonly string[]): readonly string[] => [
    ...['run', '-f', manifest, '--state', join(folder, 'state'), '--publish', `dir=${to}`],
    ...['--secret', `export-api=${keyFile}`, '--api-base-url', vendor.url],
    ...['--allow-private-links', '-o', 'json'],
    ...more,
  ];
  const runWords = async (given: readonly string[], clockMs = 0): Promise<CommandResult> => {
    const result = await runInProcess(given, { clockMs });
    assert.doesNotMatch(result.stderr, /^\{/m, 'a line for a log store is shown to a person');
    return result;
  };
  return {
    ...{ folder, to, vendor },
    args: (...more) => [program, ...words(...more)],
    run: (...more) => runWords(words('--once', ...more)),
    runAt: (clockMs, ...more) => runWords(words('--once', ...more), clockMs),
    runWithout: (flag, ...more) => runWords(withoutFlag(words(...more), flag)),
  };
}

/** Without the flag, and without its value where the next word is one. */
function withoutFlag(words: readonly string[], flag: string): readonly string[] {
  const at = words.indexOf(flag);
  const isAlone = words[at + 1]?.startsWith('-') ?? true;
  return words.toSpliced(at, isAlone ? 1 : 2);
}
