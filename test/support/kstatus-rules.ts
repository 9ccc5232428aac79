// What every reader of conditions relies on: kubectl wait, Flux, Argo CD and kstatus all judge a resource by them.
// Ten rules after those that Flux holds its own controllers to (fluxcd/pkg, runtime/conditions/check), in our
// words, and three of the API conventions. Pure. A stored status may be asked about at any moment: between an edit and
// its pass it is judged as of the generation that it is about.

interface Judged {
  readonly generation: number;
  readonly conditions: readonly JudgedCondition[];
}

/** As the API server has it. */
export interface StoredStatus {
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly JudgedCondition[] | undefined;
}

export interface JudgedCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly observedGeneration?: number | undefined;
}

/** Whether an edit may still wait for its pass. */
export type Moment = 'any' | 'after a pass';

/** True means trouble or work to do; no such condition goes with Ready. */
const negative = ['Reconciling', 'Stalled'];

type Rule = readonly [words: string, isBroken: (judged: Judged, facts: Facts) => boolean];

interface Facts {
  readonly ready: JudgedCondition | undefined;
  readonly reconciling: JudgedCondition | undefined;
  readonly stalled: JudgedCondition | undefined;
  readonly isReady: boolean;
  /** -1 before the first pass. */
  readonly observed: number;
}

const rules: readonly Rule[] = [
  [
    'a resource that is Ready has no condition of trouble or work that is True',
    ({ conditions }, { isReady }) =>
      isReady && conditions.some(({ type, status }) => negative.includes(type) && status === 'True'),
  ],
  ['Ready is always there', (_judged, { ready }) => ready === undefined],
  [
    'Ready is False while Reconciling',
    (_judged, { ready, reconciling }) =>
      ready !== undefined && reconciling?.status === 'True' && ready.status !== 'False',
  ],
  [
    'Ready is False while Stalled',
    (_judged, { ready, stalled }) =>
      ready !== undefined && stalled?.status === 'True' && ready.status !== 'False',
  ],
  [
    'Reconciling and Stalled are never there together',
    (_judged, { reconciling, stalled }) => reconciling !== undefined && stalled !== undefined,
  ],
  ['no generation is observed before it exists', ({ generation }, { observed }) => observed > generation],
  [
    'Ready is not True for a generation that nobody has observed',
    ({ generation }, { isReady, observed }) => isReady && observed < generation,
  ],
  [
    'while Ready, no condition is about an earlier generation',
    ({ generation, conditions }, { isReady }) =>
      isReady && conditions.some((condition) => (condition.observedGeneration ?? -1) < generation),
  ],
  [
    'while Ready, every condition is about the generation that the status is about',
    ({ conditions }, { isReady, observed }) =>
      isReady && conditions.some(({ observedGeneration }) => observedGeneration !== observed),
  ],
  [
    // Flux counts a generation as observed when it is reconciled, we as soon as it is read: hence "not before".
    'Reconciling is not about an earlier generation than the status',
    (_judged, { reconciling, observed }) =>
      reconciling?.status === 'True' && (reconciling.observedGeneration ?? -1) < observed,
  ],
  [
    'Reconciling and Stalled are there only while they are True',
    ({ conditions }) => conditions.some(({ type, status }) => negative.includes(type) && status !== 'True'),
  ],
  [
    'a condition is there once',
    ({ conditions }) => new Set(conditions.map(({ type }) => type)).size !== conditions.length,
  ],
  [
    'every condition has a reason in one CamelCase word',
    ({ conditions }) => conditions.some(({ reason }) => !/^[A-Z][A-Za-z0-9]*$/.test(reason)),
  ],
];

/** Every rule, in its words. */
export const ruleWords: readonly string[] = rules.map(([words]) => words);

/** Words of the rules that are broken; none when all is well, or nobody has looked at the resource yet. */
export function brokenRules(generation: number, status: StoredStatus, moment: Moment): readonly string[] {
  const { conditions = [], observedGeneration: observed = -1 } = status;
  if (conditions.length === 0 && observed < 0) return [];
  const judged = { generation: moment === 'any' ? Math.min(generation, observed) : generation, conditions };
  const of = (type: string) => conditions.find((condition) => condition.type === type);
  const ready = of('Ready');
  const facts: Facts = {
    ready,
    reconciling: of('Reconciling'),
    stalled: of('Stalled'),
    isReady: ready?.status === 'True',
    observed,
  };
  return rules.filter(([, isBroken]) => isBroken(judged, facts)).map(([words]) => words);
}
