/**
 * The type of a field of a row, from its value in the first row.
 * Owns which types there are, how findings call them, and what is said of a field that the first row lacks.
 */
import { didYouMean } from '../check/nearest-name.ts';
import type { FieldType, FieldTypes, FieldValue } from '../plan/plan-scope.ts';
import { quote } from '../read/quote.ts';

export const FIELD_WORDS: Readonly<Record<FieldType, string>> = {
  string: 'text',
  int: 'a number',
  double: 'a number',
  bool: 'true or false',
  dyn: 'a list, a map or null',
};

export function fieldTypeOf(value: FieldValue): FieldType {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
    default:
      return 'dyn';
  }
}

/** Nothing could use it, so that it would be lost in silence. */
export function furtherField(
  name: string,
  columns: FieldTypes,
): { readonly message: string; readonly remedy: string } {
  return {
    message: `the first row has no field ${quote(name)}`,
    remedy: didYouMean(name, Object.keys(columns), 'every row has the same fields'),
  };
}
