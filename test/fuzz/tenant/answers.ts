// Which answers a hostile vendor has to a call of the export API, by name. Pure: the same dice give the same bytes.

import type { Dice } from '../mutation.ts';
import {
  type AnswerContext,
  type AnswerMaker,
  type HostileAnswer,
  honest,
  type Stage,
  value,
} from './answer.ts';
import { anyCall } from './any-call.ts';
import { pick } from './choice.ts';
import { ownCalls } from './own-call.ts';

const kindsOf = (stage: Stage): Readonly<Record<string, AnswerMaker>> => ({ ...ownCalls[stage], ...anyCall });

/** Names of all answers to this call. */
export const listAnswerKinds = (stage: Stage): readonly string[] => Object.keys(kindsOf(stage));

/** @param kind of {@link listAnswerKinds}; any of them where absent */
export function makeAnswer(
  stage: Stage,
  dice: Dice,
  context: AnswerContext,
  kind = pick(dice, listAnswerKinds(stage)),
): HostileAnswer {
  const make = kindsOf(stage)[kind];
  if (make === undefined) throw new Error(`no answer is called ${kind}`);
  return make(dice, context);
}

/** What keeps a job going, so that the next call is made at all. */
export const makeHonestAnswer = (stage: Stage, context: AnswerContext): HostileAnswer =>
  value(honest(stage, context), stage === 'start' ? 202 : 200);
