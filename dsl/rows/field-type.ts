/**
 * The type of a field of a row, from its value in the first row.
 * Owns which types there are and how findings call them.
 */
import type { FieldType, FieldValue } from '../plan-scope.ts';

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
