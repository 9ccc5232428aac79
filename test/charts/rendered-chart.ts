// A chart as helm renders it, parsed; nothing here reaches a cluster.

import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { findClusterTools } from '../support/cluster-tools.ts';
import { type CommandResult, runCommand } from '../support/command.ts';

export const chartsFolder = join(import.meta.dirname, '../../charts');
export const fixturesFolder = join(import.meta.dirname, '../fixtures/charts');

export interface RenderOptions {
  readonly release?: string;
  readonly namespace?: string;
  /** Paths of values files, the last one wins. */
  readonly files?: readonly string[];
  /** Values on top of the files. */
  readonly values?: object;
  /** As `group/version` or `group/version/Kind`: what the cluster is said to have. */
  readonly apiVersions?: readonly string[];
  /** Of the cluster, such as `1.30.0`. */
  readonly kubeVersion?: string;
}

/** Fields of an object by their path: `spec.template.spec.containers.0.args`. */
export class RenderedObject {
  readonly #json: unknown;

  constructor(json: unknown) {
    this.#json = json;
  }

  at(path: string): unknown {
    return path
      .split('.')
      .reduce<unknown>(
        (value, key) =>
          typeof value === 'object' && value !== null
            ? Reflect.get(value, key.replaceAll('~', '.'))
            : undefined,
        this.#json,
      );
  }

  textsAt(path: string): readonly string[] {
    const value = this.at(path);
    return Array.isArray(value) ? value.map(String) : [];
  }

  get id(): string {
    return `${this.at('kind')}/${this.at('metadata.name')}`;
  }

  get json(): unknown {
    return this.#json;
  }
}

const renders = new Map<string, Promise<readonly RenderedObject[]>>();
const notes = new Map<string, Promise<string>>();

/** A chart of the repository and its fixtures do not change while tests run; a copy that a test makes may. */
function onceFor<T>(
  known: Map<string, Promise<T>>,
  chart: string,
  options: RenderOptions,
  make: () => Promise<T>,
): Promise<T> {
  const isFixed = dirname(chart) === chartsFolder && (options.files ?? []).every(isFixture);
  if (!isFixed) return make();
  const key = JSON.stringify([chart, options]);
  const made = known.get(key) ?? make();
  known.set(key, made);
  return made;
}

const isFixture = (file: string): boolean => !relative(fixturesFolder, file).startsWith('..');

export async function runHelm(args: readonly string[], input = ''): Promise<CommandResult> {
  const { helm } = await findClusterTools();
  return runCommand([helm, ...args], { input });
}

function flagsOf({
  namespace = 'docs',
  files = [],
  apiVersions = [],
  kubeVersion,
}: RenderOptions): readonly string[] {
  return [
    `--namespace=${namespace}`,
    ...files.map((file) => `--values=${file}`),
    '--values=-',
    ...apiVersions.map((version) => `--api-versions=${version}`),
    ...(kubeVersion === undefined ? [] : [`--kube-version=${kubeVersion}`]),
  ];
}

/** `helm template`: the objects, hooks included, in the order rendered. @throws {Error} with helm's words */
export function renderChart(chart: string, options: RenderOptions = {}): Promise<readonly RenderedObject[]> {
  return onceFor(renders, chart, options, async () => {
    const result = await template(chart, options);
    if (result.code !== 0) throw new Error(result.stderr);
    return parseAllDocuments(result.stdout)
      .map((document) => document.toJSON())
      .filter((json) => json !== null)
      .map((json) => new RenderedObject(json));
  });
}

/** The words with which a chart refuses values. @throws {Error} when it does not */
export async function refusalOf(chart: string, options: RenderOptions = {}): Promise<string> {
  const result = await template(chart, options);
  if (result.code === 0) throw new Error('the chart rendered');
  return result.stderr;
}

/** What a user reads after the installation. */
export function notesOf(chart: string, options: RenderOptions = {}): Promise<string> {
  return onceFor(notes, chart, options, async () => {
    const flags = flagsOf({ ...options, apiVersions: [] });
    const { code, stdout, stderr } = await runHelm(
      ['install', options.release ?? 'docs', chart, '--dry-run=client', ...flags],
      JSON.stringify(options.values ?? {}),
    );
    if (code !== 0) throw new Error(stderr);
    return stdout.slice(stdout.indexOf('\nNOTES:\n') + 1);
  });
}

/** The names that `disabledAlerts` of a chart may hold, by its schema of values. */
export async function disabledNames(chart: string): Promise<readonly string[]> {
  const schema = new RenderedObject(JSON.parse(await readFile(join(chart, 'values.schema.json'), 'utf8')));
  const rules = 'properties.monitoring.properties.prometheusRule.properties';
  return schema.textsAt(`${rules}.disabledAlerts.items.enum`);
}

function template(chart: string, options: RenderOptions): Promise<CommandResult> {
  const args = ['template', options.release ?? 'docs', chart, ...flagsOf(options)];
  return runHelm(args, JSON.stringify(options.values ?? {}));
}
