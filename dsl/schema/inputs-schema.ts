/**
 * The parameters of a job, and what a condition is.
 * Owns shapes and bounds; values of inputs are checked in ../inputs/.
 */
import { z } from 'zod';

import { asText, SHORTHANDS } from './shorthand.ts';
import * as rules from './text-rule.ts';

/** A form with more fields than this is a program. */
const ENUM_VALUES_MAX = 100;
export const INPUT_TEXT_MAX = 2_000;
/** An expression is read by people. */
export const CONDITION_MAX = 2_000;

const description = z.string().max(500).meta({ description: 'What the input is for.' }).optional();
const DEFAULT = { description: 'The value when none is given.' };
const type = <Word extends string>(word: Word) =>
  z.literal(word).meta({ description: 'What kind of value it is.' });
const text = z.string().max(INPUT_TEXT_MAX).meta(DEFAULT).register(SHORTHANDS, asText);
const word = z.string().min(1).max(200).register(SHORTHANDS, asText);
const chosenWord = z.string().min(1).max(200).meta(DEFAULT).register(SHORTHANDS, asText);

const input = z
  .discriminatedUnion('type', [
    z.strictObject({ type: type('string'), default: text.optional(), description }),
    z.strictObject({
      type: type('int'),
      default: z.number().int().meta(DEFAULT).optional(),
      min: z.number().int().meta({ description: 'Smallest value.' }).optional(),
      max: z.number().int().meta({ description: 'Largest value.' }).optional(),
      description,
    }),
    z.strictObject({
      type: type('number'),
      default: z.number().meta(DEFAULT).optional(),
      min: z.number().meta({ description: 'Smallest value.' }).optional(),
      max: z.number().meta({ description: 'Largest value.' }).optional(),
      description,
    }),
    z.strictObject({ type: type('boolean'), default: z.boolean().meta(DEFAULT).optional(), description }),
    z.strictObject({
      type: type('enum'),
      values: z.array(word).min(1).max(ENUM_VALUES_MAX).meta({ description: 'The words it can be.' }),
      default: chosenWord.optional(),
      description,
    }),
  ])
  .meta({ description: 'A typed parameter; without a default it must be given.' });

export const inputsSchema = z
  .record(rules.text(rules.INPUT_NAME), input)
  .meta({ description: 'Parameters of the job, given with --input NAME=VALUE; never secrets.' });

export const conditionSchema = (description: string) =>
  z.string().min(1).max(CONDITION_MAX).meta({ description });

export type InputDocument = z.infer<typeof input>;
