/**
 * Durations and amounts of USD, as every part of a job writes them.
 * Owns that they are taken as written: an amount is never a float, a duration never loses a digit.
 */
import { amountAsWritten, asWritten, SHORTHANDS } from './shorthand.ts';
import * as rules from './text-rule.ts';

export const duration = (description: string) =>
  rules.text(rules.DURATION, description).register(SHORTHANDS, asWritten);
export const amount = (description: string) =>
  rules.text(rules.AMOUNT, description).register(SHORTHANDS, amountAsWritten({ minimum: 0 }));
export const positiveAmount = (description: string) =>
  rules
    .text(rules.POSITIVE_AMOUNT, description)
    .register(SHORTHANDS, amountAsWritten({ exclusiveMinimum: 0 }));
