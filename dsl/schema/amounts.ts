/**
 * Values that every part of a job writes: durations, amounts of USD, whole numbers, words of a list, lines of text.
 * Owns that they are taken as written: an amount is never a float, a duration never loses a digit.
 */
import { z } from 'zod';

import { amountAsWritten, asWritten, listOfOne, SHORTHANDS } from './shorthand.ts';
import * as rules from './text-rule.ts';

export const duration = (description: string) =>
  rules.text(rules.DURATION, description).register(SHORTHANDS, asWritten);
export const amount = (description: string) =>
  rules.text(rules.AMOUNT, description).register(SHORTHANDS, amountAsWritten({ minimum: 0 }));
export const positiveAmount = (description: string) =>
  rules
    .text(rules.POSITIVE_AMOUNT, description)
    .register(SHORTHANDS, amountAsWritten({ exclusiveMinimum: 0 }));
export const whole = (min: number, max: number, description: string) =>
  z.number().int().min(min).max(max).meta({ description });
export const oneOf = <const Words extends readonly string[]>(words: Words, description: string) =>
  z.enum(words).meta({ description });
export const line = (charsMax: number, description: string) =>
  z.string().min(1).max(charsMax).meta({ description });
export const flag = (description: string) => z.boolean().meta({ description });
export const listOf = <Item extends z.ZodType>(item: Item, max: number, description: string) =>
  z.array(item).max(max).meta({ description });
/** One word may stand for a list of one. */
export const oneOrMore = <Item extends z.ZodType>(item: Item, max: number, description: string) =>
  z.array(item).min(1).max(max).meta({ description }).register(SHORTHANDS, listOfOne);
export const token = z
  .strictObject({ secret: rules.text(rules.SECRET_NAME, 'Name of a secret of this job.') })
  .meta({ description: 'Credential for the host.' });
