/**
 * One value of an input against its type.
 * Owns what fits; must not know where a value came from.
 */
import { numberLoss } from '../number-text.ts';
import { oneOf, quote } from '../read/quote.ts';
import type { FieldType } from '../plan/plan-scope.ts';
import { INPUT_TEXT_MAX, type InputDocument } from '../schema/inputs-schema.ts';

export type InputValue = string | number | boolean;
/** The value, or why it does not fit: completes `the input "x" …`. */
export type InputResult = { readonly value: InputValue } | { readonly problem: string };

/** A value that has a type already, from a default or a file of values. */
export function inputValue(input: InputDocument, value: unknown): InputResult {
  switch (input.type) {
    case 'string':
      return textValue(value);
    case 'boolean':
      return typeof value === 'boolean' ? { value } : { problem: 'is true or false' };
    case 'enum':
      return input.values.includes(String(value))
        ? { value: String(value) }
        : { problem: `is ${oneOf(input.values)}` };
    case 'int':
    case 'number':
      return numberValue(input, value);
  }
}

/** A value as it was typed: text that is read by the type of the input. */
export function typedValue(input: InputDocument, text: string): InputResult {
  switch (input.type) {
    case 'string':
    case 'enum':
      return inputValue(input, text);
    case 'boolean':
      return inputValue(input, text === 'true' ? true : text === 'false' ? false : text);
    case 'int':
    case 'number':
      if (!/^-?\d+(?:\.\d+)?$/.test(text)) return inputValue(input, text);
      if (numberLoss(text) === 'value') return { problem: 'has more digits than a number keeps' };
      return inputValue(input, Number(text));
  }
}

/** The type that expressions see. */
export function inputType({ type }: InputDocument): FieldType {
  switch (type) {
    case 'string':
    case 'enum':
      return 'string';
    case 'int':
      return 'int';
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
  }
}

function textValue(value: unknown): InputResult {
  if (typeof value !== 'string') return { problem: 'is text' };
  if (value.length > INPUT_TEXT_MAX) return { problem: `has at most ${INPUT_TEXT_MAX} characters` };
  return { value };
}

function numberValue(input: InputDocument & { type: 'int' | 'number' }, value: unknown): InputResult {
  const { type, min, max } = input;
  const fits =
    typeof value === 'number' && (type === 'int' ? Number.isSafeInteger(value) : Number.isFinite(value));
  if (!fits) return { problem: type === 'int' ? 'is a whole number' : 'is a number' };
  if (min !== undefined && value < min) return { problem: `is at least ${quote(String(min))}` };
  if (max !== undefined && value > max) return { problem: `is at most ${quote(String(max))}` };
  return { value };
}
